// The status of a pod, computed from its spec, the runtime's state, and the previous status. Pure: the same input
// yields the same status, and a status computed from itself does not change.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import {
  isConditionTrue,
  type ApiContainerStatus,
  type PodPhase,
  type PodStatus,
  type QOSClass,
  type ResourceStatus,
} from "../../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import { ContainerState as CriState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { isFinalPhase, podPhase, restartingAllReason } from "../../model/phase.js";
import { ipFields, podIPs } from "../../model/pod-ips.js";
import type { PodResources } from "../../model/pod-resources.js";
import { type ProbeResults, noProbeResults } from "../../model/probe-results.js";
import type { PodFailure } from "../../model/refusal.js";
import { type RestartGates, defaultRestartGates } from "../../model/restart.js";
import { needsNewSandbox } from "../../model/sandbox-need.js";
import { statusesByName } from "../../model/statuses-by-name.js";
import type { RestartingAll } from "../../model/step.js";
import { podConditions, type ConditionVerdict } from "./conditions.js";
import {
  type ContainerGroup,
  type GroupInput,
  type StartError,
  containerStatuses,
  statusesAhead,
} from "./container-status.js";
import { podLevelResources } from "./pod-level-resources.js";
import { limitMessages } from "./termination-message.js";

export interface StatusInput {
  pod: Pod;
  /** Undefined when the runtime was not inspected yet: everything is waiting then. */
  observed: ObservedPod | undefined;
  /** The status computed last; without one, the status the source gave with the pod. */
  previous?: PodStatus | undefined;
  /** Container name to why it was not started by the last sync, back-offs included. */
  startErrors?: ReadonlyMap<string, StartError>;
  /** The node's addresses, primary first. */
  nodeIPs: readonly string[];
  /** From CRI Version: the scheme of container ids, "containerd". */
  runtimeName: string;
  /** Milliseconds since the epoch. */
  now: number;
  qosClass?: QOSClass;
  /** The pod worker starts nothing more in this pod. */
  podFinal?: boolean;
  failure?: PodFailure | undefined;
  probes?: ProbeResults;
  /** Read from their files or logs. */
  terminationMessages?: ReadonlyMap<ContainerId, string>;
  /** The container whose postStart hook is under way: it runs, but neither started nor ready. */
  inPostStart?: string | undefined;
  /**
   * The rule RestartAllContainers fired: whether the restart is in progress, and the removed containers that do not run
   * again yet.
   */
  restartingAll?: RestartingAll | undefined;
  /** Names of containers that will be started again, with any exit code. */
  restarting?: ReadonlySet<string> | undefined;
  gates?: RestartGates;
  /** The resources last applied to the pod's containers; the pod itself has its allocated resources. */
  actuated?: PodResources | undefined;
  resizeConditions?: readonly ConditionVerdict[];
  /** Gate InPlacePodLevelResourcesVerticalScaling: the status shows resources of the pod as a whole. */
  podLevelResources: boolean;
  /** Gate ContainerStopSignals, off by default in 1.36. */
  stopSignals: boolean;
  /** Gate ImageVolumeWithDigest: container statuses show the images of image volumes. */
  imageVolumeDigests: boolean;
  /** The pod's handler in the runtime can make mounts recursively read-only. Absent: it cannot, or is not known. */
  recursiveReadOnly?: boolean;
  /** A volume that a container of the pod uses is not set up yet. Absent: all are. */
  volumesMissing?: () => boolean;
  /** Gate ChangeContainerStatusOnKubeletRestart: without a probe result a container does not stay started or ready. */
  changesOnRestart: boolean;
  /** Gate ResourceHealthStatus: of the devices that an app container has. */
  resourceHealth?: ((container: string) => ResourceStatus[]) | undefined;
}

export const deadlineMessage = "Pod was active on the node longer than the specified deadline";

export function computePodStatus(input: StatusInput): PodStatus {
  const { pod, observed, now } = input;
  const old = input.previous ?? pod.status;
  const { spec } = pod;
  const inits = group(input, "init", spec.initContainers, old?.initContainerStatuses);
  const regular = withResourceHealth(
    input,
    group(input, "app", spec.containers, old?.containerStatuses),
    old?.containerStatuses,
  );
  const ephemeral = group(input, "ephemeral", spec.ephemeralContainers, old?.ephemeralContainerStatuses);
  const startTime = old?.startTime ?? pod.status?.startTime ?? apiTime(now);
  const verdict = phaseVerdict(input, old, startTime, inits, regular);
  const generation = pod.metadata.generation;
  const status: PodStatus = omitUndefined({
    phase: verdict.phase,
    observedGeneration: generation,
    conditions: podConditions({
      pod,
      phase: verdict.phase,
      initStatuses: inits,
      statuses: regular,
      readyToStart: readyToStart(input, old),
      previous: old?.conditions ?? [],
      restartingAll: isRestartingAll(input, [...inits, ...regular]),
      resize: input.resizeConditions,
      disruption: input.failure?.disruption,
      now,
    }),
    message: verdict.message,
    reason: verdict.reason,
    ...ipFields(podIPs(pod, observed, input.nodeIPs, old), input.nodeIPs),
    startTime,
    initContainerStatuses: inits.length > 0 ? inits : undefined,
    containerStatuses: regular,
    ephemeralContainerStatuses: ephemeral.length > 0 ? ephemeral : undefined,
    qosClass: input.qosClass,
    ...(input.podLevelResources && podLevelResources(pod, verdict.phase, input.actuated)),
  });
  return limitMessages(pod, status);
}

/** The part of {@link computePodStatus} that grows with the number of containers, in steps. Its result is kept. */
export function* computeAhead(input: StatusInput): Generator<void, void> {
  const { spec, status } = input.pod;
  const old = input.previous ?? status;
  yield* statusesAhead(groupInput(input, "init", spec.initContainers, old?.initContainerStatuses));
  yield* statusesAhead(groupInput(input, "app", spec.containers, old?.containerStatuses));
  yield* statusesAhead(groupInput(input, "ephemeral", spec.ephemeralContainers, old?.ephemeralContainerStatuses));
}

/**
 * A current sandbox is ready, and the volumes are set up. Upstream creates the sandbox after the volumes; here it may
 * be there before them (runtime/sandboxes-ahead.ts). Once true, only the sandbox counts.
 */
function readyToStart({ pod, observed, volumesMissing }: StatusInput, old: PodStatus | undefined): boolean {
  const sandbox = observed?.sandboxes[0];
  if (observed === undefined || sandbox === undefined || needsNewSandbox(pod, observed).create) return false;
  return (
    isConditionTrue(old, "PodReadyToStartContainers") ||
    observed.containers.some(({ createdAt }) => createdAt >= sandbox.createdAt) ||
    volumesMissing?.() !== true
  );
}

/** A container that has released its devices shows their last health. */
function withResourceHealth(
  { resourceHealth }: StatusInput,
  statuses: ApiContainerStatus[],
  previous: readonly ApiContainerStatus[] = [],
): ApiContainerStatus[] {
  if (resourceHealth === undefined) return statuses;
  const before = statusesByName(previous);
  return statuses.map((status) => {
    const now = resourceHealth(status.name);
    const allocatedResourcesStatus = now.length > 0 ? now : before.get(status.name)?.allocatedResourcesStatus;
    return allocatedResourcesStatus === undefined ? status : { ...status, allocatedResourcesStatus };
  });
}

/** Until every removed container exists again, or waits for its own reason. */
function isRestartingAll({ restartingAll }: StatusInput, statuses: readonly ApiContainerStatus[]): boolean {
  if (restartingAll?.active === true) return true;
  return statuses.some(({ state }) => state.waiting?.reason === restartingAllReason);
}

/** Status of a rejected pod: no container of it ever ran. `message` is the handler's. */
export function rejectedPodStatus(reason: string, message: string, qosClass: QOSClass, now: number): PodStatus {
  return { phase: "Failed", reason, message: `Pod was rejected: ${message}`, qosClass, startTime: apiTime(now) };
}

/** Has the pod used up its activeDeadlineSeconds? */
function pastActiveDeadline(pod: Pod, startTime: string | null | undefined, now: number): boolean {
  const seconds = pod.spec.activeDeadlineSeconds;
  return seconds !== undefined && startTime != null && now - Date.parse(startTime) >= seconds * 1000;
}

function group(
  input: StatusInput,
  kind: ContainerGroup,
  containers: readonly Container[] | undefined,
  previous: readonly ApiContainerStatus[] | undefined,
): ApiContainerStatus[] {
  return containerStatuses(groupInput(input, kind, containers, previous));
}

function groupInput(
  input: StatusInput,
  kind: ContainerGroup,
  containers: readonly Container[] = [],
  previous: readonly ApiContainerStatus[] = [],
): GroupInput {
  return {
    pod: input.pod,
    group: kind,
    containers,
    observed: input.observed?.containers ?? [],
    previous,
    startErrors: input.startErrors ?? new Map<string, StartError>(),
    removedForRestartAll: input.restartingAll?.removed ?? new Set<string>(),
    restarting: input.restarting ?? new Set<string>(),
    probes: input.probes ?? noProbeResults,
    runtimeName: input.runtimeName,
    terminationMessages: input.terminationMessages ?? new Map<ContainerId, string>(),
    actuated: input.actuated,
    stopSignals: input.stopSignals,
    imageVolumeDigests: input.imageVolumeDigests,
    recursiveReadOnly: input.recursiveReadOnly === true,
    changesOnRestart: input.changesOnRestart,
    gates: input.gates ?? defaultRestartGates,
    inPostStart: input.inPostStart,
  };
}

interface PhaseVerdict {
  phase: PodPhase;
  reason?: string;
  message?: string;
}

/** The computed phase and its overrides, in order. */
function phaseVerdict(
  input: StatusInput,
  old: PodStatus | undefined,
  startTime: string | null,
  initStatuses: readonly ApiContainerStatus[],
  statuses: readonly ApiContainerStatus[],
): PhaseVerdict {
  const { pod } = input;
  const api = pod.status;
  let phase = podPhase({
    spec: pod.spec,
    initStatuses,
    statuses,
    startedInSandbox: startedInLiveSandbox(input),
    podFinal: input.podFinal === true,
    isStatic: isStaticPod(pod),
    gates: input.gates,
    restarting: input.restarting,
  });
  if (!isFinalPhase(phase)) {
    if (old !== undefined && isFinalPhase(old.phase)) phase = old.phase;
    else if (api !== undefined && isFinalPhase(api.phase)) phase = api.phase;
  }
  const verdict: PhaseVerdict = { phase };
  if (phase === old?.phase) {
    const reason = old.reason || api?.reason;
    const message = old.message || api?.message;
    if (reason) verdict.reason = reason;
    if (message) verdict.message = message;
  }
  const ended = input.failure ?? deadlineFailure(input, startTime, phase);
  // As upstream's generateAPIPodStatus: a pod that the kubelet ends is Succeeded when all its containers exited with 0.
  if (ended !== undefined && (phase !== "Succeeded" || ended.always === true)) {
    Object.assign(verdict, { phase: "Failed", reason: ended.reason, message: ended.message });
  }
  if (api !== undefined && isFinalPhase(api.phase)) verdict.phase = api.phase;
  return verdict;
}

function deadlineFailure(input: StatusInput, startTime: string | null, phase: PodPhase): PodFailure | undefined {
  // A pod that came to its end in time is not late afterwards.
  if (isFinalPhase(phase) || !pastActiveDeadline(input.pod, startTime, input.now)) return undefined;
  return { reason: "DeadlineExceeded", message: deadlineMessage };
}

function startedInLiveSandbox({ pod, observed }: StatusInput): boolean {
  const sandbox = observed?.sandboxes[0];
  if (observed === undefined || sandbox === undefined || needsNewSandbox(pod, observed).create) return false;
  // CRI does not report the sandbox of a container status; a container created after the newest sandbox is in it.
  return observed.containers.some(
    ({ metadata, createdAt, state }) =>
      createdAt >= sandbox.createdAt &&
      (state === CriState.CONTAINER_RUNNING || state === CriState.CONTAINER_EXITED) &&
      containerNamed(pod.spec, metadata?.name ?? "")?.place === "app",
  );
}
