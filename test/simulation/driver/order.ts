// What the command tells a run, and what the run answers: JSON in its first argument and in its last line.

import type { Aim, FaultKind } from "../plan/events.js";
import type { ReachedValues } from "../world/reached.js";

export interface RunOrder {
  seed: number;
  hours: number;
  /** Most pods at a time. */
  pods: number;
  faults: readonly FaultKind[];
  /** Faults that are wanted during calls. */
  aims?: readonly Aim[] | undefined;
  /** Numbers of the events that happen; absent: all. */
  only?: readonly number[] | undefined;
  /** Name of a race of test/simulation/races: it has a plan of its own. */
  race?: string | undefined;
  /** Prints the trace. */
  prints?: boolean | undefined;
  /** Tells which code it has reached. */
  code?: boolean | undefined;
}

export interface Violation {
  /** Name of the invariant. */
  invariant: string;
  what: string;
  pod?: string | undefined;
  /** Simulated time, ms. */
  atMs: number;
  step: number;
}

export interface RunResult {
  seed: number;
  /** SHA-256 of the trace. */
  hash: string;
  steps: number;
  simulatedMs: number;
  /** Processor time of the run, ms. */
  cpuMs: number;
  violation?: Violation | undefined;
  reached: ReachedValues;
  /** As linesReached gives them. */
  code?: number[] | undefined;
  /** Lines of the trace about the pod, and what happened to the node. */
  timeline: string[];
  /** Numbers of the events that happened or would have. */
  events: number[];
}
