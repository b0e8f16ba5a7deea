// Pods with logs on this machine: the directories' names end in the pod's UID. Other names are ignored.
// Invariant: a pass takes a bounded number of them, whatever was planted beside; the next pass finds the rest.
import { errorCode } from "../../shared/errors/thrown.js";
import { entriesOf, MOST_NAMES } from "../../shared/fs/untrusted-folder.js";

const POD_LOGS = /^[a-z0-9-]+_[a-z0-9.-]+_([A-Za-z0-9][A-Za-z0-9.-]{0,127})$/;

export async function podsWithLogs(podLogsDir: string, most = MOST_NAMES): Promise<string[]> {
  const uids: string[] = [];
  try {
    for await (const entry of entriesOf(podLogsDir)) {
      const uid = POD_LOGS.exec(entry.name)?.[1];
      if (uid !== undefined && entry.isDirectory()) uids.push(uid);
      if (uids.length === most) break;
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  return uids;
}
