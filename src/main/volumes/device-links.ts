// The symbolic links by which pods and the kubelet find a block device.

import { rm, symlink, readlink } from "fs/promises";
import { errorCode } from "../../shared/base/errors/error-code.js";

/** Makes `path` a link to `target`. Nothing changes when it is one already. */
export async function link(target: string, path: string): Promise<void> {
  if ((await linkTo(path)) === target) return;
  await rm(path, { force: true });
  await symlink(target, path);
}

/** The target of the link at `path`; undefined: there is no link. */
export async function linkTo(path: string): Promise<string | undefined> {
  return readlink(path).catch((error: unknown) => {
    if (["ENOENT", "EINVAL", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  });
}
