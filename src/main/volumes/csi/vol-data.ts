// vol_data.json: the facts about a volume that was passed to a driver. It is written before the call to the driver. So
// a kubelet that finds it after a crash can undo the driver's calls. Keys are upstream's, which also reads these files.

import { rm } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readRegularText } from "../../../shared/io/fs/regular-file.js";
import { attachmentName, VOL_DATA_FILE } from "./paths.js";

export type VolumeLifecycle = "Persistent" | "Ephemeral";

export interface VolData {
  driverName: string;
  volumeHandle: string;
  specVolID?: string;
  nodeName?: string;
  attachmentID?: string;
  volumeLifecycleMode?: VolumeLifecycle;
  seLinuxMountContext?: string;
}

/** Synced to disk: a network volume's device may come back after a power cut, and its unpublish needs this file. */
export async function writeVolData(directory: string, data: VolData): Promise<void> {
  await atomicWrite(`${directory}/${VOL_DATA_FILE}`, JSON.stringify(data));
}

interface PublishedVolume {
  readonly driver: string;
  readonly handle: string;
  readonly name: string;
  readonly lifecycle: VolumeLifecycle;
}

/** Writes the facts about a volume that is published to a pod, before the call to the driver. */
export async function recordVolume(directory: string, volume: PublishedVolume, nodeName: string): Promise<void> {
  const { driver: driverName, handle: volumeHandle, name: specVolID, lifecycle: volumeLifecycleMode } = volume;
  const attachmentID = attachmentName(volumeHandle, driverName, nodeName);
  const data = { specVolID, volumeHandle, driverName, nodeName, attachmentID, volumeLifecycleMode };
  await writeVolData(directory, data);
}

/** undefined when there is none, or only garbage of a machine that crashed. */
export async function readVolData(directory: string): Promise<VolData | undefined> {
  let text: string;
  try {
    text = await readRegularText(`${directory}/${VOL_DATA_FILE}`);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    const data = JSON.parse(text) as Partial<VolData> | null;
    if (typeof data?.driverName !== "string" || typeof data.volumeHandle !== "string") return undefined;
    return { ...data, driverName: data.driverName, volumeHandle: data.volumeHandle };
  } catch {
    return undefined;
  }
}

export async function removeVolData(directory: string): Promise<void> {
  await rm(`${directory}/${VOL_DATA_FILE}`, { force: true });
}
