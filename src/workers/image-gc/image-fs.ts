// The file system that holds the images: its path from the runtime, its usage from the kernel.
import { statfs } from "node:fs/promises";
import type { CriClient } from "../../shared/cri/client.js";
import type { ImageFs } from "./selection.js";
import { messageOf } from "../../shared/errors/thrown.js";

/** The runtime does not report the path of its images, or the path cannot be read. */
class ImageFsError extends Error {
  override readonly name = "ImageFsError";
}

export type StatFs = (path: string) => Promise<Pick<ImageFs, "capacity" | "available">>;

const statFsOf: StatFs = async (path) => {
  const { bsize, blocks, bavail } = await statfs(path);
  return { capacity: bsize * blocks, available: bsize * bavail };
};

/** @throws ImageFsError, CriError */
export async function readImageFs(cri: Pick<CriClient, "imageFsInfo">, stat: StatFs = statFsOf): Promise<ImageFs> {
  const { imageFilesystems } = await cri.imageFsInfo({});
  const mountpoint = imageFilesystems[0]?.fsId?.mountpoint ?? "";
  if (mountpoint === "") throw new ImageFsError("the runtime names no file system for its images (ImageFsInfo)");
  try {
    return { mountpoint, ...(await stat(mountpoint)) };
  } catch (error) {
    const why = messageOf(error);
    const message = `cannot read the runtime's image file system ${mountpoint}: ${why}`;
    throw new ImageFsError(message, { cause: error });
  }
}

// Formats bytes for messages.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** 1610612736 → "1.5 GiB" */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
