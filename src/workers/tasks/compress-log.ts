// Compresses a rotated log file. The output has another name, is synced, then renamed; only then is the plain file
// removed. Invariant: at every moment the lines are in a whole file; memory is one block. Each block is a gzip member
// (RFC 1952 permits several). zlib's streams would compress in libuv's pool, which main's file calls need. A pod with
// /var/log mounted may create links, FIFOs and devices there. Only a regular file is read, and the output is always a
// new file.

import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { gzipSync } from "node:zlib";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { CompressLogJob, CompressLogResult } from "../../shared/contracts/tasks.js";
import { createNewSync, openUntrustedSync } from "../../shared/io/fs/untrusted-file.js";
import { COMPRESSED, UNFINISHED } from "../../shared/node/container-logs/file-names.js";

const BLOCK = 1024 * 1024;
/** Bytes. Smaller chunks come from a pool of Node that all buffers share. */
const CHUNK = { least: 4096, most: 256 * 1024 };

export function compressLog({ path }: CompressLogJob): CompressLogResult {
  try {
    return compress(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN";
    if (code === "ENOENT") return { outcome: "gone" };
    return { outcome: "failed", code, message: messageOf(error) };
  }
}

function compress(path: string): CompressLogResult {
  const unfinished = path + UNFINISHED;
  const { fd: source } = openUntrustedSync(path);
  try {
    const { mode, atimeMs, mtimeMs } = fstatSync(source);
    let bytes: number;
    try {
      // A file left by an earlier try, or created there by a pod, is never written to.
      removeBestEffort(unfinished);
      const target = createNewSync(unfinished, mode & 0o777);
      try {
        fchmodSync(target, mode & 0o777);
        bytes = copyCompressed(source, target);
        // A file is as old as its last line: readers skip files by it, and know the file again.
        futimesSync(target, atimeMs / 1000, mtimeMs / 1000);
        fsyncSync(target);
      } finally {
        closeSync(target);
      }
      // Rotation has removed it meanwhile: it was one too many.
      if (fstatSync(source).nlink === 0) {
        unlinkSync(unfinished);
        return { outcome: "gone" };
      }
      renameSync(unfinished, path + COMPRESSED);
    } catch (error) {
      removeBestEffort(unfinished);
      throw error;
    }
    unlinkSync(path);
    return { outcome: "compressed", bytes };
  } finally {
    closeSync(source);
  }
}

/**
 * Output buffer of this thread, made by its first job: a log that floods makes many jobs, and V8 frees a dead block
 * late.
 */
let ownBlock: Buffer | undefined;

/** Returns how many bytes were written. */
function copyCompressed(source: number, target: number): number {
  const block = (ownBlock ??= Buffer.allocUnsafeSlow(BLOCK));
  let written = 0;
  let chunkSize = CHUNK.least;
  for (let at = 0, first = true; ; first = false) {
    const length = readSync(source, block, 0, BLOCK, at);
    // No input at all makes a file that is valid all the same.
    if (length === 0 && !first) return written;
    at += length;
    const member = gzipSync(block.subarray(0, length), { chunkSize });
    // Blocks of one log are alike: the next member fills one chunk, so little of it is garbage.
    chunkSize = Math.min(CHUNK.most, Math.max(CHUNK.least, Math.ceil(member.length * 1.25)));
    for (let done = 0; done < member.length;) done += writeSync(target, member, done);
    written += member.length;
  }
}

function removeBestEffort(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The file was not created or is already removed. Otherwise rotation removes it later.
  }
}
