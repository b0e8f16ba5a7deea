// The tasks pool of a kubelet whose logs are compressed. A file takes its time, and SIGKILL may come in the middle of
// one, between two of its calls.

import type { TasksPool } from "../../../src/main/threads/tasks-pool.js";
import { tasksInThisThread } from "../../support/one-thread/tasks.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";

/** SIGKILL after so many calls of the next compression. */
export interface CompressionFault {
  do: "compression-killed";
  calls: number;
  downMs: number;
}

const LONGEST_MS = 400;

let armed: { calls: number; kill: () => void } | undefined;

export function armCompression(calls: number, kill: () => void): void {
  armed = { calls, kill };
}

/** A fault that waits for a compression waits no more. */
export function disarmCompression(): void {
  armed = undefined;
}

export function tasksThatTakeTime(): TasksPool {
  const plain = tasksInThisThread();
  return {
    ...plain,
    async run(name, job, options) {
      if (name !== "compressLog") return await plain.run(name, job, options);
      await new Promise((resolve) => setTimeout(resolve, kernel.random.between(1, LONGEST_MS)));
      const owner = kernel.current;
      disk.beforeSync = () => {
        if (armed !== undefined && --armed.calls <= 0) {
          const { kill } = armed;
          armed = undefined;
          kill();
        }
        if (!owner.isAlive) throw new Error("the process was killed");
      };
      // It runs to its end before a promise is there.
      const result = plain.run(name, job, options);
      disk.beforeSync = undefined;
      return owner.isAlive ? await result : await new Promise<never>(() => undefined);
    },
  };
}
