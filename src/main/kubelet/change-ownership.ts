// Changes the group of a volume's files in the tasks pool. A walk over a large volume must not run on main.

import type { TasksPool } from "../threads/tasks-pool.js";
import type { OwnershipDeps } from "../volumes/fs-group/set-ownership.js";

/** Half a second of work at most; a file system that hangs must not keep a pool thread. */
const OWNERSHIP_JOB_MS = 30_000;

export function changeOwnershipIn(tasks: TasksPool): OwnershipDeps["changeOwnership"] {
  return (job, turnOf, signal) => tasks.run("changeOwnership", job, { deadlineMs: OWNERSHIP_JOB_MS, turnOf, signal });
}
