// Takes V8 profiles of a running thread over the inspector: CPU time and heap.
// Invariant: one profile at a time; a profile ends with its client; the thread that is looked at is never stopped for
// it.

import type { Session } from "node:inspector";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ServerThreadName } from "../../../shared/contracts/server.js";

export type ProfileKind = "profile" | "heap" | "allocs";
/** The threads that this one can profile: the main thread, and itself. */
export type ProfiledThread = "main" | ServerThreadName;

/** A profile is being taken already. */
export class ProfileBusyError extends Error {
  override readonly name = "ProfileBusyError";
}

/** Bytes between two sampled allocations. */
const SAMPLING_BYTES = 32 * 1024;

export class Profiles {
  private busy = false;

  constructor(private readonly clock: Clock) {}

  /** V8's own format: .cpuprofile, .heapprofile (JSON). @throws ProfileBusyError, or the signal's reason */
  async take(kind: ProfileKind, thread: ProfiledThread, seconds: number, signal: AbortSignal): Promise<string> {
    if (this.busy) throw new ProfileBusyError("a profile is being taken already: try again when it is complete");
    this.busy = true;
    const { Session: Inspector } = await import("node:inspector");
    const session = new Inspector();
    try {
      if (thread === "main") session.connectToMainThread();
      else session.connect();
      const wait = (): Promise<void> => this.clock.sleep(seconds * 1000, signal);
      return kind === "profile" ? await cpu(session, wait) : await memory(session, kind, wait);
    } finally {
      session.disconnect();
      this.busy = false;
    }
  }
}

async function cpu(session: Session, wait: () => Promise<void>): Promise<string> {
  await post(session, "Profiler.enable");
  try {
    await post(session, "Profiler.start");
    await wait();
    const { profile } = (await post(session, "Profiler.stop")) as { profile: object };
    return JSON.stringify(profile);
  } finally {
    await post(session, "Profiler.disable");
  }
}

async function memory(session: Session, kind: ProfileKind, wait: () => Promise<void>): Promise<string> {
  const collected = kind === "allocs";
  await post(session, "HeapProfiler.startSampling", {
    samplingInterval: SAMPLING_BYTES,
    includeObjectsCollectedByMajorGC: collected,
    includeObjectsCollectedByMinorGC: collected,
  });
  let result: { profile?: object } = {};
  try {
    await wait();
  } finally {
    result = (await post(session, "HeapProfiler.stopSampling")) as { profile?: object };
  }
  return JSON.stringify(result.profile);
}

function post(session: Session, method: string, parameters: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error: Error | null, result?: object) => {
      if (error === null) resolve(result);
      else reject(new Error(`${method}: ${error.message}`));
    });
  });
}
