// Entry of the tasks pool's threads: piscina calls these functions by name (shared/contracts/tasks.ts).

import { useOrdinaryPriority } from "../../shared/thread/priority.js";

export * from "./functions.js";

/** For a thread that is to be loaded before its first job. */
export function awake(): void {
  // To have run is all.
}

useOrdinaryPriority();
