// Errors of filesystem calls on volumes.

import type { WallTime } from "../../base/clock/moments.js";
import type { HangableMount } from "./may-hang.js";

/** A mount gave no response in time, or gave none the last time and rests. Worth another try later. */
export class VolumeNotAnsweringError extends Error {
  override readonly name = "VolumeNotAnsweringError";
  constructor(
    readonly mount: HangableMount,
    /** Wall time, milliseconds. */
    readonly since: WallTime,
    readonly path: string,
  ) {
    const { source, fsType, mountPoint } = mount;
    super(
      `${path} is on ${source} (${fsType}, mounted at ${mountPoint}), which has not responded since ` +
        `${new Date(since).toISOString()}; check its server or driver, or unmount it (umount -l ${mountPoint}); ` +
        "the kubelet tries again later",
    );
  }
}

/** The helper process ended before its reply. */
export class VolumeHelperError extends Error {
  override readonly name = "VolumeHelperError";
}

/** A subPath that is not, or does not stay, inside its volume. */
export class SubPathError extends Error {
  override readonly name = "SubPathError";
  constructor(
    readonly subPath: string,
    readonly problem: string,
  ) {
    super(`subPath ${JSON.stringify(subPath)}: ${problem}`);
  }
}
