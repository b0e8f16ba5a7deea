// The delay for which a status change may wait, so that several changes share one patch. Controllers wait for
// terminated pods, readiness and the first Running. A first status and a new sandbox are reported with the containers.
// A change of a pod under deletion is reported with its last change.
// Invariant: a change that lasts longer than these times is always sent. The final phase of a pod under deletion is
// sent at the latest when its sandbox stops, as upstream does.

import { isConditionTrue, type PodStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import { sameJson } from "../../../../shared/kubernetes/api/same-json.js";
import { isFinalPhase } from "../../../model/phase.js";

/** A change that no client waits for is sent with those that follow it closely, milliseconds. */
const HOLD_MS = 100;
/** A change that alone is unimportant, before a more important one. */
const LONG_MS = 1000;
/**
 * A started sandbox before its first container runs. Pods of a burst wait for each other, and only a pull takes
 * longer.
 */
const SANDBOX_MS = 2000;
/** In a burst each waiting pod makes the others slower: a status that rides waits so much longer for each of them. */
const CROWD_MS = 100;
const MOST_CROWD_MS = 4000;

export interface StatusChange {
  /** The status in the API server. */
  api: PodStatus | undefined;
  /** The status that this kubelet sent last; undefined: none. */
  sent: PodStatus | undefined;
  next: PodStatus;
  /** The server is deleting the object. */
  isDeleting: boolean;
  /** Other pods whose statuses wait for further changes. */
  othersWaiting: number;
}

/** `wait` in milliseconds; 0: it is sent at once. `stage`: the wait for another stage starts again. */
export interface Hold {
  wait: number;
  stage: "now" | "soon" | "rides" | "ends";
}

const NOW: Hold = { wait: 0, stage: "now" };

export function holdOf(change: StatusChange): Hold {
  const hold = holdAlone(change);
  const isPatient = hold.stage === "rides" || hold.stage === "ends";
  return isPatient ? { ...hold, wait: hold.wait + Math.min(change.othersWaiting * CROWD_MS, MOST_CROWD_MS) } : hold;
}

/** The hold when no other status waits. */
function holdAlone({ api, sent, next, isDeleting }: StatusChange): Hold {
  if (isFinalPhase(next.phase)) {
    if (isDeleting && !isFinalPhase(api?.phase) && hasSandbox(next)) return { wait: LONG_MS, stage: "ends" };
    return sent !== undefined && isMinorChange(sent, next) ? { wait: LONG_MS, stage: "rides" } : NOW;
  }
  if (next.phase === "Running" && api?.phase !== "Running") return NOW;
  if (isConditionTrue(api, "Ready") !== isConditionTrue(next, "Ready")) return NOW;
  if (sent === undefined && isFirst(api, next)) return { wait: LONG_MS, stage: "rides" };
  if (sent !== undefined && isMinorChange(sent, next)) {
    return { wait: next.phase === "Pending" ? SANDBOX_MS : LONG_MS, stage: "rides" };
  }
  return { wait: HOLD_MS, stage: "soon" };
}

/** The server has no status of this kubelet. The new one only states that the containers are not created yet. */
function isFirst(
  api: PodStatus | undefined,
  { phase, initContainerStatuses = [], containerStatuses = [] }: PodStatus,
): boolean {
  const containers = [...initContainerStatuses, ...containerStatuses];
  const isNew = phase === "Pending" && api?.startTime == null && containers.length > 0;
  return isNew && containers.every(({ state }) => BEFORE_CREATION.has(state.waiting?.reason ?? ""));
}

/** Reasons of a container that waits for its sandbox, its image or its predecessors. */
const BEFORE_CREATION = new Set(["ContainerCreating", "PodInitializing"]);

/** True if only the sandbox condition, the pod IPs or observedGeneration changed. */
function isMinorChange(before: PodStatus, next: PodStatus): boolean {
  return sameJson(rest(before), rest(next));
}

/** The part of the status that other components may wait for. */
function rest({ conditions = [], ...status }: PodStatus): object {
  const others = conditions.filter(({ type }) => type !== SANDBOX);
  return { ...status, ...UNHEEDED, conditions: others.map((condition) => ({ ...condition, ...LOOKED_AT })) };
}

const LOOKED_AT = { observedGeneration: undefined };
const UNHEEDED = { ...LOOKED_AT, podIP: undefined, podIPs: undefined };

const SANDBOX = "PodReadyToStartContainers";

function hasSandbox(status: PodStatus): boolean {
  return isConditionTrue(status, SANDBOX);
}
