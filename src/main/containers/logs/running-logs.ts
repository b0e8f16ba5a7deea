// Which logs rotation keeps an eye on: those of running containers, since the runtime reopens no others.

import { join } from "path/posix";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { isRunning } from "../../model/observed-containers.js";
import { podLogDirectory } from "../../model/paths.js";

export interface RunningLog {
  containerId: ContainerId;
  /** The file being written. */
  path: string;
  uid: PodUid;
  namespace: string;
  pod: string;
  container: string;
}

export function* runningLogs(pods: Iterable<ObservedPod>, podLogsDir: string): Generator<RunningLog> {
  for (const { uid, namespace, name, containers } of pods) {
    for (const container of containers) {
      const { id, logPath, metadata } = container;
      if (!isRunning(container) || logPath === "") continue;
      // Runtimes report the whole path, from the given directory and path.
      const path = logPath.startsWith("/")
        ? logPath
        : join(podLogDirectory(podLogsDir, { metadata: { uid, namespace, name } }), logPath);
      yield { containerId: id, path, uid, namespace, pod: name, container: metadata?.name ?? "" };
    }
  }
}
