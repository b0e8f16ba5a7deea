// A program of the set-up that ends by itself is reported with its exit status or signal and the end of its log.

import type { ChildProcess } from "node:child_process";
import { open } from "node:fs/promises";

/** Lines of a log in a message. */
const SHOWN_LINES = 24;
/** Enough for long lines; a log of gigabytes is not read. */
const TAIL_BYTES = 64 * 1024;

/** `status 1` or `signal SIGKILL`. */
export function howItEnded(child: ChildProcess | undefined): string {
  if (child?.signalCode != null) return `signal ${child.signalCode}`;
  return `status ${child?.exitCode ?? "unknown"}`;
}

/** The last lines of a log; empty where there is none. */
export async function lastLines(log: string, lines = SHOWN_LINES): Promise<string> {
  const file = await open(log).catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead).toString("utf8").trim().split("\n").slice(-lines).join("\n");
  } finally {
    await file.close();
  }
}

/** One sentence for the user, and the end of the log below it. */
export async function describeEnd(
  program: string,
  { child, log, lines }: { child: ChildProcess | undefined; log: string; lines?: number | undefined },
): Promise<string> {
  const tail = await lastLines(log, lines);
  const seen = tail === "" ? "its log is empty" : `the end of its log:\n${tail}`;
  return `${program} ended with ${howItEnded(child)}; ${seen}`;
}
