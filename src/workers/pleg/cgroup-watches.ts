// Detects exits of containers without a call to the runtime. The runtime removes a container's cgroup directory after
// its last process has exited. inotify on the pod's cgroup directory reports that at once (cgroup v1 and v2 alike).

import { watch, type FSWatcher } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { WatchedPod } from "../../shared/contracts/pleg.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

export class CgroupWatches {
  private readonly watchers = new Map<PodUid, FSWatcher[]>();

  /** `onExit` is called with a pod one of whose container cgroups went away. */
  constructor(
    private readonly onExit: (uid: PodUid) => void,
    private readonly log: Logger,
  ) {}

  /** Replaces the whole set. */
  set(pods: readonly WatchedPod[]): void {
    const wanted = new Set(pods.map((pod) => pod.uid));
    for (const uid of [...this.watchers.keys()]) if (!wanted.has(uid)) this.remove(uid);
    for (const pod of pods) this.add(pod);
  }

  /** Watches a pod's directories; a watched pod is watched again (its cgroup may have been created again). */
  add(pod: WatchedPod): void {
    this.remove(pod.uid);
    const watchers: FSWatcher[] = [];
    for (const directory of pod.watchDirs) {
      const watcher = this.watchDirectory(pod.uid, directory);
      if (watcher !== undefined) watchers.push(watcher);
    }
    if (watchers.length > 0) this.watchers.set(pod.uid, watchers);
  }

  remove(uid: PodUid): void {
    for (const watcher of this.watchers.get(uid) ?? []) watcher.close();
    this.watchers.delete(uid);
  }

  /** Whether every one of these pods is watched, so that relists may be slow. */
  covers(uids: Iterable<PodUid>): boolean {
    for (const uid of uids) if (!this.watchers.has(uid)) return false;
    return true;
  }

  close(): void {
    for (const uid of [...this.watchers.keys()]) this.remove(uid);
  }

  private watchDirectory(uid: PodUid, directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        if (event !== "rename" || name === null) return;
        void this.reportRemoval(uid, join(directory, name));
      });
      watcher.on("error", (error) => {
        this.log.warn({ uid, directory, err: error }, "cgroup watch ended; relists will see this pod's exits");
        this.remove(uid);
      });
      return watcher;
    } catch (error) {
      this.log.warn({ uid, directory, err: error }, "cgroup watch not possible; relists will see this pod's exits");
      return undefined;
    }
  }

  /** A directory that still exists was just created: main made it. */
  private async reportRemoval(uid: PodUid, path: string): Promise<void> {
    try {
      await access(path);
    } catch {
      this.onExit(uid);
    }
  }
}
