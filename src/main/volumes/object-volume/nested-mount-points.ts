// Directories that a volume must have because another volume is mounted inside it: the runtime could not make them in a
// volume that is mounted read-only. Invariant: linear in the number of mounts but for one sort; a pod may name thousands.
import { posix } from "node:path";
import type { Pod, VolumeMount } from "../../../shared/api/pod.js";
import { PayloadPathError } from "../errors.js";

interface MountPoint {
  path: string;
  volumes: string[];
}

/** Paths in the volume, without those below others. @throws PayloadPathError for a mount path that leads upwards */
export function nestedMountPoints(pod: Pod, volume: string): string[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const nested = new Set<string>();
  for (const { volumeMounts = [] } of [...initContainers, ...containers, ...ephemeralContainers]) {
    if (!volumeMounts.some(({ name }) => name === volume)) continue;
    // Mount points around the one that is looked at, outermost first.
    const around: MountPoint[] = [];
    for (const point of parentsFirst(volumeMounts)) {
      const { path, volumes } = point;
      if (volumes.includes(volume) && path.startsWith("../")) {
        throw new PayloadPathError(path, "a mount path must not lead upwards");
      }
      let parent = around.at(-1);
      while (parent !== undefined && !path.startsWith(`${parent.path}/`)) {
        around.pop();
        parent = around.at(-1);
      }
      if (parent?.volumes.includes(volume) === true) nested.add(path.slice(parent.path.length + 1));
      around.push(point);
    }
  }
  return [...nested];
}

/** Each mount path once; a path comes right before all paths below it. */
function parentsFirst(mounts: readonly VolumeMount[]): MountPoint[] {
  const points = new Map<string, MountPoint & { key: string }>();
  for (const { name, mountPath } of mounts) {
    const normal = posix.normalize(mountPath);
    const path = normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
    const known = points.get(path);
    // NUL sorts before every other character, so "/a/b" comes before "/a-b".
    if (known === undefined) points.set(path, { path, volumes: [name], key: path.replaceAll("/", "\0") });
    else if (known.volumes.at(-1) !== name) known.volumes.push(name);
  }
  return [...points.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
