// Objects of any size from an API server. Those over the limit are skipped without being decoded or kept; those around
// them are read. The time of the calling thread is bounded, as main reads watches and lists itself.
// @promise Hostile tenants and clients: Of objects of the API server of more than 3 MiB the kubelet reads only name and
//   deletion, with a warning. It reads the other objects of the watch or list (upstream has no such limit).

import { deepEqual, rejects } from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { readAll } from "../../../../../../src/shared/kubernetes/api/client/call/body.js";
import { LineCutter } from "../../../../../../src/shared/kubernetes/api/client/call/line-cutter.js";
import { readList } from "../../../../../../src/shared/kubernetes/api/client/call/list.js";
import { JSON_LINES, watchEvents } from "../../../../../../src/shared/kubernetes/api/client/call/watch.js";
import { OBJECT_LIMIT, SHELL_LIMIT } from "../../../../../../src/shared/kubernetes/api/client/decode/oversized.js";
import { Turn } from "../../../../../../src/shared/kubernetes/api/client/decode/turn.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { assertCpuBelow } from "../../../../../support/thread-cpu.js";

const BLOCK = 64 * 1024;
const pod = (name: string, size = 0): object => ({
  metadata: { name, resourceVersion: "1", annotations: { text: '\\"x'.repeat(size / 5) } },
});
const line = (name: string, size?: number): string =>
  `${JSON.stringify({ type: "MODIFIED", object: pod(name, size) })}\n`;

function bodyOf(text: string): Readable {
  const bytes = Buffer.from(text);
  return Readable.from(
    Array.from({ length: Math.ceil(bytes.length / BLOCK) }, (_, at) => bytes.subarray(at * BLOCK, (at + 1) * BLOCK)),
  );
}

async function watched(text: string): Promise<{ names: string[]; skipped: number }> {
  const names: string[] = [];
  let skipped = 0;
  const reading = { turn: new Turn(new SteppedClock()), onOversized: () => skipped++ };
  for await (const event of watchEvents(bodyOf(text), JSON_LINES, reading)) {
    if (event.type !== "BOOKMARK") names.push(event.object.metadata.name ?? "");
  }
  return { names, skipped };
}

test("a watch skips an object of more than 3 MiB and continues with the next one", async () => {
  const found = await watched(
    line("a") + line("big", OBJECT_LIMIT + BLOCK) + line("b") + line("half", OBJECT_LIMIT / 2),
  );
  deepEqual(found, { names: ["a", "b", "half"], skipped: 1 });
});

test("a list skips an item of more than 3 MiB and has the others", async () => {
  const items = [pod("a"), pod("big", OBJECT_LIMIT + BLOCK), pod("b")];
  let skipped = 0;
  const text = JSON.stringify({ metadata: { resourceVersion: "1" }, items });
  const response = { status: 200, headers: {}, body: bodyOf(text) };
  const list = await readList<{ metadata: { name: string } }>(response, new Turn(new SteppedClock()), () => skipped++);
  deepEqual([list.items.map(({ metadata }) => metadata.name), skipped], [["a", "b"], 1]);
});

test("a list with megabytes around its items is refused", async () => {
  const text = JSON.stringify({ metadata: { x: "x".repeat(SHELL_LIMIT + BLOCK) }, items: [] });
  const response = { status: 200, headers: {}, body: bodyOf(text) };
  await rejects(readList(response, new Turn(new SteppedClock())), { name: "RangeError" });
});

test("a single object of more than 3 MiB is refused", async () => {
  const body = bodyOf("x".repeat(OBJECT_LIMIT + BLOCK));
  await rejects(readAll({ status: 200, headers: {}, body }), { name: "OversizedBodyError" });
});

test("an object of 48 MiB in a watch holds the reading thread for less than 100 ms", () => {
  const bytes = Buffer.from(line("big", 48 * 1024 * 1024));
  assertCpuBelow(100, () => {
    const cutter = new LineCutter();
    for (let at = 0; at < bytes.length; at += BLOCK) {
      for (const whole of cutter.push(bytes.subarray(at, at + BLOCK))) JSON.parse(whole.toString("utf8"));
    }
  });
});
