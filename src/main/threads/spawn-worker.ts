// Starts a worker for one generation of a thread. A test or a simulation spawns workers in main's thread instead
// (docs/adr/0113).

import { Worker } from "node:worker_threads";
import type { SupervisorMessage, ThreadInit, WorkerMessage } from "../../shared/contracts/thread.js";
import { YOUNG_GENERATION_MIB } from "../../shared/io/code/v8-flags.js";

interface WorkerStart {
  /** The worker's compiled index.js. */
  readonly entry: URL;
  readonly data: ThreadInit<unknown>;
  /** Limit of the worker's old generation. */
  readonly heapMiB: number;
}

interface WorkerEvents {
  message(message: WorkerMessage): void;
  /** An error outside the worker's own handlers: it could not be loaded, or its heap is full. */
  error(thrown: unknown): void;
  /** Once, and last. */
  exit(code: number): void;
}

export interface SpawnedWorker {
  post(message: SupervisorMessage): void;
  /** Ends the worker now, even a busy one. */
  terminate(): void;
}

/** Throws what the creation throws, for example when the init data cannot be cloned. */
export type SpawnWorker = (start: WorkerStart, events: WorkerEvents) => SpawnedWorker;

/** Each worker has a thread of its own. */
export const spawnWorkerThread: SpawnWorker = ({ entry, data, heapMiB }, events) => {
  const worker = new Worker(entry, {
    name: data.name,
    workerData: data,
    transferList: [data.control, data.upcalls],
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
  });
  worker.on("message", (message: WorkerMessage) => events.message(message));
  worker.on("error", (error) => events.error(error));
  worker.once("exit", (code) => events.exit(code));
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => void worker.terminate(),
  };
};
