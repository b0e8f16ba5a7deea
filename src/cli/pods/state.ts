// A pod's state in one word and its restarts, as kubectl shows them. Pure.

import type { ApiContainerStatus } from "../../shared/kubernetes/api/pod-status.js";
import { isSidecar, type Pod } from "../../shared/kubernetes/api/pod.js";
import { isTerminating } from "../../shared/kubernetes/api/termination-mark.js";

export interface PodState {
  /** "Running", "CrashLoopBackOff", "Init:0/2", "Terminating". */
  word: string;
  ready: number;
  containers: number;
  restarts: number;
  /** Running and ready, or completed. */
  fine: boolean;
}

export type StateOf = (pod: Pod) => PodState;

export function podState(pod: Pod): PodState {
  const { status, spec } = pod;
  const statuses = status?.containerStatuses ?? [];
  const inits = status?.initContainerStatuses ?? [];
  const sidecars = inits.filter(({ name }) =>
    spec.initContainers?.some((init) => init.name === name && isSidecar(init)),
  );
  const counted = [...statuses, ...sidecars];
  const ready = counted.filter((one) => one.ready).length;
  const containers = spec.containers.length + (spec.initContainers ?? []).filter(isSidecar).length;
  const word = isTerminating(pod) ? "Terminating" : (initWord(pod, inits) ?? mainWord(pod, statuses));
  return {
    word,
    ready,
    containers,
    restarts: [...statuses, ...inits].reduce((sum, { restartCount }) => sum + restartCount, 0),
    fine: word === "Completed" || (word === "Running" && ready === containers && isReady(pod)),
  };
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status !== "False";
}

function initWord({ spec }: Pod, inits: readonly ApiContainerStatus[]): string | undefined {
  const specs = spec.initContainers ?? [];
  for (const [index, init] of specs.entries()) {
    const status = inits.find(({ name }) => name === init.name);
    const { terminated, waiting } = status?.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (isSidecar(init) && status?.started === true) continue;
    if (terminated !== undefined) return `Init:${terminated.reason ?? `ExitCode:${terminated.exitCode}`}`;
    if (
      waiting?.reason !== undefined &&
      waiting.reason !== "PodInitializing" &&
      waiting.reason !== "ContainerCreating"
    ) {
      return `Init:${waiting.reason}`;
    }
    return `Init:${index}/${specs.length}`;
  }
  return undefined;
}

function mainWord({ status }: Pod, statuses: readonly ApiContainerStatus[]): string {
  if (status?.reason !== undefined && status.reason !== "") return status.reason;
  for (const { state } of statuses) {
    if (state.waiting?.reason !== undefined) return state.waiting.reason;
  }
  if (statuses.some(({ state }) => state.running !== undefined)) return "Running";
  for (const { state } of statuses) {
    const { terminated } = state;
    if (terminated !== undefined && terminated.exitCode !== 0)
      return terminated.reason ?? `ExitCode:${terminated.exitCode}`;
  }
  return status?.phase === "Succeeded" ? "Completed" : (status?.phase ?? "Pending");
}
