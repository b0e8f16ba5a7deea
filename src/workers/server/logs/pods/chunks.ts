// The bytes of one log file in chunks, plain or compressed. A chunk of a plain file is valid until the next one is
// asked for: its memory is used again.

import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { OpenLogFile } from "./log-files.js";

const CHUNK = 256 * 1024;
/** The first step: most who follow a log get a few lines at a time. */
const SMALL_CHUNK = 16 * 1024;

/** The buffer of one reader of plain files, used again for each read; it grows with the amount of data. */
export class ChunkMemory {
  private buffer = Buffer.allocUnsafeSlow(SMALL_CHUNK);

  get bytes(): Buffer {
    return this.buffer;
  }

  grow(): void {
    if (this.buffer.length < CHUNK) this.buffer = Buffer.allocUnsafeSlow(CHUNK);
  }
}

/** Bytes of a plain file; without `end` until nothing more is there. Compressed files are read whole. */
export interface Span {
  start: number;
  end: number | undefined;
}

export function chunksOf(
  file: OpenLogFile,
  signal: AbortSignal,
  span: Span = WHOLE,
  memory = new ChunkMemory(),
): AsyncGenerator<Buffer> {
  return file.name.compressed ? gunzipped(file.handle, signal) : plain(file.handle, signal, span, memory);
}

const WHOLE: Span = { start: 0, end: undefined };

async function* plain(
  handle: FileHandle,
  signal: AbortSignal,
  { start, end = Infinity }: Span,
  memory: ChunkMemory,
): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    signal.throwIfAborted();
    const { bytes } = memory;
    const { bytesRead } = await handle.read(bytes, 0, Math.min(bytes.length, end - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield bytes.subarray(0, bytesRead);
    // A regular file returns all its bytes.
    if (bytesRead < bytes.length) return;
    memory.grow();
  }
}

async function* gunzipped(handle: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  // Its failure reaches us through the stream that we read.
  const piped = pipeline(copies(plain(handle, signal, WHOLE, new ChunkMemory())), gunzip, { signal }).catch(
    () => undefined,
  );
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } finally {
    gunzip.destroy();
    await piped;
  }
}

/** The decompressor reads its input while we would be filling the buffer again. A ReadStream would close the handle. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
