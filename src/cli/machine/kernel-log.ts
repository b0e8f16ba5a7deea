// The kernel's log: by dmesg, else by /dev/kmsg itself.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { runTool, toolOrNothing, type ToolOptions } from "./tool.js";

const BYTES = 32 * 1024 * 1024;
const RECORD_BYTES = 8192;
const MAX_RECORDS = 100_000;

export async function kernelLog(options: ToolOptions): Promise<string> {
  const bounded = { ...options, bytes: BYTES };
  // Only util-linux knows times of day.
  const dated = await toolOrNothing("dmesg", ["--time-format=iso"], bounded);
  if (dated !== undefined) return dated;
  return await runTool("dmesg", [], bounded).catch(() => readKmsg("/dev/kmsg", options.signal));
}

/** One record per read, never waits for the next. @internal */
export async function readKmsg(path: string, signal?: AbortSignal): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const lines: string[] = [];
    const buffer = Buffer.alloc(RECORD_BYTES);
    for (let count = 0; count < MAX_RECORDS && signal?.aborted !== true; count++) {
      const length = await file.read(buffer, 0, RECORD_BYTES, null).then(
        ({ bytesRead }) => bytesRead,
        (error: unknown) => {
          // Overwritten while it was read: the next read continues with the oldest that is left.
          if (errorCode(error) === "EPIPE") return -1;
          if (errorCode(error) === "EAGAIN") return 0;
          throw error;
        },
      );
      if (length === 0) break;
      if (length > 0) lines.push(recordText(buffer.toString("utf8", 0, length)));
    }
    return `${lines.join("\n")}\n`;
  } finally {
    await file.close();
  }
}

/** "6,339,5140900,-;NET: Registered" → "[5.140900] NET: Registered"; the lines behind it have names and values. */
function recordText(record: string): string {
  const [, micros = "0", text = record] = /^\d+,\d+,(\d+),[^;\n]*;([^\n]*)/.exec(record) ?? [];
  return `[${(Number(micros) / 1_000_000).toFixed(6)}] ${text}`;
}
