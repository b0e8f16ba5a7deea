// Annotations of persistent volumes that predate fields: mount options, and the group that may use the volume's files.
// Invariant: plugins read the mount options of a persistent volume only here.

import type { PersistentVolume } from "../../shared/kubernetes/api/objects.js";

const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";
const GROUP = "pv.beta.kubernetes.io/gid";
const LAST_GROUP = 2 ** 32 - 2;

/** Each once, in the order of their names, as upstream passes them on. The annotation wins over the field. */
export function mountOptionsOf({ metadata, spec }: PersistentVolume): string[] {
  const options = metadata.annotations?.[MOUNT_OPTIONS]?.split(",") ?? spec.mountOptions ?? [];
  return [...new Set(options.filter((option) => option !== ""))].sort();
}

/** A group that each container of the pod is put in; undefined: none, or the annotation is no group. */
export function groupOf({ metadata }: PersistentVolume): number | undefined {
  const text = metadata.annotations?.[GROUP] ?? "";
  if (!/^\+?\d{1,10}$/.test(text)) return undefined;
  const group = Number(text);
  return group <= LAST_GROUP ? group : undefined;
}
