// Changes of pods as a server's thread gets them: JSON, without the definition where only the status changed. To clone the objects of a pod
// with thousands of mounts takes main several times as long.
import type { Pod } from "../../shared/api/pod.js";
import { statusText } from "../model/status-text.js";
import type { PodsDelta } from "../../shared/contracts/server.js";
import type { SharedTexts } from "./shared-texts.js";

export class PodTexts {
  /** The definitions that the thread has, by UID. */
  private readonly sent = new Map<string, Pick<Pod, "metadata" | "spec">>();

  constructor(private readonly texts: Pick<SharedTexts, "textOf">) {}

  /** The thread starts with these pods. */
  reset(pods: readonly Pod[]): void {
    this.sent.clear();
    for (const pod of pods) this.keep(pod);
  }

  /** `removed`: UIDs. */
  deltaOf(pods: readonly Pod[], removed: string[]): PodsDelta {
    const delta: PodsDelta = { set: [], statuses: [], removed };
    for (const uid of removed) this.sent.delete(uid);
    for (const pod of pods) {
      const { metadata, spec, status } = pod;
      const known = this.sent.get(metadata.uid);
      if (known?.metadata === metadata && known.spec === spec && status !== undefined) {
        delta.statuses.push({ uid: metadata.uid, status: this.texts.textOf(status, statusText) });
      } else {
        delta.set.push(this.texts.textOf(pod));
        this.keep(pod);
      }
    }
    return delta;
  }

  private keep({ metadata, spec }: Pod): void {
    this.sent.set(metadata.uid, { metadata, spec });
  }
}
