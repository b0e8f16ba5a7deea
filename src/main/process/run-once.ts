// --runonce: starts the pods of all sources, waits until each runs or has exited, logs the results and exits. Pods are
// left running.

import type { Clock } from "../../shared/base/clock/clock.js";
import { podFullName, type Pod } from "../../shared/kubernetes/api/pod.js";
import type { RunningAgent } from "../kubelet/agent.js";

/** Time limit for all pods to run. */
const RUN_ONCE_PATIENCE_MS = 3 * 60_000;
const LOOK_AGAIN_MS = 50;

export interface RunOnceResult {
  /** 0: every pod runs or has succeeded. */
  exitCode: 0 | 1;
  /** A line per pod. */
  report: string;
}

/** Ends early when `signal` is aborted. */
export async function runOnce(
  node: Pick<RunningAgent, "settled" | "pods">,
  clock: Clock,
  signal: AbortSignal,
  patienceMs = RUN_ONCE_PATIENCE_MS,
): Promise<RunOnceResult> {
  const end = clock.monotonic() + patienceMs;
  while (!signal.aborted && clock.monotonic() < end) {
    if (node.settled() && node.pods().every((pod) => outcome(pod) !== undefined)) break;
    await clock.sleep(LOOK_AGAIN_MS);
  }
  const late = signal.aborted ? "was interrupted" : `does not run after ${patienceMs / 1000} s`;
  const pods = node.pods().map((pod) => ({ pod, how: outcome(pod) }));
  const lines = pods.map(({ pod, how }) => `${podFullName(pod)}: ${how?.text ?? `${late}: ${whatItWaitsFor(pod)}`}\n`);
  if (!node.settled()) lines.push(`the pod sources or the container runtime have not responded\n`);
  else if (lines.length === 0) lines.push("no pods\n");
  const good = node.settled() && pods.every(({ how }) => how?.good === true);
  return { exitCode: good ? 0 : 1, report: lines.join("") };
}

/** undefined while the pod is on its way. */
function outcome(pod: Pod): { good: boolean; text: string } | undefined {
  const phase = pod.status?.phase;
  if (phase === "Succeeded") return { good: true, text: "Succeeded" };
  if (phase === "Failed") return { good: false, text: `Failed${detail(pod.status?.reason, pod.status?.message)}` };
  const statuses = pod.status?.containerStatuses ?? [];
  const runs = phase === "Running" && statuses.every(({ state }) => state.running !== undefined);
  return runs ? { good: true, text: "Running" } : undefined;
}

function whatItWaitsFor(pod: Pod): string {
  const waiting = (pod.status?.containerStatuses ?? []).flatMap(({ name, state }) => {
    if (state.running !== undefined) return [];
    const { reason, message } = state.waiting ?? state.terminated ?? {};
    return [`container ${name}${detail(reason, message)}`];
  });
  return waiting.length > 0 ? waiting.join("; ") : `phase ${pod.status?.phase ?? "unknown"}`;
}

function detail(reason: string | undefined, message: string | undefined): string {
  const words = [reason, message].filter((word) => word !== undefined && word !== "");
  return words.length === 0 ? "" : ` (${words.join(": ")})`;
}
