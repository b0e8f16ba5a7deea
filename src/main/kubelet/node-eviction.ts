// Connects eviction and the disk usage of pods to the sync path. Loaded by the eviction thread's first start: no pod
// waits for it.

import type { Clock } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { EvictionUpcalls, ImageFileSystems } from "../../shared/contracts/eviction.js";
import type { DirectoryUsageJob } from "../../shared/contracts/tasks.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { ContainerState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { DiskUsage } from "../pods/disk-usage/disk-usage.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodWorkers } from "../pods/sync/pod-workers.js";
import { Eviction, type EvictionThreadPort } from "../resources/eviction/eviction.js";
import { evictionMetrics } from "../resources/eviction/metrics.js";
import type { NodePressures } from "../resources/eviction/pressures.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { ProjectQuotas } from "../volumes/quotas/project-quotas.js";

export interface NodeEvictionDeps {
  rootDir: string;
  podLogsDir: string;
  state: PodState;
  workers: Pick<PodWorkers, "fail">;
  thread: EvictionThreadPort;
  pressures: NodePressures;
  removeDeadContainers: EvictionUpcalls["removeDeadContainers"];
  removeUnusedImages: EvictionUpcalls["removeUnusedImages"];
  cri: Pick<CriClient, "imageFsInfo">;
  quotas: Pick<ProjectQuotas, "usage">;
  tasks: TasksPool;
  events: EventRecorder;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export interface NodeEviction {
  eviction: Eviction;
  diskUsage: DiskUsage;
}

/** A tenth of a second's work; a file system that hangs must not keep a pool thread. */
const WALK_JOB_MS = 30_000;
const IMAGE_FS_DEADLINE_MS = 5000;

export function joinEviction(deps: NodeEvictionDeps): NodeEviction {
  const { rootDir, podLogsDir, state, thread, pressures, tasks, events, registry, clock } = deps;
  const log = moduleLogger(deps.log, "eviction");
  const diskUsage = new DiskUsage({
    places: { rootDir, podLogsDir },
    pod: (uid) => state.pods.get(uid)?.desired,
    walk: (job: DirectoryUsageJob, turnOf, signal) =>
      tasks.run("directoryUsage", job, { deadlineMs: WALK_JOB_MS, turnOf, signal }),
    quota: (directory) => deps.quotas.usage(directory),
    clock,
    log: moduleLogger(deps.log, "disk-usage"),
  });
  const eviction = new Eviction({
    rootDir,
    thread,
    pressures,
    events,
    log,
    metrics: evictionMetrics(registry),
    fail: (uid, failure, grace) => deps.workers.fail(uid, failure, grace),
    observed: (uid) => (state.pods.has(uid) ? state.cache.get(uid) : undefined),
    upcalls: {
      removeDeadContainers: deps.removeDeadContainers,
      removeUnusedImages: deps.removeUnusedImages,
      podDisks: (uids, maxAgeMs, withinMs) => diskUsage.of(uids, maxAgeMs, withinMs),
      imageFileSystems: () => imageFileSystems(deps.cri),
      runningContainers: (uid) => Promise.resolve(runningContainers(state, uid)),
    },
  });
  const uses = ({ pod }: { pod: Pod }): void => eviction.runs(pod);
  const left = ({ uid }: { uid: PodUid }): void => {
    eviction.podTerminated(uid);
    diskUsage.podRemoved(uid);
  };
  state.subscribe("eviction", { admitted: uses, updated: uses, resized: uses, cleanedUp: left, removed: left });
  return { eviction, diskUsage };
}

async function imageFileSystems(cri: Pick<CriClient, "imageFsInfo">): Promise<ImageFileSystems> {
  const { imageFilesystems, containerFilesystems } = await cri.imageFsInfo({}, { deadlineMs: IMAGE_FS_DEADLINE_MS });
  const containers = containerFilesystems[0]?.fsId?.mountpoint;
  return omitUndefined({
    images: imageFilesystems[0]?.fsId?.mountpoint ?? "",
    containers: containers !== undefined && containers !== "" ? containers : undefined,
  });
}

function runningContainers({ pods, cache }: PodState, uid: PodUid): { name: string; id: string }[] {
  if (!pods.has(uid)) return [];
  return cache
    .get(uid)
    .containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)
    .map(({ id, metadata }) => ({ name: metadata?.name ?? "", id }));
}
