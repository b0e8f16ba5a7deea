// Grows the file system on a device to the device's size, while it is mounted. blkid and the file system's own tool run
// as programs. A file system that has its device's size already is left as it is.

import { runReading } from "../program.js";
import { VolumeError } from "../volume-error.js";
import { contentOf, ended } from "./format.js";

interface GrowRequest {
  device: string;
  /** Where the file system is mounted: some tools need it instead of the device. */
  mountPoint: string;
}

/** Moving the metadata of a large file system takes minutes. */
const GROW_MS = 3_600_000;

type Run = typeof runReading;

/** A blank device needs nothing: mkfs will use all of it. @throws VolumeError, ProgramError */
export async function growFileSystem({ device, mountPoint }: GrowRequest, run: Run = runReading): Promise<void> {
  const type = await contentOf(device, run);
  if (type === undefined) return;
  const [program, ...args] = toolFor(type, device, mountPoint);
  if (program === undefined) {
    throw new VolumeError(
      `a file system of type ${type} on device ${device} cannot grow: use ext3, ext4, xfs or btrfs`,
    );
  }
  const result = await run(program, args, GROW_MS);
  if (result.code !== 0) {
    throw new VolumeError(`cannot grow the ${type} file system on device ${device}: ${program}: ${ended(result)}`);
  }
}

function toolFor(type: string, device: string, mountPoint: string): string[] {
  if (type === "ext3" || type === "ext4") return ["resize2fs", device];
  if (type === "xfs") return ["xfs_growfs", "-d", mountPoint];
  if (type === "btrfs") return ["btrfs", "filesystem", "resize", "max", mountPoint];
  return [];
}
