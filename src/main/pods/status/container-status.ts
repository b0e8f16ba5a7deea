// API statuses of a group of containers (init, regular or ephemeral), with values carried over from the previous
// status. Invariant: a termination once observed is never lost here.

import { oncePer } from "../../../shared/base/objects/once-per.js";
import { inSteps } from "../../../shared/base/turns/loop-share.js";
import type { ApiContainerStatus, ContainerState } from "../../../shared/kubernetes/api/pod-status.js";
import { isSidecar, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState as CriState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { restartingAllReason } from "../../model/phase.js";
import type { PodResources } from "../../model/pod-resources.js";
import type { ProbeResults } from "../../model/probe-results.js";
import { type RestartGates, mayStart } from "../../model/restart.js";
import { isLong, textOfPart } from "../../model/status-text.js";
import { statusesByName } from "../../model/statuses-by-name.js";
import { earlierState, lostContainer, mountsShown, observedStatus } from "./container-state.js";
import { KeptStatuses } from "./kept-statuses.js";

/** Reason why the last sync did not start a container: the waiting reason and its text. */
export interface StartError {
  reason: string;
  message: string;
}

/** Statuses of containers that are computed in one turn of the loop. */
const STATUSES_AT_ONCE = 250;

export type ContainerGroup = "init" | "app" | "ephemeral";

export interface GroupInput {
  pod: Pod;
  group: ContainerGroup;
  containers: readonly Container[];
  /** All of the pod's CRI containers, newest first. */
  observed: readonly ObservedContainer[];
  previous: readonly ApiContainerStatus[];
  startErrors: ReadonlyMap<string, StartError>;
  /** Names of containers removed by the RestartAllContainers rule and not created again yet. */
  removedForRestartAll: ReadonlySet<string>;
  /** Names of containers that will be started again, with any exit code. */
  restarting: ReadonlySet<string>;
  probes: ProbeResults;
  runtimeName: string;
  terminationMessages: ReadonlyMap<ContainerId, string>;
  actuated?: PodResources | undefined;
  stopSignals: boolean;
  /** Gate ImageVolumeWithDigest: container statuses show the images of image volumes. */
  imageVolumeDigests: boolean;
  /** The runtime can make mounts of the pod recursively read-only. */
  recursiveReadOnly: boolean;
  /** Gate ChangeContainerStatusOnKubeletRestart: without a probe result a container does not stay started or ready. */
  changesOnRestart: boolean;
  gates: RestartGates;
  /** Its postStart hook runs: the container is not yet ready for use. */
  inPostStart?: string | undefined;
}

const lostWhenDeleted =
  "The container could not be located when the pod was deleted.  The container used to be Running";
const lostInit =
  "Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally";
const removedMessage = "The container is removed because RestartAllContainers in place";

/** The kept statuses of each list of a spec with many containers. */
const keptStatuses = oncePer((_containers: readonly Container[]) => new KeptStatuses());

/** Statuses in spec order for init containers, by name for the others. */
export function containerStatuses(input: GroupInput): ApiContainerStatus[] {
  if (input.containers.length === 0) return [];
  const known = knownOf(input);
  return inOrder(input).map(statusOfEach(input, known));
}

/**
 * Computes the statuses of a group with many containers, so that {@link containerStatuses} finds them. The work between
 * two yields has a bound.
 */
export function* statusesAhead(input: GroupInput): Generator<void, void> {
  if (!isLong(input.containers)) return;
  const of = statusOfEach(input, knownOf(input));
  yield* inSteps(inOrder(input), STATUSES_AT_ONCE, (container) => void textOfPart(of(container)));
}

function inOrder({ group, containers }: GroupInput): readonly Container[] {
  return group === "init" ? containers : sortedByName(containers);
}

function statusOfEach(input: GroupInput, known: Known): (container: Container) => ApiContainerStatus {
  if (!isLong(input.containers)) return (container) => containerStatus(input, known, container);
  const kept = keptStatuses(input.containers);
  kept.begin(sharedFacts(input, known));
  return (container) => {
    const previous = known.previous.get(container.name);
    const facts = ownFacts(input, known, container);
    return kept.get(container, facts, previous, () => containerStatus(input, known, container));
  };
}

/** All that the statuses of a group are computed from, beside what each container has of its own. */
function sharedFacts(input: GroupInput, { anyRegularExists }: Known): readonly unknown[] {
  const { pod, group, runtimeName, gates } = input;
  return [
    ...[
      group,
      runtimeName,
      gates,
      anyRegularExists,
      pod.spec.restartPolicy,
      (pod.spec.initContainers ?? []).length > 0,
    ],
    ...[pod.metadata.deletionTimestamp === undefined, input.stopSignals, input.imageVolumeDigests],
    ...[input.recursiveReadOnly, input.changesOnRestart],
  ];
}

/** All that {@link containerStatus} reads of one container, its definition and previous status apart. */
function ownFacts(input: GroupInput, known: Known, { name }: Container): readonly unknown[] {
  const { probes, startErrors, terminationMessages } = input;
  const [newest, before] = known.observed.get(name) ?? [];
  const error = startErrors.get(name);
  const id = newest?.id;
  return [
    newest,
    before,
    error?.reason,
    error?.message,
    input.removedForRestartAll.has(name),
    input.restarting.has(name),
    input.inPostStart === name,
    id && probes.startup(id),
    id && probes.readiness(id),
    id && terminationMessages.get(id),
    before && terminationMessages.get(before.id),
    input.actuated?.containers[name],
  ];
}

/** A list of a spec never changes. */
const sortedByName = oncePer((containers: readonly Container[]): readonly Container[] =>
  containers.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
);

/** By name, found once: a pod may have thousands of containers. */
interface Known {
  observed: ReadonlyMap<string, readonly ObservedContainer[]>;
  previous: ReadonlyMap<string, ApiContainerStatus>;
  anyRegularExists: boolean;
}

/** An observation never changes, and three groups look into it. */
const observedByName = oncePer((observed: readonly ObservedContainer[]): Known["observed"] => {
  const byName = new Map<string, ObservedContainer[]>();
  for (const status of observed) {
    const own = byName.get(nameOf(status));
    if (own === undefined) byName.set(nameOf(status), [status]);
    else own.push(status);
  }
  return byName;
});

function knownOf({ pod, observed, previous }: GroupInput): Known {
  const byName = observedByName(observed);
  return {
    observed: byName,
    previous: statusesByName(previous),
    anyRegularExists: pod.spec.containers.some(({ name }) => byName.has(name)),
  };
}

function containerStatus(input: GroupInput, known: Known, container: Container): ApiContainerStatus {
  const previous = known.previous.get(container.name);
  const [newest, before] = known.observed.get(container.name) ?? [];
  let status: ApiContainerStatus;
  if (newest === undefined) {
    status = unobservedStatus(input, known, container, previous);
  } else {
    status = observedStatus({ ...input, container, observed: newest, previous });
    if (before !== undefined) {
      status.lastState = earlierState({ ...input, observed: before });
    } else if (previous?.lastState.terminated?.reason === restartingAllReason) {
      // Only the previous status shows a container that the kubelet removed on purpose.
      status.lastState = previous.lastState;
    }
  }
  if (newest === undefined && isRemoved(input, container, previous)) status = removedStatus(status, previous);
  status = withStartError(input, container, newest, status);
  return withReadiness(input, container, newest?.id, previous, status);
}

function nameOf(status: ObservedContainer): string {
  return status.metadata?.name ?? "";
}

function defaultStatus(input: GroupInput, container: Container): ApiContainerStatus {
  const hasInit = (input.pod.spec.initContainers ?? []).length > 0;
  return {
    name: container.name,
    state: { waiting: { reason: hasInit ? "PodInitializing" : "ContainerCreating" } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: container.image ?? "",
    imageID: "",
    ...mountsShown(container, { recursive: input.recursiveReadOnly }),
  };
}

/** Status of a container that the runtime does not list. */
function unobservedStatus(
  input: GroupInput,
  { anyRegularExists }: Known,
  container: Container,
  previous: ApiContainerStatus | undefined,
): ApiContainerStatus {
  if (previous?.state.terminated !== undefined) return { ...previous };
  const status = defaultStatus(input, container);
  if (previous !== undefined) {
    status.restartCount = previous.restartCount;
    status.lastState = previous.lastState;
  }
  if (input.group === "init" && !isSidecar(container) && anyRegularExists) {
    const terminated = { exitCode: 0, reason: "Completed", message: lostInit, startedAt: null, finishedAt: null };
    return { ...status, state: { terminated } };
  }
  if (previous?.state.running !== undefined && status.lastState.terminated === undefined) {
    status.lastState = { terminated: lostContainer(lostWhenDeleted) };
    // A pod that stays gets the container again: that is a restart.
    if (input.pod.metadata.deletionTimestamp === undefined) status.restartCount += 1;
  }
  return status;
}

/** An earlier kubelet's word for it counts too. */
function isRemoved(input: GroupInput, { name }: Container, previous: ApiContainerStatus | undefined): boolean {
  if (input.group === "ephemeral") return false;
  return input.removedForRestartAll.has(name) || previous?.state.waiting?.reason === restartingAllReason;
}

function removedStatus(status: ApiContainerStatus, previous: ApiContainerStatus | undefined): ApiContainerStatus {
  // The count rises once, when the removal is first observed; later waits were counted.
  const counted =
    previous?.state.waiting !== undefined && previous.lastState.terminated?.reason === restartingAllReason;
  const terminated = {
    exitCode: 137,
    reason: restartingAllReason,
    message: removedMessage,
    startedAt: null,
    finishedAt: null,
  };
  return {
    ...status,
    state: { waiting: { reason: restartingAllReason, message: removedMessage } },
    lastState: { terminated },
    restartCount: (previous?.restartCount ?? status.restartCount) + (counted ? 0 : 1),
  };
}

/** A container that should run but could not be started waits, with the reason. */
function withStartError(
  input: GroupInput,
  container: Container,
  newest: ObservedContainer | undefined,
  status: ApiContainerStatus,
): ApiContainerStatus {
  const error = input.startErrors.get(container.name);
  if (error === undefined) return status;
  const exited = newest?.state === CriState.CONTAINER_EXITED;
  const sidecar = input.group === "init" && isSidecar(container);
  if (input.group === "init" && !sidecar && exited && newest.exitCode === 0) return status;
  // Ephemeral containers are started once.
  if (input.group === "ephemeral" && exited) return status;
  const restarts = input.restarting.has(container.name) || (sidecar && exited);
  if (!restarts && !mayStart(input.pod, container, newest, input.gates)) return status;
  const waiting: ContainerState = { waiting: { reason: error.reason, message: error.message } };
  const ended = status.state.terminated !== undefined;
  return { ...status, state: waiting, lastState: ended ? status.state : status.lastState };
}

function withReadiness(
  input: GroupInput,
  container: Container,
  id: ContainerId | undefined,
  previous: ApiContainerStatus | undefined,
  status: ApiContainerStatus,
): ApiContainerStatus {
  const running = status.state.running !== undefined;
  // After a restart of the kubelet the old probe results hold for the same container, until probes have run again.
  const same =
    !input.changesOnRestart && previous?.containerID !== undefined && previous.containerID === status.containerID;
  const startup = id === undefined ? undefined : input.probes.startup(id);
  const started =
    running &&
    input.inPostStart !== container.name &&
    (container.startupProbe === undefined ||
      (startup === undefined ? same && previous.started === true : startup === "Success"));
  if (input.group === "init" && !isSidecar(container)) {
    return { ...status, started, ready: status.state.terminated?.exitCode === 0 };
  }
  // Upstream knows no start of these.
  if (input.group === "ephemeral") return { ...status, ready: false };
  const readiness = id === undefined ? undefined : input.probes.readiness(id);
  const ready =
    started &&
    (container.readinessProbe === undefined ||
      (readiness === undefined ? same && previous.ready : readiness === "Success"));
  return { ...status, started, ready };
}
