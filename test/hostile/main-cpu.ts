// CPU time of the kubelet's main thread in the busiest interval of an attack. The longest delay may contain less CPU
// time than its length. Then the thread waited for a processor, the disk or the collector's threads, not for main's
// own code.

import { once } from "node:events";
import { Worker } from "node:worker_threads";

export class MainCpu {
  private readonly worker: Worker;

  constructor(pid: number) {
    this.worker = new Worker(new URL("./main-cpu-thread.js", import.meta.url), { workerData: { pid } });
  }

  /** Ends the sampling. @returns samples for {@link busiestMs} */
  async stop(): Promise<number[]> {
    const said = once(this.worker, "message");
    this.worker.postMessage("stop");
    const [samples] = (await said) as [number[]];
    await this.worker.terminate();
    return samples;
  }
}

/**
 * Most CPU ms within any stretch of this length; a stretch between two samples counts in full, so it is an upper bound.
 */
export function busiestMs(samples: readonly number[], lengthMs: number): number {
  let most = 0;
  for (let from = 0, to = 0; from < samples.length; from += 2) {
    while (to < samples.length - 2 && at(samples, to) - at(samples, from) < lengthMs) to += 2;
    most = Math.max(most, at(samples, to + 1) - at(samples, from + 1));
  }
  return most;
}

function at(samples: readonly number[], index: number): number {
  return samples[index] ?? 0;
}
