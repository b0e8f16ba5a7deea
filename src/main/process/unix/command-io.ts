// Reads configuration files, the drop-in directory and the machine's facts for the command line and its validation
// rules. Synchronous on purpose: no other work runs yet.
// Invariant: whatever lies in the directory, reading ends, and takes bounded memory.

import { closeSync, lstatSync, opendirSync, openSync, readFileSync, readSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { openUntrustedSync } from "../../../shared/io/fs/untrusted-file.js";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { SIZE_LIMIT } from "../../command/config/size-limits.js";
import type { HostFacts } from "../../command/rules/rule.js";
import type { CommandIo } from "../../command/settings.js";

const CGROUP2_MAGIC = 0x63677270;

export const commandIo: CommandIo = { readFile, listFiles, host };

/** Files and folders below the drop-in directory. */
export const MAX_ENTRIES = 20_000;

/**
 * The file that the operator names may be a pipe, as of a shell's `<(…)`. A drop-in is a regular file, or a link to
 * one: a pipe that lies in the directory would hold the start for ever.
 */
function readFile(path: string, kind: "file" | "drop-in"): Uint8Array {
  const fd = kind === "file" ? openSync(path, "r") : openUntrustedSync(path, { followLink: true }).fd;
  try {
    return readStart(fd);
  } finally {
    closeSync(fd);
  }
}

/** One byte more than the limit tells that there are more. */
function readStart(fd: number): Uint8Array {
  const chunks: Buffer[] = [];
  let left = SIZE_LIMIT + 1;
  while (left > 0) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(left, 64 * 1024));
    const length = readSync(fd, chunk);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    left -= length;
  }
  return Buffer.concat(chunks);
}

/** Node's own recursive readdir follows links to directories from Node 22 on; upstream's drop-in directory does not. */
function listFiles(dir: string): string[] | "link" | "file" {
  // A slash at the end of the path follows a link.
  const stats = lstatSync(dir);
  if (!stats.isDirectory()) return stats.isSymbolicLink() ? "link" : "file";
  const files: string[] = [];
  let left = MAX_ENTRIES;
  const walk = (below: string): void => {
    const folder = opendirSync(join(dir, below));
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (--left < 0) throw new Error(`it has more than ${MAX_ENTRIES} files and folders`);
        const path = join(below, entry.name);
        if (entry.isDirectory()) walk(path);
        else files.push(path);
      }
    } finally {
      folder.closeSync();
    }
  };
  walk("");
  return files;
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
