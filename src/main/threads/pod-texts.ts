// Pods as a server's thread gets them: JSON, without the definition where only the status changed. To clone the objects
// of a pod with thousands of mounts takes main several times as long. A large text is sent as bytes: as a string it
// would stay in the thread's heap until the thread, which may be idle, collects garbage.

import type { PodText } from "../../shared/contracts/server.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { textWithDigits } from "../../shared/kubernetes/api/wide-integers.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { statusText } from "../model/status-text.js";

/** Characters of a definition from which on it is sent as bytes. */
const LARGE = 64 * 1024;

const encoder = new TextEncoder();

export class PodTexts {
  /** The definitions that the thread has. */
  private readonly sent = new Map<PodUid, Pick<Pod, "metadata" | "spec">>();

  /** The thread has no pods. */
  reset(): void {
    this.sent.clear();
  }

  /** The thread may not have this pod. */
  forget(uid: PodUid): void {
    this.sent.delete(uid);
  }

  textOf(pod: Pod): PodText {
    const { metadata, spec, status } = pod;
    const { uid, name, namespace, deletionTimestamp } = metadata;
    const text: PodText = { uid, status: status === undefined ? "{}" : statusText(status) };
    const known = this.sent.get(uid);
    if (known?.metadata === metadata && known.spec === spec) return text;
    this.sent.set(uid, { metadata, spec });
    const isDeleting = deletionTimestamp !== undefined;
    const json = definitionText(pod);
    return {
      ...text,
      definition: { name, namespace, isDeleting, text: json.length < LARGE ? json : encoder.encode(json) },
    };
  }
}

function definitionText({ metadata, spec, wideIntegers }: Pod): string {
  return textWithDigits({ metadata, spec }, wideIntegers);
}
