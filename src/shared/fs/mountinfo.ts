// /proc/<pid>/mountinfo as data. Format: proc_pid_mountinfo(5).
import { readFile } from "node:fs/promises";
import { sharedRead } from "./shared-read.js";

export interface Mount {
  id: number;
  parentId: number;
  /** The directory of the mounted filesystem that shows at `mountPoint`; "/" unless bind-mounted or namespaced. */
  root: string;
  mountPoint: string;
  fsType: string;
  source: string;
  /** Per-mount options, then per-filesystem options. */
  options: string[];
  superOptions: string[];
}

/** Lines that do not have the documented form are left out. */
export function parseMountinfo(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [left = "", right = ""] = line.split(" - ", 2);
    const [id, parentId, , root, mountPoint, options] = left.split(" ");
    const [fsType, source, superOptions] = right.split(" ");
    if (root === undefined || mountPoint === undefined || fsType === undefined || fsType === "") return [];
    return {
      id: Number(id),
      parentId: Number(parentId),
      root: unescape(root),
      mountPoint: unescape(mountPoint),
      fsType,
      source: unescape(source ?? ""),
      options: options?.split(",") ?? [],
      superOptions: superOptions?.split(",") ?? [],
    };
  });
}

/** Mounts of this process's namespace, in the order they were made. A burst of pods asks six times per pod. */
export const readMounts: () => Promise<readonly Mount[]> = sharedRead(async () =>
  parseMountinfo(await readFile("/proc/self/mountinfo", "utf8")),
);

/** Mounts at `directory` or below it, deepest first: the order in which they can be unmounted. */
export function mountsWithin(mounts: readonly Mount[], directory: string): Mount[] {
  return mounts
    .filter(({ mountPoint }) => mountPoint === directory || mountPoint.startsWith(`${directory}/`))
    .reverse()
    .sort((a, b) => b.mountPoint.length - a.mountPoint.length);
}

function unescape(field: string): string {
  if (!field.includes("\\")) return field;
  const bytes = Buffer.from(field, "utf8").toString("latin1");
  const plain = bytes.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
  return Buffer.from(plain, "latin1").toString("utf8");
}
