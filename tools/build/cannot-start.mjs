/** A known reason to stop; the user sees its message unchanged. */
export class CannotStart extends Error {}
