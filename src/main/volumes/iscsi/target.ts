// One LUN of an iSCSI target as a volume names it. It has the directory of its mount, and the file iscsi.json, which
// upstream's kubelet reads, too.

import { errorCode } from "../../../shared/base/errors/error-code.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readRegularText } from "../../../shared/io/fs/regular-file.js";
import type { ISCSIVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import { pathWord } from "../disks/disk.js";
import { VolumeError } from "../volume-error.js";

const DEFAULT_PORT = 3260;
const FILE = "iscsi.json";

export interface IscsiTarget {
  /** Address and port of each, the first one first. */
  portals: readonly string[];
  iqn: string;
  lun: number;
  iface: string;
  /** "" unless the volume has one; the interface is a copy made for it then. */
  initiatorName: string;
  volume: string;
}

/** `volume`: the name of the persistent volume, or of the pod's volume. @throws VolumeError */
export function targetOf(source: ISCSIVolumeSource, volume: string): IscsiTarget {
  const portals = [source.targetPortal, ...(source.portals ?? [])].map((portal) =>
    withPort(pathWord("iscsi portal", portal)),
  );
  const iqn = pathWord("iscsi iqn", source.iqn);
  const { lun, iscsiInterface, initiatorName = "" } = source;
  if (!Number.isInteger(lun) || lun < 0 || lun > 255) throw new VolumeError(`iscsi lun ${lun} is not from 0 to 255`);
  if (initiatorName !== "") pathWord("iscsi initiatorName", initiatorName);
  const iface = pathWord(
    "iscsi interface",
    iscsiInterface === undefined || iscsiInterface === "" ? "default" : iscsiInterface,
  );
  return { portals: [...new Set(portals)], iqn, lun, iface, initiatorName, volume: pathWord("volume name", volume) };
}

/** The interface that sessions use. */
export function sessionIface({ portals, iface, initiatorName, volume }: IscsiTarget): string {
  return initiatorName === "" ? iface : `${portals[0] ?? ""}:${volume}`;
}

/** Below plugins/kubernetes.io/iscsi. */
export function placeOf(target: IscsiTarget): string {
  return `iface-${sessionIface(target)}/${target.portals[0] ?? ""}-${target.iqn}-lun-${target.lun}`;
}

/** The target of a place without its file: with its first portal only. */
export function targetOfPlace(place: string): IscsiTarget | undefined {
  const parts = /^iface-([^/]+)\/([^/]+?)-((?:iqn|eui|naa)\.[^/]+)-lun-(\d+)$/.exec(place);
  if (parts === null) return undefined;
  const [, iface = "", portal = "", iqn = "", lun = ""] = parts;
  return { portals: [portal], iqn, lun: Number(lun), iface, initiatorName: "", volume: "" };
}

/** Before the mount, which hides the file until it is unmounted. */
export async function writeTarget(directory: string, target: IscsiTarget): Promise<void> {
  const { volume: VolName, portals: Portals, iqn: Iqn, lun, initiatorName: InitiatorName } = target;
  const content = { VolName, Portals, Iqn, Lun: String(lun), Iface: sessionIface(target), InitiatorName };
  await atomicWrite(`${directory}/${FILE}`, `${JSON.stringify(content)}\n`);
}

/** undefined: no file, or no content of this kind. `iface` is that of the sessions. */
export async function readTarget(directory: string): Promise<IscsiTarget | undefined> {
  let text: string;
  try {
    text = await readRegularText(`${directory}/${FILE}`);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    const { VolName, Portals, Iqn, Lun, Iface, InitiatorName } = JSON.parse(text) as Record<string, unknown>;
    if (!Array.isArray(Portals) || typeof Iqn !== "string" || typeof Iface !== "string") return undefined;
    const portals = Portals.filter((portal) => typeof portal === "string");
    const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
    const lun = Number(textOf(Lun));
    return { portals, iqn: Iqn, lun, iface: Iface, initiatorName: textOf(InitiatorName), volume: textOf(VolName) };
  } catch {
    return undefined; // half a file, of a machine that crashed
  }
}

export const TARGET_FILE = FILE;

function withPort(portal: string): string {
  if (portal.startsWith("[")) return portal.endsWith("]") ? `${portal}:${DEFAULT_PORT}` : portal;
  return portal.includes(":") ? portal : `${portal}:${DEFAULT_PORT}`;
}
