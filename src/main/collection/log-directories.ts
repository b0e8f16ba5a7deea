// Pods whose logs lie on this machine: the directories' names end in the pod's UID. Other names are not ours.
import { readdir } from "node:fs/promises";

const POD_LOGS = /^[a-z0-9-]+_[a-z0-9.-]+_([A-Za-z0-9][A-Za-z0-9.-]{0,127})$/;

export async function podsWithLogs(podLogsDir: string): Promise<string[]> {
  try {
    const entries = await readdir(podLogsDir, { withFileTypes: true });
    return entries.flatMap((entry) => {
      const uid = POD_LOGS.exec(entry.name)?.[1];
      return uid !== undefined && entry.isDirectory() ? [uid] : [];
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
