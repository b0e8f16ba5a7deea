// The writes to a disk, in order, and the contents that the disk may have after a power cut.
// Invariant: blocks written before the last flush are there; of each later block of 4 KiB either version may be.

interface DiskWrite {
  offset: number;
  data: Buffer;
}

/** A write, or "flush". */
export type LogEntry = DiskWrite | "flush";

const BLOCK = 4096;
const FLUSH_LENGTH = 0xffff_ffff;
const HEADER = 12;

export function writeEntry(offset: number, data: Buffer): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeBigUInt64LE(BigInt(offset), 0);
  header.writeUInt32LE(data.length, 8);
  return Buffer.concat([header, data]);
}

export function flushEntry(): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt32LE(FLUSH_LENGTH, 8);
  return header;
}

export function parseLog(bytes: Buffer): LogEntry[] {
  const entries: LogEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const offset = Number(bytes.readBigUInt64LE(at));
    const length = bytes.readUInt32LE(at + 8);
    at += HEADER;
    if (length === FLUSH_LENGTH) {
      entries.push("flush");
      continue;
    }
    entries.push({ offset, data: bytes.subarray(at, at + length) });
    at += length;
  }
  return entries;
}

/** Which unflushed blocks are there: a disk writes them in any order. */
export type Survival = "all" | "none" | "some";

/** The disk's content after the first `cut` entries. `blank`: as it was before the first. */
export function imageAfter(
  blank: Buffer,
  log: readonly LogEntry[],
  cut: number,
  survival: Survival,
  random: () => number,
): Buffer {
  const image = Buffer.from(blank);
  const flushed = log.slice(0, cut).lastIndexOf("flush");
  for (const [index, entry] of log.slice(0, cut).entries()) {
    if (entry === "flush") continue;
    for (let from = 0; from < entry.data.length; from += BLOCK) {
      const survives = index < flushed || survival === "all" || (survival === "some" && random() < 0.5);
      if (survives) entry.data.copy(image, entry.offset + from, from, Math.min(from + BLOCK, entry.data.length));
    }
  }
  return image;
}
