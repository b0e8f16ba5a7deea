// A volume of a cloud as its CSI driver's volume. Pure. Claims bind to persistent volumes as they are: only what this
// node does with them is another's.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { PersistentVolume } from "../../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../../shared/kubernetes/api/volume.js";
import { migratedField, type MigratedField } from "../migrated-plugins.js";
import { cloudAffinity } from "./cloud-affinity.js";
import { CLOUDS, type Source } from "./clouds.js";

/** undefined: it is no such volume. @throws VolumeError */
export function migratedVolume(pv: PersistentVolume): PersistentVolume | undefined {
  const field = migratedField(pv.spec);
  if (field === undefined) return undefined;
  const cloud = CLOUDS[field];
  const { csi, accessModes = pv.spec.accessModes } = cloud.csi(sourceOf(pv.spec, field), {
    pv,
    volume: "",
    namespace: "",
  });
  const nodeAffinity = cloudAffinity(pv, cloud);
  const spec = { ...pv.spec };
  Reflect.deleteProperty(spec, field);
  return {
    ...pv,
    spec: omitUndefined<PersistentVolume["spec"]>({
      ...spec,
      csi: { driver: cloud.driver, ...csi },
      accessModes: accessModes ?? spec.accessModes,
      nodeAffinity: nodeAffinity ?? spec.nodeAffinity,
    }),
  };
}

/**
 * Returns the persistent volume that stands for a volume which the pod names itself. undefined as above.
 * @throws VolumeError
 */
export function migratedInline(pod: Pod, volume: Volume): PersistentVolume | undefined {
  const field = migratedField(volume);
  if (field === undefined) return undefined;
  const cloud = CLOUDS[field];
  const { driver } = cloud;
  const { namespace } = pod.metadata;
  const { csi, accessModes = ["ReadWriteOnce"] } = cloud.csi(sourceOf(volume, field), {
    volume: volume.name,
    namespace,
  });
  const name = nameOf(field, driver, csi.volumeHandle, volume);
  return { metadata: { name }, spec: { accessModes, volumeMode: "Filesystem", csi: { driver, ...csi } } };
}

/** Part of paths on disk: the same as upstream's, which may take the node over. */
function nameOf(field: MigratedField, driver: string, handle: string, volume: Volume): string {
  switch (field) {
    case "azureDisk":
    case "azureFile":
      return handle;
    case "gcePersistentDisk":
      return `${driver}-${String(sourceOf(volume, field)["pdName"])}`;
    default:
      return `${driver}-${handle}`;
  }
}

function sourceOf(spec: Readonly<Record<string, unknown>>, field: MigratedField): Source {
  const source = spec[field];
  return typeof source === "object" && source !== null ? (source as Source) : {};
}
