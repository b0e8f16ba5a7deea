// The file system that holds the images: its path from the runtime, its usage from the kernel.

import { statfs } from "node:fs/promises";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import type { ImageFs } from "./selection.js";

export type StatFs = (path: string) => Promise<Pick<ImageFs, "capacity" | "available">>;

const statFsOf: StatFs = async (path) => {
  const { bsize, blocks, bavail } = await statfs(path);
  return { capacity: bsize * blocks, available: bsize * bavail };
};

/** @throws OperatorError, CriError */
export async function readImageFs(cri: Pick<CriClient, "imageFsInfo">, stat: StatFs = statFsOf): Promise<ImageFs> {
  const { imageFilesystems } = await cri.imageFsInfo({});
  const mountpoint = imageFilesystems[0]?.fsId?.mountpoint ?? "";
  if (mountpoint === "") throw new OperatorError("the runtime names no file system for its images (ImageFsInfo)");
  try {
    return { mountpoint, ...(await stat(mountpoint)) };
  } catch (error) {
    const why = messageOf(error);
    const message = `cannot read the runtime's image file system ${mountpoint}: ${why}`;
    throw new OperatorError(message, { cause: error });
  }
}
