// The status of a terminated pod: every container must show a termination, and the phase a verdict.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { oncePer } from "../../../shared/base/objects/once-per.js";
import type { ApiContainerStatus, PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { isSidecar, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { isFinalPhase } from "../../model/phase.js";
import { podConditions } from "./conditions.js";
import { lostContainer, lostWhenTerminated } from "./container-state.js";

/**
 * Turns the last computed status into the final one. Call once all containers are stopped and none will start again.
 * @param now milliseconds since the epoch
 */
export function finalStatus(pod: Pod, status: PodStatus, isStatic: boolean, now: number): PodStatus {
  const initStatuses = status.initContainerStatuses ?? [];
  const reached = reachedInitContainers(initStatuses);
  const inits = initStatuses.map((container, index) => (index < reached ? terminated(container) : container));
  const ran = hadInitialized(pod, status);
  const regular = (status.containerStatuses ?? []).map((container) => (ran ? terminated(container) : container));
  const phase = !isStatic && !isFinalPhase(status.phase) ? "Failed" : status.phase;
  return omitUndefined({
    ...status,
    phase,
    initContainerStatuses: status.initContainerStatuses ? inits : undefined,
    containerStatuses: status.containerStatuses ? regular : undefined,
    conditions: podConditions({
      pod,
      phase,
      initStatuses: inits,
      statuses: regular,
      readyToStart: false,
      previous: status.conditions ?? [],
      now,
    }),
  });
}

/** Did the pod get past its init containers? @internal */
export function hadInitialized(pod: Pod, status: PodStatus): boolean {
  const inits = pod.spec.initContainers ?? [];
  if (inits.length === 0) return true;
  const moved = (status.containerStatuses ?? []).some(
    ({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined,
  );
  if (moved) return true;
  const last = status.initContainerStatuses?.at(-1);
  const container = inits.find(({ name }) => name === last?.name);
  if (last === undefined || container === undefined) return false;
  if (isSidecar(container)) return last.state.running !== undefined && last.started === true;
  return last.state.terminated?.exitCode === 0 || last.lastState.terminated?.exitCode === 0;
}

/** The number of init containers, from the first, that may have run; at least one. */
function reachedInitContainers(statuses: readonly ApiContainerStatus[]): number {
  const last = statuses.findLastIndex(
    ({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined,
  );
  return Math.max(last + 1, 1);
}

/** Made once: the pod may have ten thousand containers, whose texts are made ahead. */
const lost = oncePer((status: ApiContainerStatus): ApiContainerStatus => ({
  ...status,
  state: { terminated: lostContainer(lostWhenTerminated) },
  ready: false,
  started: false,
}));

function terminated(status: ApiContainerStatus): ApiContainerStatus {
  return status.state.terminated === undefined ? lost(status) : status;
}

/**
 * The status that may be reported now. While containers may still run, a pod that is about to become final keeps its
 * phase, reason and message. So no controller replaces a pod that still works.
 */
export function reportableStatus(previous: PodStatus | undefined, next: PodStatus, mayRun: boolean): PodStatus {
  if (!mayRun || previous === undefined || isFinalPhase(previous.phase) || !isFinalPhase(next.phase)) return next;
  const { phase, reason, message } = previous;
  const rest = { ...next };
  delete rest.reason;
  delete rest.message;
  return omitUndefined({ ...rest, phase, reason, message });
}
