// What the files of a log have on the disk: names, and the lines of their records.

import { gunzipSync } from "node:zlib";
import type { Inode } from "../disk/inode.js";
import { folderOf } from "./container-logs.js";
import type { LogRun } from "./log-run.js";

interface LogFile {
  name: string;
  inode: Inode;
  isCompressed: boolean;
}

const RECORD = /^\S+ (?:stdout|stderr) ([FP]) (.*)$/;

/** The files of a run, oldest first, the one being written last. One that is there twice comes once, plain. */
export function logFilesOf(run: LogRun): LogFile[] {
  const current = `${run.attempt}.log`;
  const found = new Map<string, LogFile>();
  for (const [name, inode] of folderOf(run)?.entries ?? []) {
    const rest = name.startsWith(current) ? name.slice(current.length) : undefined;
    const [, stem] = /^(|\.\d{8}-\d{6})(?:\.gz)?$/.exec(rest ?? "none") ?? [];
    const isCompressed = name.endsWith(".gz");
    if (stem !== undefined && !(isCompressed && found.has(stem))) found.set(stem, { name, inode, isCompressed });
  }
  // The current one has no stem.
  return [...found].sort(([a], [b]) => (a === "" ? 1 : b === "" ? -1 : a < b ? -1 : 1)).map(([, file]) => file);
}

interface LinesOnDisk {
  /** Numbers of the first and of the last line that is whole; 0: there is none. */
  first: number;
  last: number;
  /** The fault of the files; undefined: lines are whole and follow each other. */
  problem: string | undefined;
}

export function linesOnDisk(run: LogRun): LinesOnDisk {
  const found: LinesOnDisk = { first: 0, last: 0, problem: undefined };
  let before: string | undefined;
  for (const { name, inode, isCompressed } of logFilesOf(run)) {
    const records = textOf(inode, isCompressed);
    if (records === undefined) return { ...found, problem: `${name} is damaged` };
    for (const record of records.split("\n").slice(0, -1)) {
      const [, tag, part = ""] = RECORD.exec(record) ?? [];
      if (tag === undefined) return { ...found, problem: `${name} has the record ${JSON.stringify(record)}` };
      const text: string = (before ?? "") + part;
      before = tag === "P" ? text : undefined;
      if (tag === "F" && !isNext(run, found, text)) {
        const expected = `${name} has after line ${found.last} the line ${JSON.stringify(text.slice(0, 80))}`;
        return { ...found, problem: expected };
      }
    }
  }
  return found;
}

/** The rest of a line whose beginning went with an older file may come first. */
function isNext(run: LogRun, found: LinesOnDisk, text: string): boolean {
  const number = run.numberOf(text);
  if (found.last === 0 && number === undefined) return true;
  if (number === undefined || run.textOf(number) !== text) return false;
  // Lines that come late to the old file are not there before the first ones of the new file.
  const between = run.lines.slice(found.last, number - 1);
  if (found.last !== 0 && (number <= found.last || between.some(({ atMs }) => atMs !== Infinity))) return false;
  if (found.first === 0) found.first = number;
  found.last = number;
  return true;
}

function textOf(inode: Inode, isCompressed: boolean): string | undefined {
  try {
    return (isCompressed ? gunzipSync(inode.data) : inode.data).toString();
  } catch {
    return undefined;
  }
}
