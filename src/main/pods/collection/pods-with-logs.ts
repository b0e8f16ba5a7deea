// Pods with logs on this machine, by the names of their directories. Other names are ignored.
// Invariant: a pass takes a bounded number of them, and the next pass finds the rest.

import { errorCode } from "../../../shared/base/errors/error-code.js";
import { MOST_NAMES, entriesOf } from "../../../shared/io/fs/untrusted-folder.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { podOfLogDirectory } from "../../model/paths.js";

export async function podsWithLogs(podLogsDir: string, most = MOST_NAMES): Promise<PodUid[]> {
  const uids: PodUid[] = [];
  try {
    for await (const entry of entriesOf(podLogsDir)) {
      const uid = podOfLogDirectory(entry.name)?.uid;
      // A name with more of them may be another program's.
      if (uid?.includes("_") === false && entry.isDirectory()) uids.push(uid);
      if (uids.length === most) break;
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  return uids;
}
