// The files of the API that a node without a cluster has, as they are on the disk.

import { disk } from "../disk/machine-disk.js";
import { ROOT } from "./machine-files.js";

export const STORE = `${ROOT}/nodelet/api/store`;
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
