// Makes a file system on a blank device, and checks one that is there before it is mounted. blkid, mkfs and fsck run as
// programs.
// Invariant: a device with any known content (a file system, a partition table) is never formatted, and nothing is
// written when the volume is read-only.

import { runReading, type ProgramResult } from "../program.js";
import { VolumeError } from "../volume-error.js";

/** The device has another file system than the volume requires, and was not mounted. */
export class FilesystemMismatchError extends VolumeError {}

export interface FormatRequest {
  device: string;
  /** "ext4". */
  fsType: string;
  readOnly: boolean;
}

/** mkfs of a large disk takes minutes. It is not killed when the pod is removed: a half-formatted device is useless. */
const FORMAT_MS = 3_600_000;
const LOOK_MS = 120_000;
/** Exit status of blkid: it recognises no content on the device. */
const NOTHING_FOUND = 2;
/** Bit of fsck's exit status: errors are left. */
const ERRORS_LEFT = 4;

type Run = typeof runReading;

/** Resolves to the type of the file system that is on the device now. @throws VolumeError, ProgramError */
export async function prepareDevice(
  { device, fsType, readOnly }: FormatRequest,
  run: Run = runReading,
): Promise<string> {
  if (!/^[a-z0-9][a-z0-9.]*$/.test(fsType)) {
    throw new VolumeError(`${JSON.stringify(fsType)} cannot be the type of a file system`);
  }
  const found = await contentOf(device, run);
  if (found !== undefined) {
    if (!readOnly) await check(device, run);
    return found;
  }
  if (readOnly) throw new VolumeError(`cannot mount blank device ${device} read-only: it has to be formatted first`);
  await format(device, fsType, run);
  return fsType;
}

/** undefined: the device is blank. */
export async function contentOf(device: string, run: Run): Promise<string | undefined> {
  const args = ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device];
  const { code, stdout, stderr } = await run("blkid", args, LOOK_MS);
  if (code === NOTHING_FOUND) return undefined;
  if (code !== 0)
    throw new VolumeError(`cannot read the content of device ${device}: blkid exited with ${code}: ${stderr}`);
  const type = /^TYPE=(.+)$/m.exec(stdout)?.[1];
  if (type !== undefined) return type;
  const what = /^PTTYPE=(.+)$/m.exec(stdout)?.[1] === undefined ? "unknown data" : "a partition table";
  throw new VolumeError(`device ${device} has ${what} and no file system: it is not formatted; clear it with wipefs`);
}

async function format(device: string, fsType: string, run: Run): Promise<void> {
  // As upstream: no question about a whole disk, and no blocks kept back for root.
  const options = /^ext[34]$/.test(fsType) ? ["-F", "-m0"] : fsType === "xfs" ? ["-f"] : [];
  const result = await run(`mkfs.${fsType}`, [...options, device], FORMAT_MS);
  if (result.code !== 0) throw new VolumeError(`cannot format device ${device} as ${fsType}: ${ended(result)}`);
}

/** Repairs problems that need no confirmation. A device that fsck cannot read is left to the mount. */
async function check(device: string, run: Run): Promise<void> {
  const result = await run("fsck", ["-a", device], FORMAT_MS);
  if ((result.code & ERRORS_LEFT) === 0) return;
  throw new VolumeError(`fsck found errors on device ${device} and could not correct them: ${ended(result)}`);
}

export function ended({ code, stdout, stderr }: ProgramResult): string {
  return `exit ${code}: ${(stderr === "" ? stdout : stderr).trim()}`;
}
