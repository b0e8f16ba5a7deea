// The files of the API that a node without a cluster has, as they are on the disk.

import { disk } from "../disk/machine-disk.js";
import { ROOT } from "./machine-files.js";

export const API_FOLDER = `${ROOT}/nodelet/api`;
export const STORE = `${API_FOLDER}/store`;
export const OBJECTS = `${STORE}/objects`;

/** Undefined: there is no such file. `path` is that below the folder of objects. */
export function objectFile(path: string): string | undefined {
  return disk.tree.exists(`${OBJECTS}/${path}`)
    ? disk.tree.lookUp(`${OBJECTS}/${path}`, "read").data.toString()
    : undefined;
}

/** Paths of all files below the folder of objects. */
export function objectPaths(): string[] {
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const [name, inode] of disk.tree.lookUp(`${OBJECTS}/${folder}`, "scandir").entries) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (inode.kind === "directory") walk(path);
      else found.push(path);
    }
  };
  if (disk.tree.exists(OBJECTS)) walk("");
  return found;
}

/** As editors write a file: nothing is synced. Nothing happens without its folder. */
export function writeFile(path: string, text: string): void {
  const { tree } = disk;
  if (!tree.exists(path.slice(0, path.lastIndexOf("/")))) return;
  const flags = { write: true, create: true, truncate: true, exclusive: false, append: false };
  const fd = tree.open(path, { ...flags, noFollow: false, directory: false, isPath: false }, 0o640);
  tree.write(fd, Buffer.from(text), null);
  tree.close(fd);
}
