// Prepares the machine for a pod before its first container: directories, cgroup, volumes. In parallel, once per pod
// and process; every part is idempotent, so that a repetition is harmless.

import { mkdir } from "node:fs/promises";
import { firstDirectories } from "../../../shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { PodCgroupError, PodDirectoriesError } from "../../model/environment-errors.js";
import { podLogDirectory } from "../../model/paths.js";
import { traced } from "../../model/pod-trace.js";
import { podDirMode } from "../../model/root-directory.js";
import type { PodCgroup } from "../../resources/cgroups/cgroup-manager.js";
import type { VolumePlace } from "../../volumes/place.js";
import type { NodeDns } from "../network/pod-dns.js";
import type { NodeRuntime } from "./node-runtime.js";
import type { PodLogFiles } from "./pod-log-files.js";

export interface PodEnvironment {
  cgroup: PodCgroup;
  logDirectory: string;
  logFiles: PodLogFiles;
  /** The node's resolver settings as the pod's sandbox got them: read once. */
  dns(): Promise<NodeDns>;
  /**
   * By volume name. Containers wait for it; the sandbox does only while many pods wait for theirs (sandboxes-ahead.ts).
   */
  volumes: Promise<ReadonlyMap<string, VolumePlace>>;
}

/**
 * Rejects with PodCgroupError or PodDirectoriesError; a volume's error shows when it is awaited.
 * @param sized as ensurePod has it
 */
export async function preparePod(
  runtime: NodeRuntime,
  pod: Pod,
  signal: AbortSignal,
  logFiles: PodLogFiles,
  sized?: Pod,
): Promise<PodEnvironment> {
  const { settings } = runtime;
  const logDirectory = podLogDirectory(settings.podLogsDir, pod);
  const directories = orElse(
    Promise.all(
      firstDirectories(settings.rootDir, pod.metadata.uid).map((path) =>
        mkdir(path, { recursive: true, mode: podDirMode }),
      ),
    ),
    PodDirectoriesError,
  );
  const { trace } = runtime;
  const { uid } = pod.metadata;
  const volumes = directories.then(() =>
    traced(trace, { uid, stage: "volumes" }, () => runtime.volumes.setUpPod(pod, signal)),
  );
  // Awaited by the containers: until then its failure must not count as unhandled.
  volumes.catch(() => undefined);
  const [cgroup] = await Promise.all([
    orElse(
      traced(trace, { uid, stage: "cgroup" }, () => runtime.cgroups.ensurePod(pod, sized)),
      PodCgroupError,
    ),
    orElse(
      mkdir(logDirectory, { recursive: true, mode: 0o755 }).then((made) => logFiles.onDirectory(made !== undefined)),
      PodDirectoriesError,
    ),
    directories,
  ]);
  return { cgroup, logDirectory, logFiles, dns: readOnce(() => runtime.dns()), volumes };
}

/** The pod's cgroup alone. Rejects with PodCgroupError. */
export async function fitCgroup(runtime: NodeRuntime, pod: Pod, sized: Pod): Promise<void> {
  await orElse(runtime.cgroups.ensurePod(pod, sized), PodCgroupError);
}

/** A failure is not kept. */
function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  return async () => {
    known ??= read();
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw error;
    }
  };
}

async function orElse<T>(made: Promise<T>, Cause: new (cause: unknown) => Error): Promise<T> {
  try {
    return await made;
  } catch (error) {
    throw new Cause(error);
  }
}
