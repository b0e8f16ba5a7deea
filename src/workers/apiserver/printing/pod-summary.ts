// What a row of pods says of a pod: ready containers, the reason of its state, restarts. A pod that initialises shows
// its first unfinished init container; afterwards the first regular container with a reason decides.

import { fieldsAt, listAt, textAt, type ApiObject, type Fields } from "../objects/object.js";
import { ageOf } from "./age.js";

export interface PodSummary {
  ready: string;
  reason: string;
  restarts: string;
}

interface Count {
  ready: number;
  restarts: number;
  lastRestart: string;
}

export function podSummary(pod: ApiObject, now: number): PodSummary {
  const sidecars = new Set(
    listAt(pod.spec, "initContainers")
      .filter(({ restartPolicy }) => restartPolicy === "Always")
      .map(({ name }) => name),
  );
  const total = listAt(pod.spec, "containers").length + sidecars.size;
  const phase = textAt(pod.status, "phase") ?? "";
  const init = initialising(pod, sidecars);
  const isInitialised = condition(pod, "Initialized")?.["status"] === "True";
  let { count } = init;
  let reason = textAt(pod.status, "reason") ?? gated(pod) ?? phase;
  if (init.reason !== undefined) reason = init.reason;
  if (init.reason === undefined || isInitialised) {
    const regular = running(pod, init.sidecars);
    count = regular.count;
    reason = regular.reason ?? reason;
    if (reason === "Completed" && regular.isSomeReady) {
      reason = condition(pod, "Ready")?.["status"] === "True" ? "Running" : "NotReady";
    }
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (textAt(pod.status, "reason") === "NodeLost") reason = "Unknown";
    else if (!["Succeeded", "Failed"].includes(phase)) reason = "Terminating";
  }
  const when = count.lastRestart === "" ? "" : ` (${ageOf(count.lastRestart, now)} ago)`;
  return { ready: `${count.ready}/${total}`, reason, restarts: `${count.restarts}${count.restarts > 0 ? when : ""}` };
}

function condition(pod: ApiObject, type: string): Fields | undefined {
  return listAt(pod.status, "conditions").find((one) => one["type"] === type);
}

function gated(pod: ApiObject): string | undefined {
  const reason = textAt(condition(pod, "PodScheduled"), "reason");
  return reason === "SchedulingGated" ? reason : undefined;
}

/** All init containers up to the first unfinished one, and the sidecars among them. */
function initialising(pod: ApiObject, names: ReadonlySet<unknown>): { reason?: string; count: Count; sidecars: Count } {
  const count: Count = { ready: 0, restarts: 0, lastRestart: "" };
  const sidecars: Count = { ready: 0, restarts: 0, lastRestart: "" };
  for (const [index, status] of listAt(pod.status, "initContainerStatuses").entries()) {
    const isSidecar = names.has(status["name"]);
    addRestarts(count, status);
    if (isSidecar) addRestarts(sidecars, status);
    const { terminated, waiting } = stateOf(status);
    if (terminated?.["exitCode"] === 0) continue;
    if (isSidecar && status["started"] === true) {
      if (status["ready"] === true) {
        count.ready++;
        sidecars.ready++;
      }
      continue;
    }
    const all = listAt(pod.spec, "initContainers").length;
    const why = textAt(waiting, "reason");
    if (terminated !== undefined) return { reason: `Init:${endOf(terminated)}`, count, sidecars };
    if (why !== undefined && why !== "PodInitializing") return { reason: `Init:${why}`, count, sidecars };
    return { reason: `Init:${index}/${all}`, count, sidecars };
  }
  return { count, sidecars };
}

function running(pod: ApiObject, sidecars: Count): { reason: string | undefined; count: Count; isSomeReady: boolean } {
  const count = { ...sidecars };
  let reason: string | undefined;
  let isSomeReady = false;
  for (const status of listAt(pod.status, "containerStatuses").reverse()) {
    addRestarts(count, status);
    const { terminated, waiting, running: runs } = stateOf(status);
    const why = textAt(waiting, "reason");
    if (why !== undefined) reason = why;
    else if (terminated !== undefined) reason = endOf(terminated);
    else if (status["ready"] === true && runs !== undefined) {
      isSomeReady = true;
      count.ready++;
    }
  }
  return { reason, count, isSomeReady };
}

function addRestarts(count: Count, status: Fields): void {
  const restarts = status["restartCount"];
  if (typeof restarts === "number") count.restarts += restarts;
  const finished = textAt(fieldsAt(fieldsAt(status, "lastState"), "terminated"), "finishedAt") ?? "";
  if (finished > count.lastRestart) count.lastRestart = finished;
}

function stateOf(status: Fields): { terminated?: Fields; waiting?: Fields; running?: Fields } {
  return fieldsAt(status, "state");
}

function endOf(terminated: Fields): string {
  const { signal, exitCode } = terminated;
  const number = typeof signal === "number" && signal !== 0 ? `Signal:${signal}` : `ExitCode:${Number(exitCode)}`;
  return textAt(terminated, "reason") ?? number;
}
