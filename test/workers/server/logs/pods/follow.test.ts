// Following a log: across rotations, compression and deletion, to the container's end, at the consumer's pace.

import assert from "node:assert/strict";
import { appendFile, open, readFile, rename, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { waitFor } from "../../../../../tools/standalone/wait.js";
import { reading, recordText, writeLog } from "../../../../support/log-kit.js";
import { temporaryFolder } from "../../../../support/sources-kit.js";

const line = (text: string): string => recordText({ stream: "stdout", tag: "F", text, second: 1 });

interface Follower {
  text: () => string;
  ended: Promise<void>;
}

function follow(podLogs: string, options: Parameters<typeof reading>[1] = {}): Follower {
  let text = "";
  const ended = (async () => {
    for await (const block of reading(podLogs, { follow: true, ...options })) text += Buffer.from(block).toString();
  })();
  return { text: () => text, ended };
}

const sees = (follower: Follower, text: string): Promise<unknown> =>
  waitFor(async () => Promise.resolve(follower.text() === text), {
    what: `the follower to see ${JSON.stringify(text)}`,
    timeoutMs: 60_000,
    intervalMs: 10,
    lastSeen: () => JSON.stringify(follower.text()),
  });

test("lines come as they are written, over rotations; those written late to the old file too; the end is the container's", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("a") }]);
  const current = join(podLogs, "app", "0.log");
  let running = true;
  // As a runtime does it: the file stays open until the new one is there.
  let writer = await open(current, "a");
  const follower = follow(podLogs, { isRunning: () => running });
  await sees(follower, "a\n");
  await writer.appendFile(line("b"));
  await sees(follower, "a\nb\n");
  let expected = "a\nb\n";
  for (const second of ["01", "02", "03"]) {
    await rename(current, `${current}.20260101-0000${second}`);
    await writer.appendFile(line(`between ${second}`));
    const next = await open(current, "a");
    await next.appendFile(line(`new ${second}`));
    await writer.appendFile(line(`late ${second}`));
    await writer.close();
    writer = next;
    expected += `between ${second}\nlate ${second}\nnew ${second}\n`;
    await sees(follower, expected);
  }
  await writer.appendFile(line("last words"));
  running = false;
  await writer.close();
  await follower.ended;
  assert.equal(follower.text(), `${expected}last words\n`);
});

test("a follower that is slower than rotation and compression gets every line once", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [
    { stem: "20250101-000000", text: "" },
    { text: line("0") },
  ]);
  const current = join(podLogs, "app", "0.log");
  const signal = AbortSignal.timeout(180_000);
  let running = true;
  const lines = reading(podLogs, { follow: true, signal, isRunning: () => running });
  const got: string[] = [];
  const next = async (): Promise<void> => {
    const { value } = (await lines.next()) as IteratorResult<Uint8Array, undefined>;
    if (value !== undefined) got.push(...Buffer.from(value).toString().split("\n").slice(0, -1));
  };
  await next();
  assert.deepEqual(got, ["0"]);
  // The generator stands still at its yield while five rotations go by; all but the newest are compressed.
  for (let i = 1; i <= 5; i++) {
    await appendFile(current, line(String(i)));
    const rotated = `${current}.20260101-00000${i}`;
    await rename(current, rotated);
    await writeFile(current, "");
    if (i === 5) continue;
    const time = new Date(Date.UTC(2026, 0, 1) + i * 5000);
    await utimes(rotated, time, time);
    await writeFile(`${rotated}.gz`, gzipSync(await readFile(rotated)));
    await utimes(`${rotated}.gz`, time, time);
    await unlink(rotated);
  }
  await appendFile(current, line("6"));
  running = false;
  while (got.length < 7) await next();
  assert.equal((await lines.next()).done, true);
  assert.deepEqual(got, ["0", "1", "2", "3", "4", "5", "6"]);
});

test("a partial line continues; a limit ends the following", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("old") }]);
  const current = join(podLogs, "app", "0.log");
  const follower = follow(podLogs, { tailLines: 1, limitBytes: 12 });
  await sees(follower, "old\n");
  await appendFile(current, recordText({ stream: "stdout", tag: "P", text: "be", second: 2 }));
  await sees(follower, "old\nbe");
  await appendFile(current, recordText({ stream: "stdout", tag: "F", text: "gun", second: 2 }));
  await sees(follower, "old\nbegun\n");
  await appendFile(current, line("and more than fits"));
  await follower.ended;
  assert.equal(follower.text(), "old\nbegun\nan");
});

test("a tail of no lines begins with new lines", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("old") }]);
  let running = true;
  const follower = follow(podLogs, { tailLines: 0, isRunning: () => running });
  let written = 0;
  // Nothing tells when it has begun: lines are written until it shows some.
  await waitFor(
    async () => {
      await appendFile(join(podLogs, "app", "0.log"), line(`new ${written++}`));
      return follower.text() !== "";
    },
    { what: "the follower to see a new line", timeoutMs: 60_000, intervalMs: 10 },
  );
  running = false;
  await follower.ended;
  const all = Array.from({ length: written }, (_, i) => `new ${i}\n`).join("");
  assert.ok(all.endsWith(follower.text()), follower.text());
});

test("a log that was emptied is followed from its new beginning", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("a long first line") }]);
  const current = join(podLogs, "app", "0.log");
  let running = true;
  const follower = follow(podLogs, { isRunning: () => running });
  await sees(follower, "a long first line\n");
  await truncate(current, 0);
  await appendFile(current, line("b"));
  await sees(follower, "a long first line\nb\n");
  running = false;
  await follower.ended;
});

test("a client that leaves ends the following at once, and nothing stays open", async (t) => {
  const podLogs = await writeLog(await temporaryFolder(t), [{ text: line("x") }]);
  const abort = new AbortController();
  const follower = follow(podLogs, { signal: abort.signal });
  await sees(follower, "x\n");
  const reason = new Error("left");
  abort.abort(reason);
  await assert.rejects(follower.ended, reason);
});
