// Converts one CRI container to an API container status, without other containers and probes.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type {
  ApiContainerStatus,
  ContainerState,
  ContainerStateTerminated,
  VolumeMountStatus,
} from "../../../shared/kubernetes/api/pod-status.js";
import type { Container, VolumeMount } from "../../../shared/kubernetes/api/pod.js";
import { sameJson } from "../../../shared/kubernetes/api/same-json.js";
import { apiTimeFromNanos } from "../../../shared/kubernetes/api/time.js";
import type { Mount } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { ContainerState as CriState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { restartCountOf } from "../../model/paths.js";
import type { PodResources } from "../../model/pod-resources.js";
import { signalName } from "../../model/stop-signals.js";
import { containerResources } from "./container-resources.js";
import { joinMessages } from "./termination-message.js";

export interface StateInput {
  container: Container;
  observed: ObservedContainer;
  /** Its status before this computation. */
  previous: ApiContainerStatus | undefined;
  /** Name of the runtime: the scheme of container ids. */
  runtimeName: string;
  /** The text that a container left in its termination message file, or the tail of its log. */
  terminationMessages: ReadonlyMap<ContainerId, string>;
  /** The resources last applied to the pod's containers, if known. The container itself has its allocated resources. */
  actuated?: PodResources | undefined;
  /** Gate ContainerStopSignals. */
  stopSignals: boolean;
  /** Gate ImageVolumeWithDigest. */
  imageVolumeDigests: boolean;
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
  return omitUndefined({
    name: container.name,
    state: observedState(input, lost),
    lastState: {},
    ready: false,
    restartCount: lost ? previous.restartCount + 1 : restartsShown(input),
    image: observed.image?.image ?? "",
    imageID: observed.imageRef,
    containerID: `${runtimeName}://${observed.id}`,
    allocatedResources: allocated,
    resources,
    ...mountsShown(container, { mounts: observed.mounts, digests: input.imageVolumeDigests }),
    user: user
      ? {
          linux: omitUndefined({
            uid: Number(user.uid),
            gid: Number(user.gid),
            supplementalGroups: user.supplementalGroups.length > 0 ? user.supplementalGroups.map(Number) : undefined,
          }),
        }
      : undefined,
    stopSignal: signal,
  });
}

/**
 * Number of restarts with the observed container as the newest. A container that the previous status showed does not
 * lower its count: a newer one, whose start was counted, was removed before it ran, or the runtime lost it.
 */
function restartsShown({ observed, previous, runtimeName }: StateInput): number {
  const own = restartCountOf(observed);
  if (previous === undefined) return own;
  const shown = [previous.containerID, previous.lastState.terminated?.containerID];
  return shown.includes(`${runtimeName}://${observed.id}`) ? Math.max(own, previous.restartCount) : own;
}

type ObservedRun = Pick<StateInput, "observed" | "runtimeName" | "terminationMessages">;

/** The state of a run before the newest. */
export function earlierState(input: ObservedRun): ContainerState {
  return observedState(input, false);
}

function observedState({ observed, runtimeName, terminationMessages }: ObservedRun, lost: boolean): ContainerState {
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
        terminated: omitUndefined({
          exitCode: observed.exitCode,
          reason: observed.reason !== "" ? observed.reason : undefined,
          message: message !== "" ? message : undefined,
          startedAt: apiTimeFromNanos(observed.startedAt),
          finishedAt: apiTimeFromNanos(observed.finishedAt),
          containerID: `${runtimeName}://${observed.id}`,
        }),
      };
    }
  }
}

/** The last statuses of a container's mounts, with the runtime's mounts that they were made of. */
const lastStatuses = new WeakMap<object, { seen: SeenMounts; statuses: VolumeMountStatus[] }>();

/** What the statuses of mounts show beside the definition. */
interface SeenMounts {
  /** The runtime's mounts; absent: the container does not exist. */
  mounts?: readonly Mount[];
  /** Gate ImageVolumeWithDigest. */
  digests?: boolean;
  /** The runtime can make mounts recursively read-only: the answer for a container that does not exist. */
  recursive?: boolean;
}

/**
 * The statuses of the container's mounts, if it has any. The same list while nothing changes: to compare it costs
 * nothing then.
 */
export function mountsShown(
  { volumeMounts = [] }: Container,
  seen: SeenMounts,
): { volumeMounts?: VolumeMountStatus[] } {
  if (volumeMounts.length === 0) return {};
  const last = lastStatuses.get(volumeMounts);
  const same =
    last !== undefined &&
    last.seen.digests === seen.digests &&
    last.seen.recursive === seen.recursive &&
    sameJson(last.seen.mounts, seen.mounts);
  const statuses = same ? last.statuses : newMountStatuses(volumeMounts, seen);
  if (!same) lastStatuses.set(volumeMounts, { seen, statuses });
  return { volumeMounts: statuses };
}

/**
 * The digest of an image volume is what the runtime reports for the mount. Without it none is shown, as upstream: the
 * id by which the kubelet mounted the image is no digest (https://github.com/kubernetes/kubernetes/pull/142120).
 */
function newMountStatuses(
  volumeMounts: readonly VolumeMount[],
  { mounts, digests = false, recursive = false }: SeenMounts,
): VolumeMountStatus[] {
  // A pod may have thousands of mounts. Of two with one path the first counts.
  const byPath = new Map<string, Mount>();
  for (const mount of mounts ?? []) {
    if (!byPath.has(mount.containerPath)) byPath.set(mount.containerPath, mount);
  }
  return volumeMounts.map((wanted) => {
    const { name, mountPath, readOnly } = wanted;
    const mount = byPath.get(mountPath);
    const whole = mounts === undefined ? recursive && wantsRecursive(wanted) : mount?.recursiveReadOnly === true;
    const recursiveReadOnly = whole ? "Enabled" : "Disabled";
    const imageRef = (digests && mount?.image?.imageRef) || "";
    return omitUndefined({
      name,
      mountPath,
      readOnly: readOnly === true ? readOnly : undefined,
      recursiveReadOnly: readOnly === true ? recursiveReadOnly : undefined,
      volumeStatus: imageRef !== "" ? { image: { imageRef } } : undefined,
    });
  });
}

function wantsRecursive({ recursiveReadOnly = "Disabled", mountPropagation = "None" }: VolumeMount): boolean {
  return recursiveReadOnly !== "Disabled" && mountPropagation === "None";
}
