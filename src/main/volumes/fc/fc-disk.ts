// Fibre Channel disks: found by target WWN and LUN in /dev/disk/by-path, or by WWID in /dev/disk/by-id.

import { realpath, writeFile } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import type { FCVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { multipathOver, names, removeDisk } from "../disks/device-mapper.js";
import { DiskAttachError, pathWord, type Disk, type DiskKind, type DiskSystem } from "../disks/disk.js";
import { VolumeError } from "../volume-error.js";

export const FC_PLUGIN = "kubernetes.io/fc";

/** @throws VolumeError */
export function fcDisk(source: FCVolumeSource, system: DiskSystem): Disk {
  const { lun } = source;
  const wwns = (source.targetWWNs ?? []).map((wwn) => pathWord("fc target WWN", wwn));
  const wwids = (source.wwids ?? []).map((wwid) => pathWord("fc WWID", wwid.replaceAll(" ", "_")));
  if (wwns.length > 0 && lun !== undefined && Number.isInteger(lun) && lun >= 0) {
    return {
      place: `${wwns.join("-")}-lun-${lun}`,
      uniqueName: `[${wwns.join(" ")}]:${lun}`,
      attach: () =>
        search(
          wwns.map((wwn) => byPath(wwn, lun, system)),
          system,
          `${wwns.join(", ")} LUN ${lun}`,
        ),
    };
  }
  if (wwids.length > 0) {
    return {
      place: wwids.join("-"),
      uniqueName: `[${wwids.join(" ")}]`,
      attach: () =>
        search(
          wwids.map((wwid) => byId(wwid, system)),
          system,
          wwids.join(", "),
        ),
    };
  }
  throw new VolumeError("the fc volume names neither targetWWNs with a lun nor wwids");
}

export function fcKind(system: DiskSystem, log: Logger): DiskKind {
  return {
    plugin: FC_PLUGIN,
    depth: 1,
    uniqueNameOf(place) {
      // Directories of other purposes.
      if (place === "volumeDevices") return undefined;
      const parts = /^(.+)-lun-(\d+)$/.exec(place);
      const words = (parts?.[1] ?? place).split("-").join(" ");
      return parts === null ? `[${words}]` : `[${words}]:${parts[2] ?? ""}`;
    },
    detach: async ({ device, keep }) => {
      if (device !== "" && !keep) await removeDisk(device, system, log);
    },
  };
}

type Find = () => Promise<string | undefined>;

/**
 * As upstream: a multipath device is taken at once; without one the SCSI hosts scan first, and then a single path will
 * do.
 */
async function search(finds: readonly Find[], system: DiskSystem, what: string): Promise<string> {
  for (const isLast of [false, true]) {
    let disk: string | undefined;
    for (const find of finds) {
      const found = await find();
      if (found === undefined) continue;
      const mapped = await multipathOver(found, system);
      if (mapped !== undefined) return mapped;
      disk ??= found;
    }
    if (isLast && disk !== undefined) return disk;
    if (!isLast) await scan(system);
  }
  throw new DiskAttachError(
    `no fc disk found for ${what}: check the zoning, and that the node's host bus adapter is online`,
  );
}

function byPath(wwn: string, lun: number, system: DiskSystem): Find {
  const ends = [`fc-0x${wwn}-lun-${lun}`];
  return () =>
    linkIn(system.byPath, (name) =>
      ends.some((end) => name === end || (name.startsWith("pci-") && name.endsWith(`-${end}`))),
    );
}

function byId(wwid: string, system: DiskSystem): Find {
  return () => linkIn(system.byId, (name) => name === `scsi-${wwid}`);
}

async function linkIn(directory: string, matches: (name: string) => boolean): Promise<string | undefined> {
  for (const name of (await names(directory)).filter(matches)) {
    try {
      return await realpath(`${directory}/${name}`);
    } catch (error) {
      // A link that udev has not removed yet.
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
  return undefined;
}

/** All channels, targets and LUNs of all hosts. A host that refuses keeps the others' disks from nothing. */
async function scan({ scsiHosts }: DiskSystem): Promise<void> {
  const hosts = await names(scsiHosts);
  await Promise.allSettled(hosts.map((host) => writeFile(`${scsiHosts}/${host}/scan`, "- - -")));
}
