// Joins a computed status with the one in the API server. A final phase never changes back, the start time stays, and
// conditions of other owners are unchanged. Pure.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { PodCondition, PodStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import { isFinalPhase } from "../../../model/phase.js";

/** Conditions that only the kubelet writes. DisruptionTarget is shared: the kubelet's counts if there is one. */
const OWN_TYPES = new Set([
  "PodScheduled",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodReadyToStartContainers",
  "PodResizePending",
  "PodResizeInProgress",
  "AllContainersRestarting",
]);

function isOwnCondition(type: string): boolean {
  return OWN_TYPES.has(type);
}

/** `api`: the server's present status. `keepsStart`: the server's startTime is kept, for all but static pods. */
export function shownStatus(computed: PodStatus, api: PodStatus | undefined, keepsStart: boolean): PodStatus {
  if (api === undefined) return computed;
  const shown: PodStatus = {
    ...computed,
    conditions: shownConditions(computed.conditions ?? [], api.conditions ?? []),
  };
  if (shown.conditions?.length === 0) delete shown.conditions;
  if (keepsStart && api.startTime != null) shown.startTime = api.startTime;
  if (api.qosClass !== undefined) shown.qosClass = api.qosClass;
  if (keepsStart && isFinalPhase(api.phase) && computed.phase !== api.phase) {
    const { phase, reason, message } = api;
    delete shown.reason;
    delete shown.message;
    return omitUndefined({ ...shown, phase, reason, message });
  }
  return shown;
}

function shownConditions(computed: readonly PodCondition[], api: readonly PodCondition[]): PodCondition[] {
  const known = new Map(api.map((condition) => [condition.type, condition]));
  const own = computed
    .filter(({ type }) => isOwnCondition(type) || type === "DisruptionTarget")
    .map((condition) => {
      const before = known.get(condition.type);
      if (before?.status !== condition.status || before.lastTransitionTime == null) return condition;
      return { ...condition, lastTransitionTime: before.lastTransitionTime };
    });
  const types = new Set(own.map(({ type }) => type));
  return [...own, ...api.filter(({ type }) => !isOwnCondition(type) && !types.has(type))];
}

/** Conditions of others, as one text: it changes when they do. */
export function foreignConditions(status: PodStatus | undefined): string {
  const foreign = (status?.conditions ?? []).filter(({ type }) => !isOwnCondition(type));
  return JSON.stringify(foreign.map(({ type, status: value }) => [type, value]).sort());
}

/** The previous status for the next computation: others' conditions are as the API server has them. */
export function withForeign(own: PodStatus, api: PodStatus | undefined): PodStatus {
  if (api === undefined) return own;
  const ours = (own.conditions ?? []).filter(({ type }) => isOwnCondition(type) || type === "DisruptionTarget");
  const types = new Set(ours.map(({ type }) => type));
  const theirs = (api.conditions ?? []).filter(({ type }) => !isOwnCondition(type) && !types.has(type));
  return ours.length + theirs.length === 0 ? own : { ...own, conditions: [...ours, ...theirs] };
}
