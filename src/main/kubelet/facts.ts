// Main's answers to the nodelet command: state of pods and of the node that no status shows. Loaded with the first
// question.

import type { Clock } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { NodeFacts, PodFacts } from "../../shared/contracts/nodelet.js";
import { podFullName, type Pod } from "../../shared/kubernetes/api/pod.js";
import { printQuantity } from "../../shared/kubernetes/api/quantity.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { VolumeCalls } from "../../shared/node/volume-calls/volume-calls.js";
import type { Membership } from "../cluster/membership.js";
import type { NodeConfiguration } from "../model/node-configuration.js";
import { nanosToMs } from "../model/observed-containers.js";
import type { ProbeManager } from "../pods/probes/probe-manager.js";
import type { HostIPs } from "../pods/status/host-ips.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { NodePressures } from "../resources/eviction/pressures.js";
import type { NodeResources } from "../resources/node-capacity.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import type { VolumeManager } from "../volumes/volume-manager.js";

export interface FactDeps {
  state: PodState;
  statuses: Pick<PodSync["statuses"], "all">;
  volumes: Pick<VolumeManager, "describe">;
  kills: Pick<ProbeManager["kills"], "of">;
  pressures: NodePressures;
  membership: Membership | undefined;
  calls: Pick<VolumeCalls, "notAnswering">;
  hostIPs: Pick<HostIPs, "current">;
  resources: Pick<NodeResourcesHolder, "capacity" | "allocatable">;
  settled: () => boolean;
  clock: Clock;
  startedAt: number;
  configuration: NodeConfiguration | undefined;
}

export function nodeFacts(parts: FactDeps): NodeFacts {
  const { state, pressures, membership, calls, hostIPs, resources, settled, startedAt, configuration } = parts;
  const { runtime, runtimeSince } = state.cache;
  const conditions = membership?.node()?.status?.conditions;
  const api = membership?.apiAccess();
  return omitUndefined({
    startedAt,
    runtime,
    runtimeSince,
    pressures: pressures.since(),
    addresses: [...hostIPs.current],
    capacity: amounts(resources.capacity),
    allocatable: amounts(resources.allocatable),
    hungMounts: calls.notAnswering(),
    settled: settled(),
    conditions,
    api,
    configuration: configuration ? configuration.facts() : undefined,
  });
}

function amounts(resources: NodeResources): Record<string, string> {
  return Object.fromEntries([...resources].map(([name, amount]) => [name, printQuantity(amount)]));
}

/** The newest pod of that name that has a worker or waits for one. */
export function podFacts(deps: FactDeps, namespace: string, name: string): PodFacts | undefined {
  const { statuses, state } = deps;
  const named = ({ metadata }: Pod): boolean => metadata.name === name && metadata.namespace === namespace;
  const pod = statuses.all().findLast(named) ?? state.pods.wanted().find(named);
  return pod === undefined ? undefined : factsOf(deps, pod);
}

/** Every pod that has a worker or waits for one. */
export function allPodFacts(deps: FactDeps): Record<PodUid, PodFacts> {
  const { statuses, state } = deps;
  return Object.fromEntries(
    [...state.pods.wanted(), ...statuses.all()].map((pod) => [pod.metadata.uid, factsOf(deps, pod)]),
  );
}

function factsOf({ state, volumes, kills, clock }: FactDeps, pod: Pod): PodFacts {
  const { uid } = pod.metadata;
  const wall = (steady: number): number => Math.round(steady + clock.now() - clock.steady());
  const worker = state.pods.get(uid);
  const waits = worker?.waits();
  const owner = worker === undefined ? state.pods.ownerOf(podFullName(pod)) : undefined;
  return omitUndefined({
    uid,
    worker: worker?.state,
    retry:
      waits?.retry !== undefined
        ? {
            message: waits.retry.message,
            failures: waits.retry.failures,
            nextTryAt: Math.round(clock.now() + Math.max(0, waits.retry.restMs)),
          }
        : undefined,
    startFailures: [...(waits?.startFailures ?? [])].map(([container, failure]) => ({
      container,
      reason: failure.reason,
      message: failure.message,
      failedAt: wall(failure.failedAt),
      nextTryAt: wall(failure.retryAt),
      tries: failure.count,
      ...failure.facts,
    })),
    volumes: volumes.describe(uid),
    ...kills.of(uid),
    stops: [...(waits?.stops ?? [])].map(([containerId, reason]) => ({ containerId, reason })),
    ...sandboxTime(state, uid),
    termination:
      waits?.termination !== undefined
        ? { reason: waits.termination.reason, deadline: wall(waits.termination.deadline) }
        : undefined,
    waitsFor: owner !== undefined && owner !== uid ? { uid: owner } : undefined,
  });
}

function sandboxTime({ cache }: PodState, uid: PodUid): { sandboxAt?: number } {
  const [sandbox] = cache.get(uid).sandboxes;
  return sandbox === undefined ? {} : { sandboxAt: nanosToMs(sandbox.createdAt) };
}

/**
 * Since when each pod is on this node. The record outlives the kubelet's process; a pod that another kubelet
 * started has none, but a sandbox.
 */
export function podStarts({ state, statuses }: FactDeps): Record<string, number> {
  const starts = statuses.all().map(({ metadata: { uid } }): [string, number | undefined] => {
    const recorded = Date.parse(state.records.get(uid)?.startTime ?? "");
    const { sandboxAt = NaN } = sandboxTime(state, uid);
    return [uid, [recorded, sandboxAt].filter((at) => !Number.isNaN(at)).sort((a, b) => a - b)[0]];
  });
  return Object.fromEntries(starts.filter((start): start is [string, number] => start[1] !== undefined));
}
