// Decodes submitted manifests in the tasks pool. Invariant: a text that needs too much time or memory fails its own
// request and does not delay main.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { noteWork } from "../../../../shared/base/turns/large-work.js";
import type { ManifestRefusal } from "../../../../shared/contracts/manifests.js";
import type { DecodeSubmittedResult, SubmittedPod } from "../../../../shared/contracts/tasks.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import { TaskDeadlineError, TaskThreadError, type TasksPool } from "../../../threads/tasks-pool.js";
import { LATE_FACTOR, LATE_TRIES } from "../decode-job.js";
import type { FormerUids } from "../former-uids.js";
import { invalid, unavailable } from "./refusals.js";

/** Ms for a text, and for each MiB of it. */
const DEADLINE_MS = 5_000;
const DEADLINE_MS_PER_MIB = 2_000;

export interface DecoderOptions {
  tasks: Pick<TasksPool, "run">;
  nodeName: string;
  preventAPIReferences: boolean;
  former: Pick<FormerUids, "keep">;
}

/** The text could not be decoded although it may be valid. The cause may be the machine, and another try can help. */
export class DecodeRefusedError extends Error {
  override readonly name = "DecodeRefusedError";
  constructor(readonly refusal: ManifestRefusal) {
    super(refusal.message);
  }
}

export class SubmittedDecoder {
  constructor(private readonly options: DecoderOptions) {}

  /**
   * `namespace`: of pods that name none. Rejects with DecodeRefusedError or the signal's reason. `body` may be moved
   * away.
   */
  async decode(body: Uint8Array, namespace: string, signal: AbortSignal, tries = 0): Promise<DecodeSubmittedResult> {
    const { tasks, nodeName, preventAPIReferences } = this.options;
    noteWork(body.byteLength);
    const bySize = DEADLINE_MS + Math.ceil((body.byteLength / (1024 * 1024)) * DEADLINE_MS_PER_MIB);
    const deadlineMs = bySize * LATE_FACTOR ** tries;
    try {
      const job = { text: body, nodeName, preventAPIReferences, namespace };
      const result = await tasks.run("decodeSubmitted", job, { deadlineMs, signal });
      return { ...result, pods: await this.withFormer(result.pods) };
    } catch (error) {
      signal.throwIfAborted();
      const allowed =
        error instanceof TaskDeadlineError
          ? `it must be readable within ${deadlineMs / 1000} s`
          : error instanceof TaskThreadError
            ? "it must be readable with little memory"
            : undefined;
      if (allowed === undefined) throw new DecodeRefusedError(unavailable(messageOf(error)));
      const violation = { field: "", reason: "limit", allowed, line: 0, column: 0 } as const;
      throw new DecodeRefusedError(invalid([violation]));
    }
  }

  private async withFormer(submitted: readonly SubmittedPod[]): Promise<SubmittedPod[]> {
    const former = submitted.flatMap(({ pod, formerUid }) =>
      formerUid === undefined ? [] : [[pod.metadata.uid, formerUid]],
    );
    const pods = await this.options.former.keep(
      submitted.map(({ pod }) => pod),
      Object.fromEntries(former) as Record<PodUid, PodUid>,
    );
    return submitted.map((one, index) => ({ ...one, pod: pods[index] ?? one.pod }));
  }

  /** A manifest that was accepted before: a busy machine must not count as a manifest without a pod. */
  async decodeKept(text: Buffer, signal: AbortSignal): Promise<DecodeSubmittedResult> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.decode(Uint8Array.from(text), "default", signal, tries);
      } catch (error) {
        if (!(error instanceof DecodeRefusedError) || tries + 1 >= LATE_TRIES) throw error;
      }
    }
  }
}
