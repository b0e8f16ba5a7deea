// The list of pods for the stream of the node. A pod is made a text once per version, for all clients.
// Invariant: between two readings it keeps the texts of present pods only, and none while no viewer is connected.

import { POD_KEY } from "../../../shared/contracts/status-page.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodList } from "../pods/pod-list.js";
import type { Entries } from "./feed.js";
import { visiblePod } from "./visible-pod.js";

export class PodTexts {
  private kept = new Map<PodUid, { version: object; text: string }>();

  constructor(private readonly pods: Pick<PodList, "versions">) {}

  entries(): Entries {
    const now: typeof this.kept = new Map();
    const entries = new Map<string, string>();
    for (const { uid, version, read } of this.pods.versions()) {
      const known = this.kept.get(uid);
      const text = known?.version === version ? known.text : JSON.stringify(visiblePod(read()));
      now.set(uid, { version, text });
      entries.set(`${POD_KEY}${uid}`, text);
    }
    this.kept = now;
    return entries;
  }

  clear(): void {
    this.kept = new Map();
  }
}
