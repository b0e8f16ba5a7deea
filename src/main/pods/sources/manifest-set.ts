// All manifests of the file source. After every change of one file, the pods of all files are delivered as a whole set.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { StaticPodUids } from "./static-pod-uids.js";

/** A manifest file, as the set sees it. */
interface PodsOfFile {
  readonly pods: readonly Pod[];
  /** False until the first content was accepted or refused for good. */
  readonly settled: boolean;
  readonly exists: boolean;
}

export class ManifestSet<File extends PodsOfFile> {
  /** By file name. */
  readonly files = new Map<string, File>();
  private scanned = false;
  private stopped = false;

  constructor(
    private readonly uids: Pick<StaticPodUids, "deliver">,
    /** Called after each delivery. */
    private readonly onChange: () => void,
  ) {}

  /** The folder was read: `files` has every file of it. */
  onScanned(): void {
    this.scanned = true;
    this.changed();
  }

  /** The pods of a file changed, or it settled for the first time. */
  changed(): void {
    if (this.stopped) return;
    const pods: Pod[] = [];
    let settled = true;
    for (const name of [...this.files.keys()].sort()) {
      const file = this.files.get(name);
      if (file === undefined || !file.exists) continue;
      settled &&= file.settled;
      pods.push(...file.pods);
    }
    this.uids.deliver(pods, this.scanned && settled);
    this.onChange();
  }

  /** Nothing is delivered afterwards. */
  stop(): void {
    this.stopped = true;
  }
}
