// Directories that a volume must have because another volume is mounted inside it: the runtime could not make them in a
// volume that is mounted read-only.
import { posix } from "node:path";
import type { Pod } from "../../../shared/api/pod.js";
import { PayloadPathError } from "../errors.js";

/** Paths in the volume, without those below others. @throws PayloadPathError for a mount path that leads upwards */
export function nestedMountPoints(pod: Pod, volume: string): string[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const nested = new Set<string>();
  for (const { volumeMounts = [] } of [...initContainers, ...containers, ...ephemeralContainers]) {
    const all = volumeMounts.map(({ mountPath }) => posix.normalize(mountPath).replace(/(?<=.)\/$/, "")).sort();
    for (const { name, mountPath } of volumeMounts) {
      if (name !== volume) continue;
      const own = posix.normalize(mountPath).replace(/(?<=.)\/$/, "");
      if (own.startsWith("../")) throw new PayloadPathError(own, "a mount path must not lead upwards");
      let last: string | undefined;
      for (const other of all) {
        if (!other.startsWith(`${own}/`) || (last !== undefined && other.startsWith(`${last}/`))) continue;
        last = other;
        nested.add(other.slice(own.length + 1));
      }
    }
  }
  return [...nested];
}
