// A standard error without a reader: the kubelet goes on as with one, and ends at a signal.
// @promise Failures: A blocked standard error delays neither pods nor the exit.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../../support/sources-kit.js";
import type { Seen } from "../fixtures/chatty-agent.js";

const AGENT = fileURLToPath(new URL("../fixtures/chatty-agent.js", import.meta.url));
/** From the report to the end. Its flush deadline is over by then, so this is Node's own exit on a busy machine. */
const PATIENCE_MS = 120_000;
/** A write that blocks does so for ever, because no process reads; a busy machine has stalls of seconds. */
const BLOCKED_MS = 30_000;

type Ending = "exit" | "return" | "throw";

/** Runs the kubelet with `stderr` as its standard error. */
async function run(t: TestContext, ending: Ending, stderr: number | "pipe") {
  const report = join(await temporaryFolder(t), "seen");
  const child = spawn(process.execPath, [AGENT, ending, report], { stdio: ["ignore", "ignore", stderr] });
  t.after(() => child.kill("SIGKILL"));
  const [code] = (await once(child, "exit", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [number | null];
  return { code, seen: JSON.parse(await readFile(report, "utf8")) as Seen };
}

/** A pipe with a reader that never reads. Node's own pipes to children are sockets. */
async function unreadPipe(t: TestContext): Promise<number> {
  const path = join(await temporaryFolder(t), "pipe");
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, "r+");
  t.after(() => closeSync(fd));
  return fd;
}

function assertUnmoved({ loopDelayP99Ms, slowestStatMs, dropped }: Seen): void {
  assert.ok(dropped > 1000, `${dropped} lines were dropped: the pipe was full`);
  assert.ok(loopDelayP99Ms < BLOCKED_MS, `event loop delay p99 ${loopDelayP99Ms} ms`);
  assert.ok(slowestStatMs < BLOCKED_MS, `the slowest stat took ${slowestStatMs} ms`);
}

describe("a standard error without a reader", () => {
  for (const [ending, code] of [
    ["return", 3],
    ["exit", 3],
    ["throw", 1],
  ] as const) {
    test(`pipe, ending by ${ending}`, async (t) => {
      const ended = await run(t, ending, await unreadPipe(t));
      assert.equal(ended.code, code);
      assertUnmoved(ended.seen);
      if (ending === "throw") return;
      assert.equal(ended.seen.flushed, false);
      assert.ok(ended.seen.flushMs < BLOCKED_MS, `the flush gave up after ${ended.seen.flushMs} ms`);
    });
  }

  test("socket, as the journal's", async (t) => {
    // Node's "pipe" is a pair of sockets, and the child's is a blocking one.
    const ended = await run(t, "exit", "pipe");
    assert.equal(ended.code, 3);
    assertUnmoved(ended.seen);
  });
});

test("read, every line arrives, and an uncaught error is the last of them", async (t) => {
  const report = join(await temporaryFolder(t), "seen");
  const child = spawn(process.execPath, [AGENT, "throw", report], { stdio: ["ignore", "ignore", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const [code] = (await once(child, "close", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [number | null];
  assert.equal(code, 1);
  const { dropped } = JSON.parse(await readFile(report, "utf8")) as Seen;
  const lines = text.split("\n").filter((line) => /^[IWEF]\d{4} /.test(line));
  const chatter = lines.filter((line) => line.includes('] "chatter"'));
  assert.equal(chatter.length + dropped, 20_000);
  for (const line of chatter)
    assert.match(line, /^I\d{4} [\d:.]{15} +\d+ main\] "chatter" turn=\d+ line=\d+ filler="x{200}"$/);
  assert.match(lines.at(-1) ?? "", /^F.*"uncaught error: the kubelet exits" err="nobody catches this"/);
});
