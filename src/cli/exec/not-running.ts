// Why a container cannot run a command: its state, instead of the runtime's "container not found". Pure.

import type { Pod } from "../../shared/kubernetes/api/pod.js";

/** undefined: as far as its status shows, it runs. */
export function whyNotRunning({ status }: Pod, container: string): string | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  const state = all.find(({ name }) => name === container)?.state;
  if (state?.running !== undefined) return undefined;
  if (state?.terminated !== undefined) return `it exited with code ${state.terminated.exitCode}`;
  return state?.waiting?.reason ?? "it has not started";
}
