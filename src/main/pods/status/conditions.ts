// Pod conditions. The kubelet owns the types below and leaves every other one unchanged.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { quote } from "../../../shared/base/text/quote.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import type { ApiContainerStatus, PodCondition, PodPhase } from "../../../shared/kubernetes/api/pod-status.js";
import { isSidecar, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import { statusesByName } from "../../model/statuses-by-name.js";

/** The decision of a rule; times and generation are added when it joins the list. */
export type ConditionVerdict = Pick<PodCondition, "type" | "status" | "reason" | "message">;

export interface ConditionsInput {
  pod: Pod;
  phase: PodPhase;
  initStatuses: readonly ApiContainerStatus[];
  statuses: readonly ApiContainerStatus[];
  /** A ready, current sandbox exists, and the volumes are set up. */
  readyToStart: boolean;
  /** Conditions before this computation: the source of transition times, and of conditions that others own. */
  previous: readonly PodCondition[];
  /** The RestartAllContainers rule fired and is not done yet. */
  restartingAll?: boolean;
  /** PodResizePending and PodResizeInProgress, where they hold now. */
  resize?: readonly ConditionVerdict[] | undefined;
  /** Text of a DisruptionTarget condition, when the kubelet itself ends the pod (eviction, preemption, shutdown). */
  disruption?: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/** These conditions are removed when they no longer hold, unlike the others, which become False. */
const RESIZE_TYPES = ["PodResizePending", "PodResizeInProgress"];

/** All conditions of the status: the kubelet's own first, then those it keeps untouched. */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const containersReady = containersReadyVerdict(input);
  const verdicts: ConditionVerdict[] = [
    { type: "PodReadyToStartContainers", status: input.readyToStart ? "True" : "False" },
    initializedVerdict(input),
    readyVerdict(input, containersReady),
    containersReady,
    { type: "PodScheduled", status: "True" },
    ...restartingAllVerdict(input),
    ...disruptionVerdict(input),
    ...(input.resize ?? []),
  ];
  const generation = input.pod.metadata.generation;
  const own = verdicts.map((verdict) => stamp(verdict, input, generation));
  const ownTypes = new Set([...own.map(({ type }) => type), ...RESIZE_TYPES]);
  return [...own, ...input.previous.filter(({ type }) => !ownTypes.has(type))];
}

function stamp(verdict: ConditionVerdict, input: ConditionsInput, generation: number | undefined): PodCondition {
  const old = input.previous.find(({ type }) => type === verdict.type);
  const kept = old?.status === verdict.status ? old.lastTransitionTime : undefined;
  return omitUndefined({
    ...verdict,
    observedGeneration: generation,
    lastProbeTime: null,
    lastTransitionTime: kept ?? apiTime(input.now),
  });
}

function initializedVerdict({ pod, phase, initStatuses, statuses }: ConditionsInput): ConditionVerdict {
  const type = "Initialized";
  const containers = pod.spec.initContainers ?? [];
  if (containers.length > 0 && initStatuses.length === 0 && statuses.length === 0) {
    return { type, status: "False", reason: "UnknownContainerStatuses" };
  }
  const byName = statusesByName(initStatuses);
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const container of containers) {
    const status = byName.get(container.name);
    if (status === undefined) unknown.push(container.name);
    else if (isSidecar(container) ? status.started !== true : !status.ready) incomplete.push(container.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "True", reason: "PodCompleted" };
  // Init containers do not run again in a started pod: their present state does not matter.
  if (statuses.some(hasStarted)) return { type, status: "True" };
  const message = nameLists([
    ["containers with unknown status", unknown],
    ["containers with incomplete status", incomplete],
  ]);
  if (message === "") return { type, status: "True" };
  return { type, status: "False", reason: "ContainersNotInitialized", message };
}

/** Is there a trace of the container having run in its present state? */
function hasStarted(status: ApiContainerStatus): boolean {
  return status.state.running !== undefined || status.state.terminated !== undefined;
}

function containersReadyVerdict({ pod, phase, initStatuses, statuses }: ConditionsInput): ConditionVerdict {
  const type = "ContainersReady";
  if (statuses.length === 0) return { type, status: "False", reason: "UnknownContainerStatuses" };
  const [inits, regular] = [statusesByName(initStatuses), statusesByName(statuses)];
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const container of [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]) {
    const status = regular.get(container.name) ?? inits.get(container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!status.ready) unready.push(container.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const message = nameLists([
    ["containers with unknown status", unknown],
    ["containers with unready status", unready],
  ]);
  if (message === "") return { type, status: "True" };
  return { type, status: "False", reason: "ContainersNotReady", message };
}

function readyVerdict({ pod, previous }: ConditionsInput, containersReady: ConditionVerdict): ConditionVerdict {
  if (containersReady.status !== "True") return { ...containersReady, type: "Ready" };
  const gates = pod.spec.readinessGates ?? [];
  // The first of a type counts.
  const byType = new Map(gates.length === 0 ? [] : previous.toReversed().map((one) => [one.type, one]));
  const parts = gates.flatMap(({ conditionType }) => {
    const gate = byType.get(conditionType);
    if (gate === undefined) {
      return [`corresponding condition of pod readiness gate ${quote(conditionType)} does not exist.`];
    }
    if (gate.status === "True") return [];
    return [`the status of pod readiness gate ${quote(conditionType)} is not "True", but ${gate.status}`];
  });
  if (parts.length === 0) return { type: "Ready", status: "True" };
  return { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: parts.join(", ") };
}

function restartingAllVerdict({ pod, phase, restartingAll }: ConditionsInput): ConditionVerdict[] {
  const containers = containersOf(pod.spec);
  const possible = containers.some((container) =>
    container.restartPolicyRules?.some((rule) => rule.action === "RestartAllContainers"),
  );
  if (!possible) return [];
  const type = "AllContainersRestarting";
  if (restartingAll === true) {
    return [
      {
        type,
        status: "True",
        reason: "RestartAllContainersStarted",
        message: "container exited with restart policy rule",
      },
    ];
  }
  if (phase === "Succeeded") return [{ type, status: "False", reason: "PodCompleted" }];
  if (phase === "Failed") return [{ type, status: "False", reason: "PodFailed" }];
  return [{ type, status: "False" }];
}

/**
 * Sent only with the final phase and without running containers: a controller must not replace a pod that still runs.
 */
function disruptionVerdict({ phase, disruption, initStatuses, statuses }: ConditionsInput): ConditionVerdict[] {
  if (disruption === undefined || (phase !== "Failed" && phase !== "Succeeded")) return [];
  if ([...initStatuses, ...statuses].some(({ state }) => state.running !== undefined)) return [];
  return [{ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet", message: disruption }];
}

/** "TITLE: [A B], TITLE: [C]"; lists without names are left out. */
function nameLists(lists: readonly (readonly [title: string, names: readonly string[]])[]): string {
  return lists
    .filter(([, names]) => names.length > 0)
    .map(([title, names]) => `${title}: [${names.join(" ")}]`)
    .join(", ");
}
