// The conditions of a node: message and transition time of each, and the Event that reports its change.
// Invariant: conditions of others (NetworkUnavailable, a node problem detector's) stay as they are.
import type { NodeCondition } from "../../shared/api/node.js";
import { PRESSURES, type Pressure, type RuntimeFacts } from "../../shared/contracts/node-status.js";
import type { RuntimeCondition } from "../../shared/contracts/pleg.js";
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
  /** Monotonic time, ms. */
  nowMs: number;
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

/** Reasons and messages: without pressure, under it. */
const PRESSURE_WORDS: Readonly<Record<Pressure, readonly [[string, string], [string, string]]>> = {
  MemoryPressure: [
    ["KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
    ["KubeletHasInsufficientMemory", "kubelet has insufficient memory available"],
  ],
  DiskPressure: [
    ["KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
    ["KubeletHasDiskPressure", "kubelet has disk pressure"],
  ],
  PIDPressure: [
    ["KubeletHasSufficientPID", "kubelet has sufficient PID available"],
    ["KubeletHasInsufficientPID", "kubelet has insufficient PID available"],
  ],
};

function pressureCondition(type: Pressure, pressed: boolean): Wanted {
  const [without, under] = PRESSURE_WORDS[type];
  const [reason, message] = pressed ? under : without;
  return { type, status: pressed ? "True" : "False", reason, message };
}

export interface Conditions {
  conditions: NodeCondition[];
  /** Reasons of the Events to record: "NodeReady", "NodeHasSufficientMemory". */
  events: string[];
}

/** `now`: RFC 3339. */
export function nextConditions(
  existing: readonly NodeCondition[],
  pressures: readonly Pressure[],
  reasons: readonly string[],
  now: string,
): Conditions {
  const conditions = [...existing];
  const events: string[] = [];
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
    const wanted = pressureCondition(type, pressures.includes(type));
    const before = find(type);
    // A pressure that is true on a new Node gets an event, too, unlike Ready.
    if (before?.status !== wanted.status) events.push((wanted.reason ?? "").replace(/^Kubelet/, "Node"));
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
