// Errors of volumes, one class per cause. Each message names the pod, the volume and the remedy.

import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";
import { podDescription, type Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { VolumeError } from "./volume-error.js";

/** The volume's source is not one the kubelet mounts. */
export class UnsupportedVolumeError extends Error {
  override readonly name = "UnsupportedVolumeError";
  constructor(
    pod: Pod,
    readonly volume: string,
    readonly source: string,
  ) {
    super(
      `pod ${podDescription(pod)}: volume ${JSON.stringify(volume)} has source ${source}, which is not supported; ` +
        "use emptyDir, hostPath, image or downwardAPI",
    );
  }
}

/** Setting up a volume failed; worth another try later. */
export class VolumeSetUpError extends Error {
  override readonly name = "VolumeSetUpError";
  constructor(
    pod: Pod,
    readonly volume: string,
    /** The cause without pod and volume, as events show it. */
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`pod ${podDescription(pod)}: setting up volume ${JSON.stringify(volume)} failed: ${problem}`, options);
  }
}

/** The event of a failed step other than MountVolume.SetUp. */
export interface StepEvent {
  reason: "FailedMount" | "FailedMapVolume" | "FailedAttachVolume" | "VolumeResizeFailed";
  message: string;
}

/** One step of several that set a volume up failed; worth another try later. */
export class VolumeStepError extends VolumeSetUpError {
  constructor(
    pod: Pod,
    volume: string,
    problem: string,
    readonly event: StepEvent,
    options?: ErrorOptions,
  ) {
    super(pod, volume, problem, options);
  }
}

/** The node can't have the volume, now or later: the pod is to be refused. */
export class VolumeRefusedError extends VolumeSetUpError {
  constructor(
    pod: Pod,
    volume: string,
    /** `reason` of the pod's status: "VolumeAttachmentLimitExceeded". */
    readonly reason: EventReason,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(pod, volume, problem, options);
  }
}

/** Not all volumes of a pod were set up in time; its next sync waits for them again. */
export class VolumesNotReadyError extends Error {
  override readonly name = "VolumesNotReadyError";
  constructor(
    message: string,
    readonly volumes: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Something is being done to the volume already, and it takes its time. */
export function volumeOperationPendingError(volume: string): VolumeError {
  return new VolumeError(`an operation on volume ${volume} is still in progress; the pod continues when it completes`);
}

/** A mount of the pod is still in use; try again after its containers have exited. */
export function volumeBusyError(uid: PodUid | "", directory: string): VolumeError {
  return new VolumeError(
    `pod ${uid}: ${directory} is still in use and cannot be unmounted; trying again when no process uses it`,
  );
}

/** Something the kubelet did not mount is mounted in a directory that is to be removed. */
export class ForeignMountError extends Error {
  override readonly name = "ForeignMountError";
  constructor(
    readonly directory: string,
    readonly mountPoints: readonly string[],
  ) {
    super(
      `not removing ${directory}: ${mountPoints.join(", ")} is mounted there, and not by the kubelet; unmount it first`,
    );
  }
}

/** mount, umount or rm failed. `output` is its standard error. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  constructor(
    command: string,
    ended: string,
    readonly output: string,
  ) {
    super(`${command}: ${ended}${output === "" ? "" : `: ${output}`}`);
  }
}

/** A path that an object of the API names, but that cannot be a file in a volume. */
export function payloadTooBigError(most: number): VolumeError {
  return new VolumeError(`the files of the volume have more than ${most / 1024 ** 2} MiB`);
}

export function payloadPathError(path: string, problem: string): VolumeError {
  return new VolumeError(`the path ${JSON.stringify(path)} cannot be a file of the volume: ${problem}`);
}
