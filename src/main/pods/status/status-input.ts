// What the status of a pod is computed from, with the settings of the node.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodStatus, ResourceStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodResources } from "../../model/pod-resources.js";
import type { ProbeResults } from "../../model/probe-results.js";
import type { PodFailure } from "../../model/refusal.js";
import type { RestartGates } from "../../model/restart.js";
import type { RestartingAll } from "../../model/step.js";
import type { StatusInput } from "./compute-pod-status.js";
import type { ConditionVerdict } from "./conditions.js";
import type { StartError } from "./container-status.js";

/** A pod runs with its allocated resources; its spec shows the desired resources. */
interface ShownResize {
  desired?: Pod | undefined;
  actuated?: PodResources | undefined;
  conditions: readonly ConditionVerdict[];
}

/** What statuses show of the node, and its gates. */
export interface StatusSettings {
  clock: Pick<Clock, "now">;
  /** Addresses of the node, the primary one first. */
  nodeIPs: () => readonly string[];
  /** Name of the runtime, "" until it has responded. */
  runtimeName: () => string;
  qosClass: (pod: Pod) => NonNullable<PodStatus["qosClass"]>;
  probes: ProbeResults;
  resize: (uid: PodUid) => ShownResize;
  gates: RestartGates;
  /** Gate InPlacePodLevelResourcesVerticalScaling: statuses show resources of the pod as a whole. */
  podLevelResources: boolean;
  /** Gate ContainerStopSignals: container statuses show the stop signal. */
  stopSignals: boolean;
  /** Gate ImageVolumeWithDigest: container statuses show the images of image volumes. */
  imageVolumeDigests: boolean;
  /** The pod's handler in the runtime can make mounts recursively read-only. Absent: it cannot. */
  recursiveReadOnly?: (pod: Pod) => boolean;
  /** All volumes that containers of the pod use are set up; absent: always. */
  volumesSetUp?: (pod: Pod) => boolean;
  /** Gate ChangeContainerStatusOnKubeletRestart: without a probe result a container does not stay started or ready. */
  changesOnRestart: boolean;
  /** Health of the devices that a container has; absent: not shown. */
  resourceHealth?: ((pod: Pod, container: string) => ResourceStatus[]) | undefined;
}

export interface StatusUpdate {
  pod: Pod;
  observed: ObservedPod;
  waiting: ReadonlyMap<string, StartError>;
  /** Nothing of the pod will start again. */
  final: boolean;
  /** The container whose postStart hook is under way. */
  inPostStart?: string | undefined;
  /** Names of containers that will be started again, with any exit code. */
  restarting?: ReadonlySet<string> | undefined;
  restartingAll?: RestartingAll | undefined;
  /** A container of the pod runs, or may start: it must not show a final phase. */
  mayRun: boolean;
  /** Nothing of the pod runs: this is its last status. */
  ended: boolean;
  /** Why the kubelet ends the pod. */
  failure?: PodFailure | undefined;
}

interface Given {
  update: StatusUpdate;
  /** With its status in the API server. */
  pod: Pod;
  previous: PodStatus | undefined;
  terminationMessages: NonNullable<StatusInput["terminationMessages"]>;
}

export function statusInput(
  deps: StatusSettings,
  { update, pod, previous, terminationMessages }: Given,
): StatusInput & { now: number } {
  const { observed, waiting, final, inPostStart, restarting, restartingAll, failure, mayRun } = update;
  const resize = deps.resize(pod.metadata.uid);
  const { resourceHealth } = deps;
  return {
    pod,
    observed,
    previous,
    startErrors: waiting,
    nodeIPs: deps.nodeIPs(),
    runtimeName: deps.runtimeName(),
    now: deps.clock.now(),
    qosClass: deps.qosClass(pod),
    podFinal: final,
    // While the pod runs, its containers alone determine the reported phase.
    failure: failure !== undefined && !mayRun ? failure : undefined,
    probes: deps.probes,
    terminationMessages,
    inPostStart,
    gates: deps.gates,
    podLevelResources: deps.podLevelResources,
    stopSignals: deps.stopSignals,
    imageVolumeDigests: deps.imageVolumeDigests,
    recursiveReadOnly: deps.recursiveReadOnly?.(pod) === true,
    volumesMissing: () => deps.volumesSetUp?.(pod) === false,
    changesOnRestart: deps.changesOnRestart,
    resourceHealth: resourceHealth !== undefined ? (container) => resourceHealth(pod, container) : undefined,
    resizeConditions: resize.conditions,
    actuated: resize.actuated,
    restarting,
    restartingAll,
  };
}
