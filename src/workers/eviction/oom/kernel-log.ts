// The kernel's log from /dev/kmsg: one record a read, and a position for each reader. Reads do not wait and return a
// bounded number of records. So neither this thread nor libuv's pool is ever blocked.
// Invariant: records from before the opening are skipped; records that the kernel overwrote before they were read are
// reported as lost, and the next ones are read.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";

interface KernelLine {
  /** Since boot, µs. */
  at: number;
  text: string;
}

/** "lost": records are missing here. */
export type KernelEntry = KernelLine | "lost";

/** An open /dev/kmsg, or a test's replacement. */
export interface LogDevice {
  /** One record; throws as fs.readSync: EAGAIN: none is there now; EPIPE: some were overwritten. */
  read(into: Uint8Array): number;
  close(): void;
}

/** The kernel prints no longer records than this. */
const RECORD_BYTES = 8192;
/** In one go; each takes some microseconds. */
const AT_ONCE = 5000;
/** Major 1, minor 11. In some containers the name leads to a terminal. */
const KMSG_DEVICE = (1 << 8) | 11;

/** @throws OperatorError; Node's own errors: ENOENT, and EPERM without CAP_SYSLOG. */
export function openKernelLog(path = "/dev/kmsg"): LogDevice {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const { rdev } = fstatSync(fd);
    if (rdev !== KMSG_DEVICE) throw new OperatorError(`${path} is not the kernel's log device`);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { read: (into) => readSync(fd, into), close: () => closeSync(fd) };
}

export class KernelLog implements Disposable {
  private readonly buffer = Buffer.alloc(RECORD_BYTES);
  /** Resolves once, at the end of the old records: every later record is new. */
  private atEnd = false;

  constructor(private readonly device: LogDevice) {}

  /**
   * New lines, as many as fit; the rest follows with the next call.
   * @throws Node's errors other than EAGAIN and EPIPE.
   */
  *entries(): Generator<KernelEntry> {
    for (let left = AT_ONCE; left > 0; left--) {
      const read = this.read();
      if (read === "none") {
        this.atEnd = true;
        return;
      }
      if (!this.atEnd) continue;
      const entry = read === "lost" ? read : parseKernelRecord(this.buffer.toString("latin1", 0, read));
      if (entry !== undefined) yield entry;
    }
  }

  [Symbol.dispose](): void {
    this.device.close();
  }

  private read(): number | "none" | "lost" {
    try {
      return this.device.read(this.buffer);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EAGAIN") return "none";
      if (code === "EPIPE") return "lost";
      throw error;
    }
  }
}

/**
 * "6,1234,26321655232,-;text" and rows of properties beneath. undefined: not a message of the kernel; a process that
 * may write to the log cannot use the kernel's facility (0).
 * @internal
 */
export function parseKernelRecord(record: string): KernelLine | undefined {
  const [, priority, at, text] = /^(\d+),\d+,(\d+),[^;\n]*;([^\n]*)/.exec(record) ?? [];
  if (priority === undefined || at === undefined || text === undefined || Number(priority) >> 3 !== 0) return undefined;
  return { at: Number(at), text: unescaped(text) };
}

/** The kernel writes all bytes but plain ASCII, and the backslash, as \xNN. */
function unescaped(text: string): string {
  if (!text.includes("\\x")) return text;
  const bytes = text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
