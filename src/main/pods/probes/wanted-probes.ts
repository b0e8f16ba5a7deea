// The probes of a pod that run now. Pure.
//   before a container has started only its startup probe runs, afterwards liveness and readiness;
//   a verdict of startup, and a liveness Failure, holds until the container is another one;
//   while the pod is being terminated only readiness runs, until its containers have stopped.

import type { ProbeKind, ProbeSpec } from "../../../shared/contracts/prober.js";
import { isSidecar, type Container, type Pod, type Probe } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { ExpansionBudget } from "../../model/expand.js";
import { nanosToMs, newestOf } from "../../model/observed-containers.js";
import { podIPs } from "../../model/pod-ips.js";
import type { ProbedPodState } from "../../model/probe-port.js";
import type { ProbeResults } from "../../model/probe-results.js";
import { resolveAction } from "./resolve-action.js";

/** A probe without the fields that the manager adds: its generation and its earlier result. */
export type WantedProbe = Omit<ProbeSpec, "generation" | "verdict">;

export interface WantedInput {
  pod: Pod;
  observed: ObservedPod;
  state: ProbedPodState;
  results: ProbeResults;
  nodeIPs: readonly string[];
}

const SECOND = 1000;

/** The API's defaults, for pods that did not come through the manifest reader. */
const DEFAULTS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;

export function probedContainers(pod: Pod): Container[] {
  const { containers, initContainers = [] } = pod.spec;
  return [...containers, ...initContainers.filter(isSidecar)].filter(
    ({ startupProbe, livenessProbe, readinessProbe }) => startupProbe ?? livenessProbe ?? readinessProbe,
  );
}

export function wantedProbes(input: WantedInput): WantedProbe[] {
  const { pod, observed, nodeIPs } = input;
  const containers = probedContainers(pod);
  if (containers.length === 0) return [];
  const [podIP] = podIPs(pod, observed, nodeIPs, undefined);
  const wanted: WantedProbe[] = [];
  const budget = new ExpansionBudget();
  for (const container of containers) {
    const status = newestOf(observed, container.name);
    if (status?.state !== ContainerState.CONTAINER_RUNNING) continue;
    for (const [kind, probe] of dueKinds(input, container, status.id)) {
      const action = resolveAction(probe, container, podIP, budget);
      if (action === undefined) continue;
      wanted.push({
        containerId: status.id,
        kind,
        container: container.name,
        action,
        startedAt: nanosToMs(status.startedAt),
        initialDelayMs: (probe.initialDelaySeconds ?? 0) * SECOND,
        periodMs: (probe.periodSeconds ?? DEFAULTS.periodSeconds) * SECOND,
        timeoutMs: (probe.timeoutSeconds ?? DEFAULTS.timeoutSeconds) * SECOND,
        successThreshold: probe.successThreshold ?? DEFAULTS.successThreshold,
        failureThreshold: probe.failureThreshold ?? DEFAULTS.failureThreshold,
      });
    }
  }
  return wanted;
}

function dueKinds({ state, results }: WantedInput, container: Container, id: ContainerId): [ProbeKind, Probe][] {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const terminating = state === "terminating";
  const startup = results.startup(id);
  if (startupProbe !== undefined && startup !== "Success") {
    return terminating || startup === "Failure" ? [] : [["startup", startupProbe]];
  }
  const due: [ProbeKind, Probe][] = [];
  if (livenessProbe !== undefined && !terminating && results.liveness(id) !== "Failure") {
    due.push(["liveness", livenessProbe]);
  }
  if (readinessProbe !== undefined) due.push(["readiness", readinessProbe]);
  return due;
}
