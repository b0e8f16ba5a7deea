// The jobs of the tasks pool in the test's own thread. Jobs and results are copied, as between threads. No deadline
// ends a job.

import type { TasksPool } from "../../../src/main/threads/tasks-pool.js";
import type { TaskFunctions, TaskName } from "../../../src/shared/contracts/tasks.js";
import * as functions from "../../../src/workers/tasks/functions.js";

type Functions = { readonly [K in TaskName]: (job: TaskFunctions[K]["job"]) => unknown };

const FUNCTIONS: Functions = functions;

export function tasksInThisThread(): TasksPool {
  let completed = 0;
  let closed = false;
  return {
    async run(name, job, { signal }) {
      signal?.throwIfAborted();
      if (closed) throw new Error("the tasks pool was closed");
      const result = structuredClone(await FUNCTIONS[name](structuredClone(job)));
      completed++;
      return result as TaskFunctions[typeof name]["result"];
    },
    stats: () => ({ threads: 0, queued: 0, completed, deadlines: 0, threadFailures: 0, stuck: 0 }),
    close() {
      closed = true;
      return Promise.resolve();
    },
  };
}
