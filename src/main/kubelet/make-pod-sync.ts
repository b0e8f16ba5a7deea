// Makes the sync path with probes, admission and the first subscribers of pod events.

import { containerNamed } from "../../shared/kubernetes/api/per-spec.js";
import type { ResourceStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { NodeRuntime } from "../containers/runtime/node-runtime.js";
import type { PodClaims } from "../model/pod-claims.js";
import type { NodeAdmission } from "../pods/admission/node-admission.js";
import { createProbes } from "../pods/probes/create-probes.js";
import { type ProbeManager } from "../pods/probes/probe-manager.js";
import { emitHostIPs } from "../pods/status/host-ips.js";
import type { PodState } from "../pods/sync/pod-state.js";
import { PodSync } from "../pods/sync/pod-sync.js";
import { NodePodWatch } from "../pods/timeline/node-pod-watch.js";
import { resizeMetrics } from "../resources/allocation/metrics.js";
import type { NodeDevices } from "../resources/devices/node-devices.js";
import { ProbeThreads } from "../threads/probe-threads.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import { watchNode } from "./node-metrics.js";

export function makeProbes(
  { settings, threads, registry, clock, log }: AgentContext,
  foundation: Pick<Foundation, "hostIPs" | "events">,
): ProbeManager {
  const { hostIPs, events } = foundation;
  return createProbes({
    rootDir: settings.rootDir,
    forgetsResults: settings.runtime.changeContainerStatusOnKubeletRestart,
    nodeIPs: () => hostIPs.current,
    prober: new ProbeThreads(threads.of),
    events,
    registry,
    clock,
    log,
  });
}

export interface PodSyncParts {
  foundation: Foundation;
  state: PodState;
  runtime: NodeRuntime;
  devices: Pick<NodeDevices, "health">;
  probes: ProbeManager;
  admission: NodeAdmission;
}

export function makePodSync(
  { settings, threads, registry, clock, log }: AgentContext,
  { foundation, state, runtime, devices, probes, admission }: PodSyncParts,
): PodSync {
  const { calls, hostIPs, events, timelines, metrics } = foundation;
  const { mainSlot } = threads.context;
  const sync = new PodSync({
    state,
    runtime,
    calls,
    pleg: threads.of.pleg,
    probes,
    admission,
    clock,
    log,
    gates: settings.runtime.restartGates,
    resourceHealth: settings.runtime.resourceHealthStatus
      ? (pod, container) => [
          ...devices.health(pod.metadata.uid, container),
          ...claimHealth(runtime.cluster?.()?.claims, pod, container),
        ]
      : undefined,
    backoff: settings.runtime.crashLoopBackOff,
    syncFrequencyMs: settings.sources.syncFrequencyMs,
    resize: { counters: resizeMetrics(registry), rules: settings.resources.resizeRules },
    publish: (delta) => threads.servers.publish(delta),
    stamp: () => mainSlot.stamp(),
    setOp: (code) => mainSlot.setOp(code),
  });
  state.events.subscribe("timelines", new NodePodWatch(timelines, metrics, clock).subscriber);
  hostIPs.onChange((change) => emitHostIPs(change, sync.statuses, events));
  watchNode(registry, metrics, state);
  return sync;
}

/** Health of the devices of the container's ResourceClaims. */
function claimHealth(claims: PodClaims | undefined, pod: Pod, name: string): ResourceStatus[] {
  if (claims === undefined) return [];
  const found = containerNamed(pod.spec, name);
  return found?.place === "app" ? claims.health(pod, found.container) : [];
}
