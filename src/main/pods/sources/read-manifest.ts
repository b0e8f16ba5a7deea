// Reads one manifest file and never blocks. It opens only regular files, with O_NONBLOCK. So a FIFO that replaces the
// file between two calls cannot block the source.

import { constants } from "node:fs";
import { lstat, open, stat } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { MANIFEST_LIMIT } from "./decode-job.js";

/** Changes whenever the file's content or its readability may have changed. */
export type FileSignature = string;

export type ReadOutcome =
  | { kind: "missing" }
  /** A directory: it is no manifest and is skipped without a log line. */
  | { kind: "ignored" }
  /** There, but not readable as a manifest. */
  | { kind: "refused"; signature: FileSignature; reason: string }
  | { kind: "content"; signature: FileSignature; bytes: Buffer; mtimeMs: number };

interface FileStat {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

function signatureOf(stats: FileStat): FileSignature {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** The signature alone; undefined if the file cannot be read. */
export async function currentSignature(path: string): Promise<FileSignature | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats === undefined ? undefined : signatureOf(stats);
}

/** With `known` equal to the file's signature the content is not read again: the outcome is then undefined. */
export async function readManifest(path: string, known?: FileSignature): Promise<ReadOutcome | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    const signature = signatureOf(stats);
    if (stats.isDirectory()) return { kind: "ignored" };
    if (signature === known) return undefined;
    if (!stats.isFile()) return { kind: "refused", signature, reason: "a manifest must be a regular file" };
    if (stats.size > MANIFEST_LIMIT) {
      return { kind: "refused", signature, reason: `its size must be at most ${MANIFEST_LIMIT / 1024 / 1024} MiB` };
    }
    return await readRegular(path);
  } catch (error) {
    return await unreadable(path, error);
  }
}

async function readRegular(path: string): Promise<ReadOutcome> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await file.stat({ bigint: true });
    const signature = signatureOf(stats);
    if (!stats.isFile()) return { kind: "refused", signature, reason: "a manifest must be a regular file" };
    // One byte of room shows a file that grew; the caller compares signatures afterwards anyway.
    const room = Buffer.allocUnsafeSlow(Math.min(Number(stats.size), MANIFEST_LIMIT) + 1);
    let length = 0;
    while (length < room.length) {
      const { bytesRead } = await file.read(room, length, room.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { kind: "content", signature, bytes: room.subarray(0, length), mtimeMs: Number(stats.mtimeNs / 1_000_000n) };
  } finally {
    await file.close();
  }
}

async function unreadable(path: string, error: unknown): Promise<ReadOutcome> {
  const code = errorCode(error);
  if (code === undefined) throw error;
  // Log a dangling link; a deleted file needs no log line.
  const link = await lstat(path, { bigint: true }).catch(() => undefined);
  if (link === undefined) return { kind: "missing" };
  const signature = `${code}:${signatureOf(link)}`;
  if (code === "ENOENT") {
    return link.isSymbolicLink()
      ? { kind: "refused", signature, reason: "its symbolic link leads nowhere" }
      : { kind: "missing" };
  }
  if (code === "ELOOP") return { kind: "refused", signature, reason: "its symbolic links form a loop" };
  return { kind: "refused", signature, reason: `the kubelet must be able to read it (${code})` };
}
