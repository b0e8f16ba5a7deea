// Reads /proc for the processes of one container: open files, sockets, the limit of open files.

import { listOpenFiles, type ReadText } from "../../../shared/node/stats/kernel-file.js";

export interface ProcessFigures {
  files: number;
  sockets: number;
  /** RLIMIT_NOFILE of the first process; Infinity: none. */
  openFilesLimit?: number | undefined;
}

/** Beyond so many, files are counted in the first ones alone: the page is not worth more. */
const MOST_PROCESSES = 64;

export function readProcesses(pids: readonly number[], read: ReadText, list = listOpenFiles): ProcessFigures {
  let files = 0;
  let sockets = 0;
  for (const pid of pids.slice(0, MOST_PROCESSES)) {
    const open = list(pid);
    files += open.length;
    sockets += open.filter((target) => target.startsWith("socket:")).length;
  }
  const limit = pids[0] === undefined ? undefined : softLimit(read(`/proc/${pids[0]}/limits`));
  return { files, sockets, openFilesLimit: limit };
}

/** "Max open files            1024                 524288               files" */
function softLimit(limits: string | undefined): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(limits ?? "")?.[1];
  if (soft === undefined) return undefined;
  return soft === "unlimited" ? Infinity : Number(soft);
}
