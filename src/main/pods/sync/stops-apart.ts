// Stops of one pod's containers that need not wait for each other. The shim of a pod in containerd 1.6 loses exits when
// it has to report many at a time, and then no stop of the pod ends (docs/measurements/under-attack.md).
// Invariant: within the grace period, a stop that does not end keeps the others waiting for a short time only, so that
// all get their signal. After it, they wait for longer: then a signal too many at a time only makes the shim fail.

import type { Clock } from "../../../shared/base/clock/clock.js";

/**
 * A shim queues 32 exits: each stop adds that of its container, and that of the program that sends the signal.
 * @internal
 */
export const STOPS_AT_ONCE = 16;
/** After this time the next stop begins, too: its container should not wait for one that is slow to exit. */
const PLACE_MS = 1000;
const LATE_PLACE_MS = 10_000;
/** Time for so many stops beside each other, on a busy machine. */
const ROUND_MS = 5000;

/** What so many stops may take beyond a single one. */
export function extraMsOf(stops: number): number {
  return Math.floor(Math.max(stops - 1, 0) / STOPS_AT_ONCE) * ROUND_MS;
}

/**
 * Starts all stops in order and rejects with the first failure when all have ended. Begins none after an abort.
 * @param isLate the grace period is over
 */
export async function stopApart<Step>(
  steps: readonly Step[],
  clock: Pick<Clock, "after">,
  { signal, isLate }: { signal: AbortSignal; isLate: boolean },
  stop: (step: Step) => Promise<void>,
): Promise<void> {
  const stops: Promise<PromiseSettledResult<void>>[] = [];
  let free = STOPS_AT_ONCE;
  let onFree = (): void => undefined;
  const release = (): void => {
    free++;
    onFree();
  };
  for (const step of steps) {
    while (free === 0) await new Promise<void>((resolve) => (onFree = resolve));
    if (signal.aborted) break;
    free--;
    stops.push(settled(inPlace(() => stop(step), clock, isLate ? LATE_PLACE_MS : PLACE_MS, release)));
  }
  const outcomes = await Promise.all(stops);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  signal.throwIfAborted();
}

/** A stop may fail long before the last one begins. */
async function settled(stop: Promise<void>): Promise<PromiseSettledResult<void>> {
  const [outcome] = await Promise.allSettled([stop]);
  return outcome;
}

async function inPlace(
  stop: () => Promise<void>,
  clock: Pick<Clock, "after">,
  placeMs: number,
  release: () => void,
): Promise<void> {
  let isHeld = true;
  const leave = (): void => {
    if (isHeld) release();
    isHeld = false;
  };
  const timer = clock.after(placeMs, leave);
  try {
    await stop();
  } finally {
    timer.cancel();
    leave();
  }
}
