// Directories that a volume must have because another volume is mounted inside it. The runtime could not make them in a
// volume that is mounted read-only. Invariant: linear in the number of mounts but for one sort; a pod may name
// thousands.

import { posix } from "path/posix";
import { perSpec } from "../../../shared/kubernetes/api/per-spec.js";
import type { Pod, VolumeMount } from "../../../shared/kubernetes/api/pod.js";
import { payloadPathError } from "../errors.js";

interface MountPoint {
  path: string;
  volumes: string[];
}

interface Nested {
  /** Volume to the paths in it. */
  paths: ReadonlyMap<string, ReadonlySet<string>>;
  /** Volume to its first mount path that leads upwards. */
  upwards: ReadonlyMap<string, string>;
}

/**
 * Paths in the volume, without those below others. @throws VolumeError for a mount path that leads upwards
 */
export function nestedMountPoints({ spec }: Pod, volume: string): string[] {
  const nested = nestedOfPod(spec);
  const upwards = nested.upwards.get(volume);
  if (upwards !== undefined) throw payloadPathError(upwards, "a mount path must not lead upwards");
  return [...(nested.paths.get(volume) ?? [])];
}

/** Found once for all volumes of a pod: each of thousands would sort thousands of mounts. */
const nestedOfPod = perSpec(nestedOf);

function nestedOf({ containers, initContainers = [], ephemeralContainers = [] }: Pod["spec"]): Nested {
  const paths = new Map<string, Set<string>>();
  const upwards = new Map<string, string>();
  for (const { volumeMounts = [] } of [...initContainers, ...containers, ...ephemeralContainers]) {
    // Mount points around the present one, outermost first.
    const around: MountPoint[] = [];
    for (const point of parentsFirst(volumeMounts)) {
      const { path, volumes } = point;
      if (path.startsWith("../")) {
        for (const volume of volumes) if (!upwards.has(volume)) upwards.set(volume, path);
      }
      let parent = around.at(-1);
      while (parent !== undefined && !path.startsWith(`${parent.path}/`)) {
        around.pop();
        parent = around.at(-1);
      }
      for (const volume of new Set(parent?.volumes)) {
        const found = paths.get(volume) ?? new Set();
        paths.set(volume, found.add(path.slice((parent?.path.length ?? 0) + 1)));
      }
      around.push(point);
    }
  }
  return { paths, upwards };
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
