// The run of a container whose log is requested, by its last status; the errors have upstream's texts.

import type { ApiContainerStatus } from "../../../../shared/kubernetes/api/pod-status.js";

/** There is no log yet, or no longer: 400 with this text. */
export class NoLogError extends Error {
  override readonly name = "NoLogError";
}

/** Text of the error for a container without a status. */
export function unavailable(pod: string, container: string): string {
  return `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod)} is not available`;
}

/** The run's number, which names its file. @throws NoLogError */
export function runOf(pod: string, name: string, status: ApiContainerStatus | undefined, previous: boolean): number {
  const container = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod)}`;
  if (status === undefined) throw new NoLogError(unavailable(pod, name));
  const { state, lastState, restartCount } = status;
  const last = lastState.terminated?.containerID ?? "";
  if (previous) {
    if (last === "") throw new NoLogError(`previous terminated ${container} not found`);
    // A container that waits for its restart is the last one itself.
    return isNewest(status) ? restartCount - 1 : restartCount;
  }
  if (state.running !== undefined) return restartCount;
  if (state.terminated !== undefined || lastState.terminated !== undefined) {
    if ((state.terminated?.containerID ?? "") === "" && last === "") throw new NoLogError(`${container} is terminated`);
    return restartCount;
  }
  throw new NoLogError(`${container} is waiting to start${waitingFor(state.waiting?.reason)}`);
}

/** The state is of the newest container itself. */
function isNewest({ state }: ApiContainerStatus): boolean {
  return state.running !== undefined || (state.terminated?.containerID ?? "") !== "";
}

function waitingFor(reason: string | undefined): string {
  switch (reason) {
    case undefined:
      return " - no logs yet";
    case "ErrImagePull":
      return ": image can't be pulled";
    case "ImagePullBackOff":
      return ": trying and failing to pull image";
    default:
      return `: ${reason}`;
  }
}
