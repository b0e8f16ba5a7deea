// The lines of a plain file from its end to its start. At most one line and one chunk are in memory; lines beyond the
// limit are left out.

import type { OpenLogFile } from "./log-files.js";

export interface PlacedLine {
  /** Where the line begins in the file. */
  offset: number;
  /** Without its newline. */
  line: Buffer;
}

const CHUNK = 256 * 1024;
const LF = 0x0a;

/** @param nearest nothing before this offset is read: a line that begins before it is left out */
export async function* linesBackwards(
  file: OpenLogFile,
  longest: number,
  signal: AbortSignal,
  nearest = 0,
): AsyncGenerator<PlacedLine> {
  /** The end of the line whose start is still ahead, in the file's order. */
  let rest: Buffer[] = [];
  let length = 0;
  const lineFrom = (start: Buffer, offset: number): PlacedLine | undefined => {
    const fits = length + start.length <= longest;
    const line = rest.length === 0 ? start : Buffer.concat([start, ...rest]);
    rest = [];
    length = 0;
    return fits ? { offset, line } : undefined;
  };
  for (let end = file.size; end > nearest;) {
    signal.throwIfAborted();
    const begin = Math.max(nearest, end - CHUNK);
    const chunk = await readFully(file, Buffer.allocUnsafeSlow(end - begin), begin);
    let to = chunk.length;
    for (let newline = lastNewline(chunk, to); newline >= 0; newline = lastNewline(chunk, to)) {
      const found = lineFrom(chunk.subarray(newline + 1, to), begin + newline + 1);
      if (found !== undefined) yield found;
      to = newline;
    }
    length += to;
    if (length > longest) rest = [];
    else rest.unshift(chunk.subarray(0, to));
    end = begin;
  }
  if (nearest > 0) return;
  const first = lineFrom(Buffer.alloc(0), 0);
  if (first !== undefined && file.size > 0) yield first;
}

function lastNewline(chunk: Buffer, before: number): number {
  return before === 0 ? -1 : chunk.lastIndexOf(LF, before - 1);
}

/** What the file has there; it may be shorter by now. */
export async function readFully({ handle }: OpenLogFile, buffer: Buffer, position: number): Promise<Buffer> {
  let got = 0;
  while (got < buffer.length) {
    const { bytesRead } = await handle.read(buffer, got, buffer.length - got, position + got);
    if (bytesRead === 0) break;
    got += bytesRead;
  }
  return buffer.subarray(0, got);
}
