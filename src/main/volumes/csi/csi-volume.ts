// One CSI volume as a pod wants it, from a persistent volume or from the pod itself.

import type { CSIPersistentVolumeSource, PersistentVolume, SecretRef } from "../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { CSIVolumeSource, Volume } from "../../../shared/kubernetes/api/volume.js";
import { mountOptionsOf } from "../pv-annotations.js";
import { VolumeError } from "../volume-error.js";
import { CSI_PLUGIN, ephemeralHandle, specName, uniqueVolumeName } from "./paths.js";
import type { VolumeLifecycle } from "./vol-data.js";

/** Longest file name that the kernel allows, in bytes. */
const NAME_MAX = 255;

export interface CsiVolume {
  driver: string;
  handle: string;
  lifecycle: VolumeLifecycle;
  /** Name of the PV, or of the pod's volume. */
  name: string;
  /** The name, escaped as part of a path. */
  spec: string;
  fsType: string;
  attributes: Readonly<Record<string, string>>;
  mountOptions: readonly string[];
  accessModes: readonly string[];
  readOnly: boolean;
  /** The API names it as its cloud's. */
  migrated?: true | undefined;
  /** For an inline volume: the volume as the attacher sees it, because there is no persistent volume. */
  attachAs?: PersistentVolume["spec"];
  stageSecret?: SecretRef | undefined;
  publishSecret?: SecretRef | undefined;
  expandSecret?: SecretRef | undefined;
}

/** Driver and handle: the same volume under any name of pods or PVs. */
export function deviceKey(volume: Pick<CsiVolume, "driver" | "handle">): string {
  return uniqueVolumeName(volume.driver, volume.handle);
}

export function deviceOf(csi: CSIPersistentVolumeSource): { driver: string; handle: string } {
  return { driver: csi.driver, handle: csi.volumeHandle };
}

/** The plugin name that metrics use for the driver's volumes. */
export function csiPlugin(driver: string): string {
  return `${CSI_PLUGIN}:${driver}`;
}

/** @throws VolumeError */
export function persistentVolume(
  pv: PersistentVolume,
  csi: CSIPersistentVolumeSource,
  readOnly: boolean,
  migrated = false,
): CsiVolume {
  const name = checkedName(pv.metadata.name ?? "", csi.driver);
  return {
    driver: csi.driver,
    handle: csi.volumeHandle,
    lifecycle: "Persistent",
    name,
    spec: specName(name),
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    mountOptions: mountOptionsOf(pv),
    accessModes: pv.spec.accessModes ?? [],
    readOnly,
    migrated: migrated ? true : undefined,
    stageSecret: csi.nodeStageSecretRef,
    publishSecret: csi.nodePublishSecretRef,
    expandSecret: csi.nodeExpandSecretRef,
  };
}

/** A volume that is created and removed with its pod. @throws VolumeError */
export function inlineVolume(pod: Pod, volume: Volume, csi: CSIVolumeSource): CsiVolume {
  const { uid, namespace } = pod.metadata;
  const secret = csi.nodePublishSecretRef?.name;
  return {
    driver: csi.driver,
    handle: ephemeralHandle(uid, volume.name),
    lifecycle: "Ephemeral",
    name: volume.name,
    spec: specName(checkedName(volume.name, csi.driver)),
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    mountOptions: [],
    accessModes: ["ReadWriteOnce"],
    readOnly: csi.readOnly === true,
    publishSecret: secret === undefined ? undefined : { name: secret, namespace },
  };
}

/** Both become directories that are later removed. Names of clouds' volumes have signs that no object's name has. */
function checkedName(name: string, driver: string): string {
  if (!/^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$/.test(driver) || driver.includes("..")) {
    throw new VolumeError(`${JSON.stringify(driver)} can be no name of a driver: letters, digits, '-' and '.'`);
  }
  if (name.length > NAME_MAX) throw new VolumeError("a name of a volume becomes a directory and is too long for one");
  const word = specName(name);
  if (/^[^.\p{Cc}][^\p{Cc}]*$/u.test(word) && !word.includes("..") && Buffer.byteLength(word) <= NAME_MAX) return name;
  throw new VolumeError(`${JSON.stringify(word)} can be no name of a volume: it becomes a directory`);
}
