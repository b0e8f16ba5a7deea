// iSCSI disks: sessions with the target's portals, and the device that appears in /dev/disk/by-path.
// Invariant: a session is ended only when no directory of another LUN of the target is left; logins and logouts of a
// target come one at a time.

import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { multipathOver, names, removeDisk } from "../disks/device-mapper.js";
import { DiskAttachError, type Disk, type DiskKind, type DiskSystem, type GoneDisk } from "../disks/disk.js";
import * as paths from "../paths.js";
import type { Chap, Iscsiadm } from "./iscsiadm.js";
import {
  placeOf,
  readTarget,
  sessionIface,
  TARGET_FILE,
  targetOfPlace,
  writeTarget,
  type IscsiTarget,
} from "./target.js";

export const ISCSI_PLUGIN = "kubernetes.io/iscsi";

/**
 * Upstream's numbers: looks for a device, a second apart; rounds over all portals; paths that are enough for a
 * multipath device.
 */
const DEVICE_LOOKS = 10;
const LOOK_MS = 1_000;
const MOST_ROUNDS = 5;
const LEAST_ROUNDS = 2;
const ENOUGH_PATHS = 2;

export interface IscsiDeps {
  admin: Iscsiadm;
  clock: Clock;
  log: Logger;
  system: DiskSystem;
}

export class IscsiDisks {
  /** By IQN. */
  private readonly targets = new KeyedSerializer();
  readonly kind: DiskKind;

  constructor(private readonly deps: IscsiDeps) {
    this.kind = {
      plugin: ISCSI_PLUGIN,
      depth: 2,
      uniqueNameOf(place) {
        const target = targetOfPlace(place);
        return target === undefined ? undefined : `${target.portals[0] ?? ""}:${target.iqn}:${target.lun}`;
      },
      detach: (gone) => this.detach(gone),
    };
  }

  /** `portal`: as the volume spells it. */
  disk(target: IscsiTarget, portal: string, chap: () => Promise<Chap>): Disk {
    return {
      place: placeOf(target),
      uniqueName: `${portal}:${target.iqn}:${target.lun}`,
      attach: async (directory, signal) => {
        const secrets = await chap();
        await writeTarget(directory, target);
        return this.targets.run(target.iqn, () => this.attach(target, secrets, signal), signal);
      },
    };
  }

  private async attach(target: IscsiTarget, chap: Chap, signal: AbortSignal): Promise<string> {
    const { admin, system, clock } = this.deps;
    const { portals, iqn, lun } = target;
    const transport = (await admin.showIface(target.iface, signal)).get("iface.transport_name") ?? "tcp";
    const iface = sessionIface(target);
    if (target.initiatorName !== "") await admin.cloneIface(target.iface, iface, target.initiatorName, signal);
    const found = new Map<string, string>();
    let failure: unknown;
    for (let round = 1; round <= MOST_ROUNDS && found.size < portals.length; round++) {
      for (const portal of portals.filter((one) => !found.has(one))) {
        try {
          await admin.login({ portal, iqn, iface }, chap, signal);
          await this.scan(iqn, lun);
          found.set(portal, await this.device(`ip-${portal}-iscsi-${iqn}-lun-${lun}`, transport, signal));
        } catch (error) {
          signal.throwIfAborted();
          failure = error;
        }
      }
      if (found.size === 0) break;
      if (found.size >= ENOUGH_PATHS && round >= LEAST_ROUNDS) break;
    }
    const [first] = found.values();
    if (first === undefined) {
      if (target.initiatorName !== "") await admin.deleteIface(iface);
      throw new DiskAttachError(`failed to get any path for iscsi disk, last err seen: ${messageOf(failure)}`, {
        cause: failure,
      });
    }
    for (let look = 1; ; look++) {
      for (const device of found.values()) {
        const mapped = await multipathOver(device, system);
        if (mapped !== undefined) return mapped;
      }
      if (portals.length === 1 || look === DEVICE_LOOKS) return realpath(first);
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** The link that udev makes. With another transport than TCP its name begins with the PCI address of the adapter. */
  private async device(name: string, transport: string, signal: AbortSignal): Promise<string> {
    const { system, clock } = this.deps;
    for (let look = 1; ; look++) {
      const links = await names(system.byPath);
      const link = links.find((one) =>
        transport === "tcp" ? one === name : /^pci-/.test(one) && one.endsWith(`-${name}`),
      );
      if (link !== undefined) return `${system.byPath}/${link}`;
      if (look === DEVICE_LOOKS) {
        throw new DiskAttachError(`Could not attach disk: no ${system.byPath}/${name} after ${DEVICE_LOOKS} s`);
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** Only that LUN: the node must not see others. A session that the system does not show has scanned by itself. */
  private async scan(iqn: string, lun: number): Promise<void> {
    const { scsiHosts } = this.deps.system;
    const root = `${dirname(scsiHosts)}/iscsi_host`;
    for (const host of await names(root)) {
      const sessions = (await names(`${root}/${host}/device`)).filter((name) => name.startsWith("session"));
      for (const session of sessions) {
        const file = `${root}/${host}/device/${session}/iscsi_session/${session}/targetname`;
        const name = await readFile(file, "utf8").catch(() => "");
        if (name.trim() === iqn) await writeFile(`${scsiHosts}/${host}/scan`, `0 0 ${lun}`);
      }
    }
  }

  private async detach({ place, directory, device, keep }: GoneDisk): Promise<void> {
    const { admin, system, log } = this.deps;
    const target = (await readTarget(directory)) ?? targetOfPlace(place);
    if (device !== "" && !keep) await removeDisk(device, system, log);
    if (target !== undefined && !keep) {
      await this.targets.run(target.iqn, async () => {
        if (await this.hasOthers(place, directory)) return;
        // iscsi.json and the place have the interface of the sessions.
        const { iface, iqn, portals, volume, initiatorName } = target;
        for (const portal of portals) await admin.logout({ portal, iqn, iface });
        if (initiatorName !== "" && iface === `${portals[0] ?? ""}:${volume}`) await admin.deleteIface(iface);
      });
    }
    await rm(`${directory}/${TARGET_FILE}`, { force: true });
  }

  /** Other directories of the target's LUNs through the same interface, in both volume modes: in use or about to be. */
  private async hasOthers(place: string, directory: string): Promise<boolean> {
    const prefix = place.slice(place.lastIndexOf("/") + 1, place.lastIndexOf("-lun-") + "-lun-".length);
    const root = directory.slice(0, -place.length).replace(/\/volumeDevices\/$/, "/");
    const iface = dirname(place);
    for (const parent of [`${root}${iface}`, `${root}volumeDevices/${iface}`]) {
      const all = await paths.namesIn(parent);
      if (all.some((name) => name.startsWith(prefix) && `${parent}/${name}` !== directory)) return true;
    }
    return false;
  }
}
