// Records of pods as another release of the kubelet writes them. An older one did not have members that came later
// (they appeared from 2026-11-21 to 2026-11-22, all optional); a newer one has members that this release does not know.
// Upstream's kubelet has no records.

import { disk } from "../disk/machine-disk.js";
import { ROOT } from "./machine-files.js";

const RECORDS = `${ROOT}/nodelet/pods`;
/** Members of a pod record that came after its first release. */
const LATER = ["preStopsDone", "endDeadline"];
const UNKNOWN = { ofANewerRelease: { version: 2, values: [1, 2, 3] } };

export type OtherRelease = "older" | "newer" | "upstream";

/** Rewrites all records in place, or removes them. Returns their number. */
export function rewriteRecords(from: OtherRelease): number {
  if (!disk.tree.exists(RECORDS)) return 0;
  let count = 0;
  for (const [name, { data }] of [...disk.tree.lookUp(RECORDS, "readdir").entries]) {
    if (!name.endsWith(".json")) continue;
    if (from === "upstream") {
      disk.tree.unlink(`${RECORDS}/${name}`);
      count++;
      continue;
    }
    const record = recordOf(data);
    if (record === undefined) continue;
    if (from === "newer") Object.assign(record, UNKNOWN);
    else for (const member of LATER) Reflect.deleteProperty(record, member);
    disk.file(`${RECORDS}/${name}`, `${JSON.stringify(record)}\n`);
    count++;
  }
  return count;
}

/** undefined: a power loss has torn it. */
function recordOf(data: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(data.toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
