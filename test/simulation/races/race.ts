// A race that users of kubelets have reported, as a plan of a few events. The seed chooses the order of all else.

import type { Invariant } from "../invariants/invariant.js";
import type { Action } from "../plan/events.js";
import type { NodeShape } from "../world/node-shape.js";

export interface Race {
  /** Its word for `--race`. */
  readonly name: string;
  /** What the agent does, as a sentence with a subject. */
  readonly promise: string;
  /** The public report. */
  readonly issue: string;
  /** Absent: a plain node. */
  readonly node?: NodeShape;
  readonly events: readonly (readonly [atMs: number, action: Action])[];
  /** As that of an invariant; all invariants watch, too. Reports as well that the race did not come about. */
  readonly watch: Invariant["watch"];
}

export const SECOND = 1000;
/** Faults of a race end with the calm, and what must have become of it is checked at the end. */
const CALM_MS = 5 * 60_000;
const CHECK_MS = 9 * 60_000;
export const RACE_HOURS = 10 / 60;

export function planOfRace({ events }: Race): { number: number; atMs: number; action: Action }[] {
  const all: Race["events"] = [...events, [CALM_MS, { do: "calm" }], [CHECK_MS, { do: "check" }]];
  return all.map(([atMs, action], index) => ({ number: index + 1, atMs, action }));
}
