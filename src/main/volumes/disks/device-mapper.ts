// Disks with several paths, as the kernel's device mapper shows them; and the removal of disks from the SCSI subsystem.

import { readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { run } from "../program.js";
import type { DiskSystem } from "./disk.js";

/** The multipath device over that disk; undefined: none. */
export async function multipathOver(device: string, { sysBlock }: DiskSystem): Promise<string | undefined> {
  const name = basename(await realpath(device));
  for (const mapper of (await names(sysBlock)).filter((one) => one.startsWith("dm-"))) {
    if (!(await exists(`${sysBlock}/${mapper}/slaves/${name}`))) continue;
    // A volume of LVM or dm-crypt on the disk is no path of it. Kernels without the file have only multipath devices.
    const uuid = await readFile(`${sysBlock}/${mapper}/dm/uuid`, "utf8").catch(() => "mpath-");
    if (uuid.startsWith("mpath-")) return `/dev/${mapper}`;
  }
  return undefined;
}

/**
 * Flushes the device and removes it from the system, a multipath device with its paths. What fails is logged: a later
 * scan corrects it.
 */
export async function removeDisk(device: string, system: DiskSystem, log: Logger): Promise<void> {
  const name = basename(await realpath(device).catch(() => device));
  let disks = [name];
  if (name.startsWith("dm-")) {
    disks = await names(`${system.sysBlock}/${name}/slaves`);
    await attempt(log, device, () => run("multipath", ["-f", `/dev/${name}`]));
  }
  for (const disk of disks) {
    // Only SCSI disks can be removed.
    const handle = `${system.sysBlock}/${disk}/device/delete`;
    if (!(await exists(handle))) continue;
    await attempt(log, disk, () => run("blockdev", ["--flushbufs", `/dev/${disk}`]));
    await attempt(log, disk, () => writeFile(handle, "1"));
  }
}

async function attempt(log: Logger, device: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error, device }, `cannot remove disk ${device} from this node: ${messageOf(error)}`);
  }
}

/** Lists a directory of sysfs or procfs; empty when there is none. */
export async function names(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw error;
  });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
