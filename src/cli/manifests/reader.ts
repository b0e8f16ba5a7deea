// Reads manifests in a thread with the rules of the kubelet. The command itself knows none of them.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Scope } from "../../shared/base/abort/scope.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { ReadManifestsJob, ReadManifestsResult } from "../../shared/contracts/manifest-reading.js";

const ENTRY = new URL("../../workers/tasks/read-manifests.js", import.meta.url);
/** Time limit of one text; the kubelet gives it 5 s and 2 s for each MiB. */
const DEADLINE_MS = 60_000;
/** MiB: a text of 10 MiB with all its positions. */
const HEAP_MIB = 512;

export class ManifestReader {
  private thread: Worker | undefined;

  constructor(private readonly clock: Clock) {}

  /** Rejects with what was allowed when the text needs too much time or memory. One call at a time. */
  async read(job: ReadManifestsJob): Promise<ReadManifestsResult> {
    this.thread ??= new Worker(ENTRY, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } });
    const { thread } = this;
    const late = new Error(`it must be readable within ${DEADLINE_MS / 1000} s`);
    using scope = new Scope(undefined).limit(this.clock, DEADLINE_MS, () => late);
    try {
      const answered = once(thread, "message", { signal: scope.signal }) as Promise<[ReadManifestsResult]>;
      thread.postMessage(job);
      return (await answered)[0];
    } catch (error) {
      await this.close();
      throw scope.signal.aborted ? late : new Error(`it cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    await thread?.terminate();
  }
}
