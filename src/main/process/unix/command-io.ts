// Reads configuration files, the drop-in directory and the machine's facts for the command line and its validation
// rules. Synchronous on purpose: no other work runs yet.

import { readFileSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import type { HostFacts } from "../../command/rules/rule.js";
import type { CommandIo } from "../../command/settings.js";

const CGROUP2_MAGIC = 0x63677270;

export const commandIo: CommandIo = { readFile, listFiles, host };

function readFile(path: string): Uint8Array {
  return readFileSync(path);
}

/** Node's own recursive readdir follows links to directories from Node 22 on; upstream's drop-in directory does not. */
function listFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? listFiles(join(dir, entry.name)).map((below) => join(entry.name, below)) : [entry.name],
  );
}

/** A fact that can't be read stays undefined, and its rules are skipped. */
function host(): HostFacts {
  return {
    cgroupVersion: known(() => (statfsSync("/sys/fs/cgroup").type === CGROUP2_MAGIC ? 2 : 1)),
    onlineCpus: known(() => parseCpuList(readFileSync("/sys/devices/system/cpu/online", "utf8").trim())),
  };
}

function known<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
