// Reads every pod's Ready condition periodically, as a client of /pods, until it is stopped. So it also detects a
// short change of Ready during a test.

import { sleep } from "../../tools/standalone/wait.js";
import type { TestNode } from "../harness/node.js";
import { conditionsOf } from "./static-pods.js";

const INTERVAL_MS = 25;

export class ReadinessWatch {
  private readonly values = new Map<string, Set<string>>();
  private over = false;
  private readonly watching: Promise<void>;

  constructor(node: TestNode) {
    this.watching = this.watch(node);
  }

  async end(): Promise<void> {
    this.over = true;
    await this.watching;
  }

  /** Values that Ready of this pod was seen with. */
  seen(uid: string): ReadonlySet<string> {
    return this.values.get(uid) ?? new Set();
  }

  private async watch(node: TestNode): Promise<void> {
    while (!this.over) {
      // While the kubelet is away no server answers.
      for (const pod of await node.pods().catch(() => [])) {
        // Before a pod is known again it has no condition at all.
        const ready = conditionsOf(pod)["Ready"];
        if (ready === undefined) continue;
        const seen = this.values.get(pod.metadata.uid) ?? new Set();
        this.values.set(pod.metadata.uid, seen.add(ready));
      }
      await sleep(INTERVAL_MS);
    }
  }
}
