// docker's log records as lines of CRI's format, however the stream is cut.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lastTimeIn, LogLines } from "../../../src/workers/dockershim/logs/log-lines.js";

const TIME = "2026-01-02T03:04:05.000000006Z";
const LATER = "2026-01-02T03:04:05.000000007Z";

function frame(stream: 1 | 2, text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt8(stream, 0);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}

function written(lines: LogLines, bytes: Buffer, cuts: readonly number[] = []): string {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...at, bytes.length];
  return bounds
    .slice(1)
    .map((end, index) => lines.push(bytes.subarray(bounds[index], end)).toString())
    .join("");
}

test("records become lines with stream and tag for every cut of the stream", () => {
  const bytes = Buffer.concat([
    frame(1, `${TIME} hello\n`),
    frame(2, `${TIME} from stderr\n`),
    frame(1, `${LATER} no end`),
    frame(1, `${LATER} of line\n`),
  ]);
  const expected = `${TIME} stdout F hello\n${TIME} stderr F from stderr\n${LATER} stdout P no end\n${LATER} stdout F of line\n`;
  fc.assert(
    fc.property(fc.array(fc.nat()), (cuts) => {
      assert.equal(written(new LogLines({ tty: false, after: "" }), bytes, cuts), expected);
    }),
  );
});

test("records up to the last written one are left out", () => {
  const bytes = Buffer.concat([frame(1, `${TIME} old\n`), frame(1, `${LATER} new\n`)]);
  const lines = new LogLines({ tty: false, after: TIME });
  assert.equal(written(lines, bytes), `${LATER} stdout F new\n`);
  assert.equal(lines.last, LATER);
});

test("a terminal's output has no frames", () => {
  const lines = new LogLines({ tty: true, after: "" });
  assert.equal(
    written(lines, Buffer.from(`${TIME} a\r\n${LATER} b\r\n`), [3, 20, 31]),
    `${TIME} stdout F a\r\n${LATER} stdout F b\r\n`,
  );
});

test("a frame longer than any record of docker is written in parts", () => {
  const text = written(
    new LogLines({ tty: false, after: "" }),
    frame(1, `${TIME} ${"x".repeat(200_000)}\n`),
    [70_000, 140_000],
  );
  const parts = text.trimEnd().split("\n");
  assert.ok(parts.length > 1);
  assert.equal(parts.map((line) => line.split(" ")[3]).join(""), "x".repeat(200_000));
  assert.ok(parts.slice(0, -1).every((line) => line.startsWith(`${TIME} stdout P `)));
  assert.ok(parts.at(-1)?.startsWith(`${TIME} stdout F `));
});

test("the last time of a file is that of its last whole line", () => {
  assert.equal(lastTimeIn(""), "");
  assert.equal(lastTimeIn("half a line"), "");
  assert.equal(lastTimeIn(`${TIME} stdout F a\n${LATER} stdout F b\n`), LATER);
  assert.equal(lastTimeIn(`${TIME} stdout F a\n${LATER} stdout F cut off`), TIME);
});
