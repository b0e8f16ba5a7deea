// Joins log rotation to the node: which containers run, the runtime, the tasks pool and the metrics.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import { isRunning } from "../../model/observed-containers.js";
import type { TasksPool } from "../../threads/tasks-pool.js";
import { LogRotation, type LogRotationSettings } from "./log-rotation.js";
import { containerLogMetrics } from "./metrics.js";
import { runningLogs } from "./running-logs.js";

export interface StartLogRotationOptions {
  settings: LogRotationSettings & { podLogsDir: string };
  /** The pods as the runtime was last observed. */
  pods: { all(): Iterable<ObservedPod>; get(uid: PodUid): ObservedPod; readonly changes: number };
  cri: Pick<CriClient, "reopenContainerLog">;
  tasks: Pick<TasksPool, "run">;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

/** To be stopped before the pool and the runtime's connection are closed. */
export function startLogRotation(options: StartLogRotationOptions): LogRotation {
  const { settings, pods, cri, tasks, registry, clock } = options;
  const metrics = containerLogMetrics(registry);
  const rotation = new LogRotation({
    settings,
    running: () => runningLogs(pods.all(), settings.podLogsDir),
    changes: () => pods.changes,
    isRunning: ({ uid, containerId }) =>
      pods.get(uid).containers.some((one) => one.id === containerId && isRunning(one)),
    reopen: (containerId, call) => cri.reopenContainerLog({ containerId }, call),
    compress: (job, run) => tasks.run("compressLog", job, run),
    counted: {
      rotation: (result) => metrics.rotations.inc({ result }),
      compression: (outcome) => metrics.compressions.inc({ outcome }),
    },
    clock,
    log: moduleLogger(options.log, "log-rotation"),
  });
  registry.onSnapshot(() => {
    metrics.usedBytes.reset();
    for (const { log, bytes } of rotation.usage()) {
      const { uid, namespace, pod, container } = log;
      metrics.usedBytes.set({ uid, namespace, pod, container }, bytes);
    }
  });
  return rotation;
}
