// A kernel's log for tests: pushed records are read once, as from /dev/kmsg.

import type { LogDevice } from "../../../../src/workers/eviction/oom/kernel-log.js";

export class ModelKernelLog implements LogDevice {
  closed = false;
  private readonly records: (string | Error)[] = [];

  /** Each text one record of the kernel. */
  say(texts: readonly string[], at = 1): void {
    for (const text of texts) this.records.push(`3,1,${at},-;${text}\n SUBSYSTEM=x\n`);
  }

  /** A record as it is, or an error with this code. */
  put(record: string | { code: string }): void {
    this.records.push(typeof record === "string" ? record : coded(record.code));
  }

  read(into: Uint8Array): number {
    const next = this.records.shift() ?? coded("EAGAIN");
    if (next instanceof Error) throw next;
    return Buffer.from(into.buffer, into.byteOffset, into.byteLength).write(next, "latin1");
  }

  close(): void {
    this.closed = true;
  }
}

const coded = (code: string): Error => Object.assign(new Error(`${code}: read`), { code });
