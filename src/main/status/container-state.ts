// One CRI container to API container status (section 4, first table): no knowledge of other containers or of probes.
import type { Container } from "../../shared/api/pod.js";
import type { ApiContainerStatus, ContainerState, ContainerStateTerminated } from "../../shared/api/pod-status.js";
import type { ContainerStatus, Mount } from "../../shared/cri/gen/runtime.v1.js";
import { ContainerState as CriState } from "../../shared/cri/gen/runtime.v1.js";
import type { PodResources } from "../model/pod-resources.js";
import { restartCountOf } from "../model/log-paths.js";
import { signalName } from "../model/stop-signal.js";
import { containerResources } from "./container-resources.js";
import { joinMessages } from "./termination-message.js";
import { apiTimeFromNanos } from "../../shared/api/time.js";

export interface StateInput {
  container: Container;
  observed: ContainerStatus;
  /** Its status before this computation. */
  previous: ApiContainerStatus | undefined;
  /** Name of the runtime: the scheme of container ids. */
  runtimeName: string;
  /** Container id to the text it left in its termination message file, or to the log's tail. */
  terminationMessages: ReadonlyMap<string, string>;
  /** What the pod's containers were last given, as far as it is known. The container itself is as it is allocated. */
  actuated?: PodResources | undefined;
  /** Gate ContainerStopSignals. */
  stopSignals: boolean;
}

/** A container that the runtime lost; it counts as killed. */
export function lostContainer(message: string): ContainerStateTerminated {
  return { exitCode: 137, reason: "ContainerStatusUnknown", message, startedAt: null, finishedAt: null };
}

export const lostWhenTerminated = "The container could not be located when the pod was terminated";

/** Ready and started are set later: they need the probes. */
export function observedStatus(input: StateInput): ApiContainerStatus {
  const { container, observed, previous, runtimeName } = input;
  const lost = observed.state === CriState.CONTAINER_UNKNOWN && previous?.state.running !== undefined;
  const user = observed.user?.linux;
  const signal = input.stopSignals ? signalName(observed.stopSignal) : undefined;
  const resources = containerResources(container, observed, input.actuated?.containers[container.name]);
  const allocated = container.resources?.requests;
  return {
    name: container.name,
    state: observedState(input, lost),
    lastState: {},
    ready: false,
    restartCount: lost ? previous.restartCount + 1 : restartCountOf(observed),
    image: observed.image?.image ?? "",
    imageID: observed.imageRef,
    containerID: `${runtimeName}://${observed.id}`,
    ...(allocated && { allocatedResources: allocated }),
    ...(resources && { resources }),
    ...(container.volumeMounts?.length && { volumeMounts: mountStatuses(container, observed.mounts) }),
    ...(user && {
      user: {
        linux: {
          uid: Number(user.uid),
          gid: Number(user.gid),
          ...(user.supplementalGroups.length > 0 && { supplementalGroups: user.supplementalGroups.map(Number) }),
        },
      },
    }),
    ...(signal !== undefined && { stopSignal: signal }),
  };
}

function observedState({ observed, runtimeName, terminationMessages }: StateInput, lost: boolean): ContainerState {
  switch (observed.state) {
    case CriState.CONTAINER_RUNNING:
      return { running: { startedAt: apiTimeFromNanos(observed.startedAt) } };
    case CriState.CONTAINER_CREATED:
      return { waiting: {} };
    case CriState.CONTAINER_UNKNOWN:
      return lost ? { terminated: lostContainer(lostWhenTerminated) } : { waiting: {} };
    case CriState.CONTAINER_EXITED: {
      const message = joinMessages(observed.message, terminationMessages.get(observed.id) ?? "");
      return {
        terminated: {
          exitCode: observed.exitCode,
          ...(observed.reason !== "" && { reason: observed.reason }),
          ...(message !== "" && { message }),
          startedAt: apiTimeFromNanos(observed.startedAt),
          finishedAt: apiTimeFromNanos(observed.finishedAt),
          containerID: `${runtimeName}://${observed.id}`,
        },
      };
    }
  }
}

function mountStatuses(
  container: Container,
  mounts: readonly Mount[],
): NonNullable<ApiContainerStatus["volumeMounts"]> {
  // A pod may have thousands of mounts.
  const recursive = new Set<string>();
  const seen = new Set<string>();
  for (const { containerPath, recursiveReadOnly } of mounts) {
    if (!seen.has(containerPath) && recursiveReadOnly) recursive.add(containerPath);
    seen.add(containerPath);
  }
  return (container.volumeMounts ?? []).map(({ name, mountPath, readOnly }) => {
    if (readOnly !== true) return { name, mountPath };
    return { name, mountPath, readOnly, recursiveReadOnly: recursive.has(mountPath) ? "Enabled" : "Disabled" };
  });
}
