// The pod phase: counters over the containers' API statuses, then the first rule that matches.

import type { ApiContainerStatus, PodPhase } from "../../shared/kubernetes/api/pod-status.js";
import { isSidecar, type Container, type PodSpec } from "../../shared/kubernetes/api/pod.js";
import type { RestartGates } from "./restart.js";
import { defaultRestartGates, restartsAfterExit } from "./restart.js";
import { statusesByName } from "./statuses-by-name.js";

export const restartingAllReason = "RestartingAllContainers";

export interface PhaseInput {
  spec: PodSpec;
  initStatuses: readonly ApiContainerStatus[];
  statuses: readonly ApiContainerStatus[];
  /** A regular container has started in the live sandbox. */
  startedInSandbox: boolean;
  /** The pod worker starts no more containers: the pod is terminated, or terminating for good. */
  podFinal: boolean;
  isStatic: boolean;
  gates?: RestartGates | undefined;
  /** Names of containers that will be started again, with any exit code. */
  restarting?: ReadonlySet<string> | undefined;
}

interface Counters {
  unknown: number;
  pendingInit: number;
  failedInit: number;
  failedInitFinal: number;
  pendingSidecar: number;
  waiting: number;
  running: number;
  stopped: number;
  stoppedFinal: number;
  succeeded: number;
}

export function podPhase(input: PhaseInput): PodPhase {
  const gates = input.gates ?? defaultRestartGates;
  const { restartPolicy = "Always" } = input.spec;
  const count = countContainers(input, gates);
  if (gates.containerRestartRules) {
    if (count.failedInitFinal > 0) return "Failed";
  } else if (count.failedInit > 0 && restartPolicy === "Never") {
    return "Failed";
  }
  if (count.pendingInit > 0) return "Pending";
  if (count.pendingSidecar > 0 && !input.startedInSandbox) return "Pending";
  if (count.waiting > 0) return "Pending";
  if (count.running > 0 && count.unknown === 0) return "Running";
  if (count.running > 0 || count.stopped === 0 || count.unknown > 0) return "Pending";
  const allSucceeded = count.stopped === count.succeeded;
  if (input.podFinal && !input.isStatic) return allSucceeded ? "Succeeded" : "Failed";
  if (gates.containerRestartRules) {
    if (count.stopped !== count.stoppedFinal) return "Running";
    return allSucceeded ? "Succeeded" : "Failed";
  }
  if (restartPolicy === "Always") return "Running";
  if (allSucceeded) return "Succeeded";
  return restartPolicy === "Never" ? "Failed" : "Running";
}

export function isFinalPhase(phase: PodPhase | undefined): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function countContainers(input: PhaseInput, gates: RestartGates): Counters {
  const count: Counters = {
    unknown: 0,
    pendingInit: 0,
    failedInit: 0,
    failedInitFinal: 0,
    pendingSidecar: 0,
    waiting: 0,
    running: 0,
    stopped: 0,
    stoppedFinal: 0,
    succeeded: 0,
  };
  const { spec } = input;
  const restarts = (container: Container, exitCode: number): boolean =>
    input.restarting?.has(container.name) === true || restartsAfterExit(spec, container, exitCode, gates);
  const initStatuses = statusesByName(input.initStatuses);
  for (const container of spec.initContainers ?? []) {
    const status = initStatuses.get(container.name);
    if (isSidecar(container)) countSidecar(count, status);
    else countInit(count, status, (exitCode) => restarts(container, exitCode));
  }
  const statuses = statusesByName(input.statuses);
  for (const container of spec.containers) {
    countRegular(count, statuses.get(container.name), (exitCode) => restarts(container, exitCode));
  }
  return count;
}

function countInit(
  count: Counters,
  status: ApiContainerStatus | undefined,
  restarts: (exitCode: number) => boolean,
): void {
  const ended = status?.state.terminated ?? (status?.state.waiting && status.lastState.terminated);
  if (ended === undefined) {
    count.pendingInit++;
    return;
  }
  if (ended.exitCode === 0) return;
  count.failedInit++;
  if (!restarts(ended.exitCode) && ended.reason !== restartingAllReason) count.failedInitFinal++;
}

function countSidecar(count: Counters, status: ApiContainerStatus | undefined): void {
  if (status === undefined) {
    count.unknown++;
    return;
  }
  const { state, lastState } = status;
  if (state.running !== undefined) {
    count.running++;
    if (status.started !== true) count.pendingSidecar++;
  } else if (state.terminated !== undefined || (state.waiting !== undefined && lastState.terminated !== undefined)) {
    return;
  } else if (state.waiting !== undefined) {
    count.pendingSidecar++;
    count.waiting++;
  } else {
    count.pendingSidecar++;
    count.unknown++;
  }
}

function countRegular(
  count: Counters,
  status: ApiContainerStatus | undefined,
  restarts: (exitCode: number) => boolean,
): void {
  const state = status?.state ?? {};
  if (state.running !== undefined) {
    count.running++;
    return;
  }
  const ended = state.terminated ?? (state.waiting && status?.lastState.terminated);
  if (ended !== undefined) {
    count.stopped++;
    if (state.terminated?.exitCode === 0) count.succeeded++;
    if (!restarts(ended.exitCode) && ended.reason !== restartingAllReason) {
      count.stoppedFinal++;
    }
  } else if (state.waiting !== undefined) {
    count.waiting++;
  } else {
    count.unknown++;
  }
}
