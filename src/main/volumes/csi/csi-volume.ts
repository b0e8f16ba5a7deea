// One CSI volume as a pod wants it, from a persistent volume or from the pod itself.
import type { CSIPersistentVolumeSource, PersistentVolume, SecretRef } from "../../../shared/api/objects.js";
import type { Pod } from "../../../shared/api/pod.js";
import type { CSIVolumeSource, Volume } from "../../../shared/api/volume.js";
import { CsiSpecError } from "./errors.js";
import { ephemeralHandle, specName, uniqueVolumeName } from "./paths.js";
import type { VolumeLifecycle } from "./vol-data.js";

export interface CsiVolume {
  driver: string;
  handle: string;
  lifecycle: VolumeLifecycle;
  /** Name of the PV, or of the pod's volume. */
  name: string;
  /** The same as part of a path. */
  spec: string;
  fsType: string;
  attributes: Readonly<Record<string, string>>;
  mountOptions: readonly string[];
  accessModes: readonly string[];
  readOnly: boolean;
  stageSecret?: SecretRef;
  publishSecret?: SecretRef;
  expandSecret?: SecretRef;
}

/** Driver and handle: the same volume, whatever pods or PVs call it. */
export function deviceKey(volume: Pick<CsiVolume, "driver" | "handle">): string {
  return uniqueVolumeName(volume.driver, volume.handle);
}

export function deviceOf(csi: CSIPersistentVolumeSource): { driver: string; handle: string } {
  return { driver: csi.driver, handle: csi.volumeHandle };
}

/** @throws CsiSpecError */
export function persistentVolume(pv: PersistentVolume, csi: CSIPersistentVolumeSource, readOnly: boolean): CsiVolume {
  const name = checkedName(pv.metadata.name ?? "", csi.driver);
  return {
    driver: csi.driver,
    handle: csi.volumeHandle,
    lifecycle: "Persistent",
    name,
    spec: specName(name),
    fsType: csi.fsType ?? "",
    attributes: csi.volumeAttributes ?? {},
    mountOptions: pv.spec.mountOptions ?? [],
    accessModes: pv.spec.accessModes ?? [],
    readOnly,
    ...(csi.nodeStageSecretRef === undefined ? {} : { stageSecret: csi.nodeStageSecretRef }),
    ...(csi.nodePublishSecretRef === undefined ? {} : { publishSecret: csi.nodePublishSecretRef }),
    ...(csi.nodeExpandSecretRef === undefined ? {} : { expandSecret: csi.nodeExpandSecretRef }),
  };
}

/** A volume that is made with its pod and gone with it. @throws CsiSpecError */
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
    ...(secret === undefined ? {} : { publishSecret: { name: secret, namespace } }),
  };
}

/** Both become directories that are later removed. */
function checkedName(name: string, driver: string): string {
  for (const word of [specName(name), driver]) {
    if (/^[A-Za-z0-9]([-A-Za-z0-9._~]*[A-Za-z0-9])?$/.test(word) && !word.includes("..")) continue;
    throw new CsiSpecError(
      `${JSON.stringify(word)} can be no name of a volume or driver: letters, digits, '-' and '.'`,
    );
  }
  return name;
}
