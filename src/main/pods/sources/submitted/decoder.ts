// Decodes submitted manifests in the tasks pool. Invariant: a text that needs too much time or memory fails its own
// request and does not delay main.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { noteWork } from "../../../../shared/base/turns/large-work.js";
import type { ManifestRefusal } from "../../../../shared/contracts/manifests.js";
import type { DecodeSubmittedResult, SubmittedPod } from "../../../../shared/contracts/tasks.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import type { TasksPool } from "../../../threads/tasks-pool.js";
import { decodeDeadlineMs, decodeLimit, LATE_TRIES } from "../decode-deadline.js";
import type { FormerUids } from "../former-uids.js";
import { invalid, unavailable } from "./refusals.js";

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
    const deadlineMs = decodeDeadlineMs(body.byteLength, tries);
    try {
      const job = { text: body, nodeName, preventAPIReferences, namespace };
      const result = await tasks.run("decodeSubmitted", job, { deadlineMs, signal });
      return { ...result, pods: await this.withFormer(result.pods) };
    } catch (error) {
      signal.throwIfAborted();
      const violation = decodeLimit(error, deadlineMs);
      if (violation === undefined) throw new DecodeRefusedError(unavailable(messageOf(error)));
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
