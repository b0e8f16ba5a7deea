// The conditions of a node: message and transition time of each, and the Event that reports its change.
// Invariant: conditions of others (NetworkUnavailable, a node problem detector's) stay as they are.

import type { MonotonicTime } from "../../shared/base/clock/moments.js";
import { PRESSURES, type Pressure, type RuntimeFacts } from "../../shared/contracts/node-status.js";
import type { RuntimeCondition } from "../../shared/contracts/pleg.js";
import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";
import type { NodeCondition } from "../../shared/kubernetes/api/node.js";
import type { KubeletHealth } from "./health-monitor.js";

/** A runtime that does not respond for this long makes the node NotReady. */
const RUNTIME_SILENCE_MS = 30_000;

export interface ReadyInput {
  runtime: RuntimeFacts | undefined;
  health: KubeletHealth;
  storageProblem: string;
  shuttingDown: boolean;
  /** Resources that the node must have and whose capacity is not known. */
  missingCapacity: readonly string[];
  nowMs: MonotonicTime;
}

/** Why the node is not ready, in upstream's order; [] when it is. */
export function notReadyReasons(input: ReadyInput): string[] {
  const { runtime, health, storageProblem, shuttingDown, missingCapacity, nowMs } = input;
  const reasons: string[] = [];
  if (runtime === undefined) reasons.push("container runtime status check may not have completed yet");
  else if (runtime.silentSinceMs !== undefined && nowMs - runtime.silentSinceMs >= RUNTIME_SILENCE_MS) {
    reasons.push("container runtime is down");
  }
  if (health.plegProblem !== "") reasons.push(`PLEG is not healthy: ${health.plegProblem}`);
  if (runtime?.details.runtimeReady.status === false) {
    reasons.push(`container runtime not ready: ${conditionText("RuntimeReady", runtime.details.runtimeReady)}`);
  }
  reasons.push(...health.stalls);
  if (runtime === undefined) reasons.push("network state unknown");
  else if (!runtime.details.networkReady.status) {
    reasons.push(`container runtime network not ready: ${conditionText("NetworkReady", runtime.details.networkReady)}`);
  }
  if (storageProblem !== "") reasons.push(storageProblem);
  if (shuttingDown) reasons.push("node is shutting down");
  if (missingCapacity.length > 0) reasons.push(`missing node capacity for resources: ${missingCapacity.join(", ")}`);
  return [...new Set(reasons)];
}

function conditionText(type: string, { status, reason, message }: RuntimeCondition): string {
  return `${type}=${status} reason:${reason} message:${message}`;
}

type Wanted = Pick<NodeCondition, "type" | "status" | "reason" | "message">;

function readyCondition(reasons: readonly string[]): Wanted {
  const [only] = reasons;
  if (only === undefined) {
    return { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  }
  const message = reasons.length === 1 ? only : `[${reasons.join(", ")}]`;
  return { type: "Ready", status: "False", reason: "KubeletNotReady", message };
}

/** Reasons and messages: without pressure, under it. A condition's reason begins with Kubelet, an event's with Node. */
const PRESSURE_WORDS = {
  MemoryPressure: [
    ["HasSufficientMemory", "kubelet has sufficient memory available"],
    ["HasInsufficientMemory", "kubelet has insufficient memory available"],
  ],
  DiskPressure: [
    ["HasNoDiskPressure", "kubelet has no disk pressure"],
    ["HasDiskPressure", "kubelet has disk pressure"],
  ],
  PIDPressure: [
    ["HasSufficientPID", "kubelet has sufficient PID available"],
    ["HasInsufficientPID", "kubelet has insufficient PID available"],
  ],
} as const satisfies Record<Pressure, unknown>;

function pressureCondition(type: Pressure, pressed: boolean): { wanted: Wanted; event: EventReason } {
  const [without, under] = PRESSURE_WORDS[type];
  const [word, message] = pressed ? under : without;
  const wanted: Wanted = { type, status: pressed ? "True" : "False", reason: `Kubelet${word}`, message };
  return { wanted, event: `Node${word}` };
}

export interface Conditions {
  conditions: NodeCondition[];
  /** Reasons of the Events to record: "NodeReady", "NodeHasSufficientMemory". */
  events: EventReason[];
}

/** `now`: RFC 3339. */
export function nextConditions(
  existing: readonly NodeCondition[],
  pressures: readonly Pressure[],
  reasons: readonly string[],
  now: string,
): Conditions {
  const conditions = [...existing];
  const events: EventReason[] = [];
  const put = (wanted: Wanted, before: NodeCondition | undefined): void => {
    const changed = before?.status !== wanted.status;
    const condition: NodeCondition = {
      ...before,
      ...wanted,
      lastHeartbeatTime: now,
      lastTransitionTime: changed ? now : (before.lastTransitionTime ?? now),
    };
    if (before === undefined) conditions.push(condition);
    else conditions[conditions.indexOf(before)] = condition;
  };
  const find = (type: string): NodeCondition | undefined => conditions.find((condition) => condition.type === type);
  for (const type of PRESSURES) {
    const { wanted, event } = pressureCondition(type, pressures.includes(type));
    const before = find(type);
    // A pressure that is true on a new Node gets an event, too, unlike Ready.
    if (before?.status !== wanted.status) events.push(event);
    put(wanted, before);
  }
  const ready = readyCondition(reasons);
  const before = find("Ready");
  if (before !== undefined && before.status !== ready.status) {
    events.push(ready.status === "True" ? "NodeReady" : "NodeNotReady");
  }
  put(ready, before);
  return { conditions, events };
}
