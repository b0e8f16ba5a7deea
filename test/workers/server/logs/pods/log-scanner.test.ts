// The format of a log by its first line, whatever the parts in which the file is read, and at a cost that grows with
// the line alone.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LogScanner } from "../../../../../src/workers/server/logs/pods/log-scanner.js";

const docker = (log: string): string =>
  `${JSON.stringify({ log, stream: "stdout", time: "2026-01-01T00:00:00.000000001Z" })}\n`;
const TEXTS = {
  docker: docker("one\n") + docker("two\n"),
  cri: "2026-01-01T00:00:00.000000001Z stdout F one\n2026-01-01T00:00:00.000000001Z stdout F two\n",
};

/** What a sink gets of the text, cut where `sizes` say. */
function scanned(text: string, sizes: readonly number[]): string[] {
  const lines: string[] = [];
  const scanner = new LogScanner({
    begin: () => lines.push(""),
    text: (bytes, from, to) => lines.push((lines.pop() ?? "") + Buffer.from(bytes.subarray(from, to)).toString()),
    end: () => undefined,
  });
  const bytes = Buffer.from(text);
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    // The memory of a chunk is used again for the next one.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    scanner.push(chunk);
    chunk.fill(0x78);
    at += size;
  }
  scanner.endOfFile(true);
  return lines;
}

test("a log is the same wherever its first line is cut", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(TEXTS.docker, TEXTS.cri), sizes, (text, cuts) => {
      deepEqual(scanned(text, cuts), ["one", "two"]);
    }),
  );
  deepEqual(scanned(TEXTS.docker.trimEnd(), [7]), ["one", "two"]);
});

test("a long first line in small parts is joined once and decoded once", (t) => {
  let joined = 0;
  const concat = Buffer.concat.bind(Buffer);
  t.mock.method(Buffer, "concat", (parts: readonly Uint8Array[]) => {
    const whole = concat(parts);
    joined += whole.length;
    return whole;
  });
  const parse = t.mock.method(JSON, "parse");
  const text = docker(`${"x".repeat(1024 * 1024)}\n`);
  const [line = ""] = scanned(text, [512]);
  equal(line.length, 1024 * 1024);
  equal(parse.mock.callCount(), 1);
  ok(joined <= 4 * text.length, `${joined} bytes were joined for a line of ${text.length}`);
});
