// A promise of the kubelet that each run watches. `promisedBy` is the document that makes it.

import type { World } from "../world/world.js";

/** Reports that the promise is broken. `pod`: the name of the pod it is about. */
export type Broken = (what: string, pod?: string) => void;

export interface Invariant {
  readonly name: string;
  readonly promisedBy: string;
  /** Begins to watch. Returns the check for the end of each round, when faults are long over. */
  readonly watch: (world: World, broken: Broken) => (() => void) | undefined;
}
