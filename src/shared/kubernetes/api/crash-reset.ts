/** A container that has run for so long restarts without a back-off again. Upstream's constant. */
export const CRASH_RESET_MS = 600_000;
