// Reads the CPU time of one thread of another process periodically. It runs on its own thread, so that an attack's
// cost in the test makes no gaps. The kernel brings the figure up to date at each of its ticks.

import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

const EVERY_MS = 10;
const { pid } = workerData as { pid: number };
/** Time and CPU time, both in ms, in turn. */
const samples: number[] = [];

const timer = setInterval(() => {
  try {
    const [nanos = ""] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
    samples.push(performance.now(), Number(nanos) / 1e6);
  } catch {
    // The process ended: what was sampled counts.
    clearInterval(timer);
  }
}, EVERY_MS);

parentPort?.once("message", () => {
  clearInterval(timer);
  parentPort?.postMessage(samples);
  parentPort?.close();
});
