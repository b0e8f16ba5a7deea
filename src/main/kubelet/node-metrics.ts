// Gauges of the sync path, read at each snapshot instead of being kept up to date.

import { isStaticPod, type Pod } from "../../shared/kubernetes/api/pod.js";
import { ContainerState, PodSandboxState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { PodMetrics } from "../pods/sync/metrics.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodWorker } from "../pods/sync/pod-worker.js";

const STATE_LABELS = {
  [ContainerState.CONTAINER_CREATED]: "created",
  [ContainerState.CONTAINER_RUNNING]: "running",
  [ContainerState.CONTAINER_EXITED]: "exited",
  [ContainerState.CONTAINER_UNKNOWN]: "unknown",
} as const;

interface Watched {
  cache: Pick<PodState["cache"], "all" | "staleRecords">;
  pods: Pick<PodState["pods"], "all">;
  records: Pick<PodState["records"], "usage">;
}

export function watchNode(registry: ThreadRegistry, metrics: PodMetrics, state: Watched): void {
  let stale = 0;
  const staleRecords = registry.counter(
    "nodelet_stale_pleg_records_total",
    "Number of observed pod states dropped because they were outdated",
  );
  const recordBytes = registry.gauge("nodelet_pod_record_bytes", "Number of bytes of all pod records on disk");
  const unsavedRecords = registry.gauge(
    "nodelet_pod_records_unsaved",
    "Number of pods whose record on disk is out of date because it could not be written",
  );
  registry.onSnapshot(() => {
    const { bytes, unsaved } = state.records.usage;
    recordBytes.set(bytes);
    unsavedRecords.set(unsaved);
    const states = { created: 0, running: 0, exited: 0, unknown: 0 };
    let pods = 0;
    for (const observed of state.cache.all()) {
      if (observed.sandboxes.some((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY)) pods++;
      for (const { state } of observed.containers) states[STATE_LABELS[state]]++;
    }
    metrics.runningPods.set(pods);
    for (const [state, count] of Object.entries(states))
      metrics.runningContainers.set({ container_state: state }, count);
    const workers = [...state.pods.all()];
    for (const label of ["true", ""]) {
      const own = workers.filter(({ desired }) => staticLabel(desired) === label);
      metrics.desiredPods.set({ static: label }, own.filter((worker) => worker.state !== "terminating").length);
      metrics.activePods.set({ static: label }, own.length);
    }
    setWorkingPods(metrics, workers);
    const ephemeral = workers.map(({ desired }) => desired?.spec.ephemeralContainers?.length ?? 0);
    metrics.managedEphemeralContainers.set(ephemeral.reduce((sum, count) => sum + count, 0));
    staleRecords.inc(state.cache.staleRecords - stale);
    stale = state.cache.staleRecords;
  });
}

const LIFECYCLES = {
  admitting: "sync",
  syncing: "sync",
  ending: "terminating",
  terminating: "terminating",
  finished: "terminated",
  terminated: "terminated",
} as const;

/** The combinations of labels that can occur. All are exported: a sum or a comparison misses no series of 0 pods. */
const WORKING = [
  { config: "desired", static: "" },
  { config: "desired", static: "true" },
  { config: "orphan", static: "" },
  { config: "orphan", static: "true" },
  { config: "runtime_only", static: "unknown" },
] as const;

function setWorkingPods({ workingPods }: PodMetrics, workers: readonly Pick<PodWorker, "state" | "desired">[]): void {
  workingPods.reset();
  for (const lifecycle of new Set(Object.values(LIFECYCLES))) {
    for (const labels of WORKING) workingPods.set({ lifecycle, ...labels }, 0);
  }
  for (const { state, desired } of workers) {
    workingPods.inc({ lifecycle: LIFECYCLES[state], config: configOf(state, desired), static: staticLabel(desired) });
  }
}

function configOf(state: PodWorker["state"], desired: Pod | undefined): string {
  if (desired === undefined) return "runtime_only";
  // A pod that the API server is deleting is still in its source.
  return state === "terminating" && desired.metadata.deletionTimestamp === undefined ? "orphan" : "desired";
}

function staticLabel(desired: Pod | undefined): string {
  if (desired === undefined) return "unknown";
  return isStaticPod(desired) ? "true" : "";
}
