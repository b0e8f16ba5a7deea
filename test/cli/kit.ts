// Pods, nodes and events for tests of the nodelet command.

import { painter } from "../../src/cli/output/colour.js";
import type { WhyInput } from "../../src/cli/why/input.js";
import { seenPod, type SeenPod } from "../../src/cli/why/seen-pod.js";
import { NO_MANIFESTS } from "../../src/shared/contracts/manifest-facts.js";
import type { NodeletStatus, NodeFacts, PodFacts } from "../../src/shared/contracts/nodelet.js";
import type { RuntimeState } from "../../src/shared/contracts/pleg.js";
import type { PodTimeline } from "../../src/shared/contracts/timeline.js";
import type { Event } from "../../src/shared/kubernetes/api/event.js";
import type { ApiContainerStatus, ContainerState, PodStatus } from "../../src/shared/kubernetes/api/pod-status.js";
import type { Pod, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";
import { pod as basePod } from "../support/pods.js";

export const NOW = Date.parse("2026-01-02T03:04:05Z");
export const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString().replace(".000Z", "Z");
export const PLAIN = { paint: painter(false), columns: Infinity, format: "table" as const };

export function containerStatus(state: ContainerState, fields: Partial<ApiContainerStatus> = {}): ApiContainerStatus {
  return { name: "app", state, lastState: {}, ready: false, restartCount: 0, image: "i", imageID: "i", ...fields };
}

export const RUNNING = { running: { startedAt: ago(60) } };

export function pod(status: Partial<PodStatus>, spec: Partial<PodSpec> = {}, name = "web"): Pod {
  return { ...basePod(spec, name), status: { phase: "Pending", startTime: ago(90), ...status } };
}

export function event(reason: string, message: string, fields: Partial<Event> & { container?: string } = {}): Event {
  const { container = "app", ...rest } = fields;
  return {
    metadata: { name: `web.${reason}`, namespace: "default" },
    involvedObject: { kind: "Pod", name: "web", uid: "uid-web", fieldPath: `spec.containers{${container}}` },
    reason,
    message,
    source: { component: "kubelet", host: "n" },
    firstTimestamp: ago(60),
    lastTimestamp: ago(2),
    count: 1,
    type: "Warning",
    reportingComponent: "kubelet",
    reportingInstance: "n",
    ...rest,
  };
}

export const RUNTIME: RuntimeState = {
  ...{ reachable: true, runtimeReady: true, networkReady: true },
  ...{ name: "containerd", version: "1.6.20", events: false, message: "" },
};

export function node(facts: Partial<NodeFacts> = {}, fields: Partial<NodeletStatus> = {}): NodeletStatus {
  return {
    now: NOW,
    ...{ node: "n", kubernetesVersion: "v1.36.0", nodeVersion: "v24.21.0", pid: 1, rootDir: "/r" },
    runtimeEndpoint: "unix:///run/containerd/containerd.sock",
    threads: [
      { name: "main", state: "running", starts: 0, lastTickMs: 3, loopDelayMaxMs: 5, queued: 0 },
      { name: "pleg", state: "running", starts: 1, lastTickMs: 3, loopDelayMaxMs: 5, queued: 0 },
    ],
    certificates: [],
    facts: {
      startedAt: NOW - 3_600_000,
      runtime: RUNTIME,
      runtimeSince: NOW - 3_600_000,
      pressures: [],
      addresses: ["10.0.0.4"],
      capacity: { cpu: "2", memory: "8Gi", pods: "110" },
      allocatable: { cpu: "2", memory: "7Gi", pods: "110" },
      hungMounts: [],
      settled: true,
      ...facts,
    },
    devicePluginProblem: "",
    manifests: NO_MANIFESTS,
    ...fields,
  };
}

export function facts(fields: Partial<PodFacts> = {}): PodFacts {
  const none = { startFailures: [], volumes: [], probeKills: [], probesFailing: [], stops: [] };
  return { uid: podUid("uid-web"), worker: "syncing", ...none, ...fields };
}

/** The pod `web`, to which nothing has happened. */
export function timeline(fields: Partial<PodTimeline>): PodTimeline {
  const none = { phases: [], stages: [], stagesDropped: 0, events: [] };
  return { namespace: "default", name: "web", uid: podUid("uid-web"), seenAt: NOW, ...none, ...fields };
}

/** As `nodelet status` and `pods` see it. */
export function seen(one: Pod, fields: Partial<WhyInput> = {}): SeenPod {
  return seenPod(input({ pod: one, ...fields }));
}

export function input(fields: Partial<WhyInput> & { pod: Pod }): WhyInput {
  return { facts: facts(), events: [], node: node(), pods: [fields.pod], now: NOW, ...fields };
}
