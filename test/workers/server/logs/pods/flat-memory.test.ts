// A log of gigabytes and a line of many megabytes cost no memory. A separate process reads, since this one's heap is
// not comparable. LOG_TEST_MIB sets the size of the log; the result does not depend on it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { recordText } from "../../../../support/log-kit.js";
import { temporaryFolder } from "../../../../support/sources-kit.js";

const MIB = 1024 * 1024;
const LOG_MIB = Number(process.env["LOG_TEST_MIB"] ?? 128);
const PART = recordText({ stream: "stdout", tag: "P", text: "p".repeat(16 * 1024), second: 1 });
const TEXTS = Array.from({ length: 4096 }, (_, i) => `line ${i} of a log of many lines, as long as lines are`);
const LINES = TEXTS.map((text) => recordText({ stream: "stdout", tag: "F", text, second: 1 })).join("");
const OUTPUT = `${TEXTS.join("\n")}\n`;

/** Reads the log and reports bytes read and the growth of memory beyond what the first megabyte took. */
const READER = `
import { readContainerLogs } from ${JSON.stringify(new URL("../../../../../src/workers/server/logs/pods/read.js", import.meta.url).href)};
import { systemClock } from ${JSON.stringify(new URL("../../../../../src/shared/base/clock/clock.js", import.meta.url).href)};
const [podLogDirectory, options] = process.argv.slice(1);
let bytes = 0, base = 0, peak = 0, next = 0;
for await (const block of readContainerLogs({ podLogDirectory, container: "app", restartCount: 0, clock: systemClock, ...JSON.parse(options) })) {
  bytes += block.length;
  if (bytes < next) continue;
  next = bytes + 4 * 1024 * 1024;
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  base ||= heapUsed + arrayBuffers;
  peak = Math.max(peak, heapUsed + arrayBuffers - base);
}
console.log(JSON.stringify({ bytes, peak }));`;

async function readApart(podLogs: string, options: object): Promise<{ bytes: number; peak: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    "--input-type=module",
    "--eval",
    READER,
    podLogs,
    JSON.stringify(options),
  ]);
  return JSON.parse(stdout) as { bytes: number; peak: number };
}

async function bigLog(podLogs: string, block: string, mib: number): Promise<number> {
  await mkdir(join(podLogs, "app"));
  const file = await open(join(podLogs, "app", "0.log"), "w");
  try {
    const bytes = Buffer.from(block);
    const times = Math.ceil((mib * MIB) / bytes.length);
    for (let i = 0; i < times; i++) await file.writeFile(bytes);
    return times;
  } finally {
    await file.close();
  }
}

/** Far less than the log or the line, more than what collection leaves lying for a moment. */
const FLAT = 6 * MIB;

test(`a log of ${LOG_MIB} MiB, whole and by its tail`, async (t) => {
  const podLogs = await temporaryFolder(t);
  const times = await bigLog(podLogs, LINES, LOG_MIB);
  const whole = await readApart(podLogs, {});
  assert.equal(whole.bytes, times * OUTPUT.length);
  assert.ok(whole.peak < FLAT, `${whole.peak} bytes more`);
  const tail = await readApart(podLogs, { tailLines: times * 4096 - 1 });
  assert.equal(tail.bytes, whole.bytes - `${String(TEXTS[0])}\n`.length);
  assert.ok(tail.peak < FLAT, `${tail.peak} bytes more`);
});

test("a line of 64 MiB", async (t) => {
  const podLogs = await temporaryFolder(t);
  const times = await bigLog(podLogs, PART, 64);
  const line = await readApart(podLogs, { timestamps: true });
  assert.equal(line.bytes, times * 16 * 1024 + "1970-01-01T00:00:01.000000000Z ".length);
  assert.ok(line.peak < FLAT, `${line.peak} bytes more`);
});
