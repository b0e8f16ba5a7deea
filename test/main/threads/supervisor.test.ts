// Supervision with real Worker threads: every way a thread can end, and what the owner sees of it.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { ThreadGaveUpError, ThreadStoppedError } from "../../../src/main/threads/errors.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { superviseThread, type SupervisedThread, type SuperviseOptions } from "../../../src/main/threads/supervisor.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { armFaultPoint } from "../../../src/shared/base/faults/fault-points.js";
import { BoardReader, createBoard } from "../../../src/shared/base/queue/board.js";
import { RingConsumer, RingProducer } from "../../../src/shared/base/queue/ring.js";
import type { ThreadExit } from "../../../src/shared/contracts/thread.js";
import { ThreadCallTimeoutError, ThreadExitedError } from "../../../src/shared/thread/errors.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { until } from "../../support/sources-kit.js";
import { threadOptions } from "../../support/thread-options.js";
import type { FixtureControl, FixtureInit, FixtureUpcalls } from "./fixtures/contract.js";

const fixture = (file: string): URL => new URL(`./fixtures/${file}.js`, import.meta.url);

interface Supervised {
  thread: SupervisedThread<FixtureControl>;
  exits: ThreadExit[];
  runs: number[];
  gaveUp: ThreadGaveUpError[];
  board: BoardReader;
}

const started: SupervisedThread<FixtureControl>[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((thread) => thread.stop()));
});

type Overrides = Partial<SuperviseOptions<FixtureControl, FixtureInit, FixtureUpcalls>>;

function supervise(mode: FixtureInit["mode"] | (() => FixtureInit), overrides: Overrides = {}): Supervised {
  const board = createBoard(["main", "fixture"]);
  const seen = { exits: [] as ThreadExit[], runs: [] as number[], gaveUp: [] as ThreadGaveUpError[] };
  const thread = superviseThread<FixtureControl, FixtureInit, FixtureUpcalls>({
    name: "fixture",
    entry: fixture("worker"),
    init: typeof mode === "function" ? mode : () => ({ mode }),
    upcalls: { answer: (question) => `${question}: 42` },
    ...threadOptions(3),
    spawn: spawnWorkerThread,
    board,
    ...overrides,
    onRunning: async (self) => {
      await overrides.onRunning?.(self);
      seen.runs.push(self.generation);
    },
    onExit: (exit) => void seen.exits.push(exit),
    onGiveUp: (reason) => void seen.gaveUp.push(reason),
  });
  started.push(thread);
  return { thread, ...seen, board: new BoardReader(board, systemClock) };
}

describe("a supervised thread", () => {
  test("runs, answers, calls back, and carries records both ways", async () => {
    const { thread, board, runs } = supervise("normal");
    await thread.start();
    assert.equal(thread.state, "running");
    assert.equal(thread.generation, 1);
    assert.deepEqual(runs, [1]);
    assert.equal(await thread.call.add(2, 3), 5);
    assert.equal(await thread.call.askMain("life"), "life: 42");
    await waitFor(() => board.ageMs("fixture") < 5000, { what: "a stamp of the thread" });
    await thread.call.echo();
    const echoed: string[] = [];
    const consumer = new RingConsumer(thread.outbox);
    new RingProducer(thread.inbox).tryPush(new TextEncoder().encode("hello"));
    while (echoed.length === 0) {
      consumer.drain((bytes) => echoed.push(new TextDecoder().decode(bytes)));
      await systemClock.sleep(1);
    }
    assert.deepEqual(echoed, ["hello"]);
  });

  test("keeps name, code and message of an error thrown in the worker", async () => {
    const { thread } = supervise("normal");
    await thread.start();
    await assert.rejects(thread.call.failTyped(), { name: "FixtureError", code: "FIXTURE", message: "typed failure" });
  });

  test("rejects a call at its deadline, naming thread and method, and stays usable", async () => {
    const { thread } = supervise("normal");
    await thread.start();
    await assert.rejects(thread.within(30).hang(), (error: Error) => {
      assert.ok(error instanceof ThreadCallTimeoutError);
      assert.match(error.message, /hang.*fixture.*30 ms/);
      return true;
    });
    assert.equal(await thread.call.add(1, 1), 2);
  });

  test("rejects every pending call when the thread is terminated, then comes back with fresh rings", async () => {
    const { thread, exits, runs } = supervise("normal");
    await assert.rejects(thread.call.add(1, 1), ThreadExitedError);
    await thread.start();
    const outbox = thread.outbox;
    const calls = [thread.call.hang(), thread.call.hang(), thread.call.hang()];
    const rejected = Promise.all(calls.map((call) => assert.rejects(call, ThreadExitedError)));
    await thread.terminate();
    await rejected;
    assert.equal(exits[0]?.cause, "terminated");
    await until(() => thread.state === "running");
    assert.deepEqual(runs, [1, 2]);
    assert.equal(thread.restarts, 1);
    assert.notEqual(thread.outbox.memory, outbox.memory);
    assert.equal(await thread.call.seenGeneration(), 2);
  });

  test("restarts a thread that hangs in a busy loop", async () => {
    const { thread, exits, runs, board } = supervise("normal", { stallAfterMs: 2000 });
    await thread.start();
    await assert.rejects(thread.call.spin(), ThreadExitedError);
    assert.equal(exits[0]?.cause, "stalled");
    assert.match(exits[0].reason, /event loop has not turned/);
    await until(() => thread.state === "running");
    assert.deepEqual(runs, [1, 2]);
    assert.equal(board.read("fixture").generation, 2);
  });

  test("restarts a thread that ran out of heap, and logs the cause", async () => {
    const { thread, exits, runs } = supervise("normal", { heapMiB: 16 });
    await thread.start();
    await assert.rejects(thread.within(60_000).eatHeap(), ThreadExitedError);
    assert.equal(exits[0]?.cause, "out-of-memory");
    assert.match(exits[0].reason, /16 MiB/);
    await until(() => runs.length === 2);
  });

  test("reports an uncaught error with its name, code and stack", async () => {
    const { thread, exits } = supervise("normal");
    await thread.start();
    // Its answer may be lost with the thread.
    await Promise.allSettled([thread.call.throwLater()]);
    await until(() => exits.length === 1);
    assert.equal(exits[0]?.cause, "uncaught");
    assert.equal(exits[0].error?.name, "FixtureError");
    assert.equal(exits[0].error.code, "FIXTURE");
    assert.match(exits[0].error.stack, /fixtures\/worker/);
  });

  test("ends a thread whose message main can't handle: its calls reject, and it starts over", async () => {
    const { thread, exits, runs } = supervise("normal");
    await thread.start();
    armFaultPoint("thread-message");
    const calls = [thread.call.hang(), thread.call.add(1, 1)];
    await Promise.all(calls.map((call) => assert.rejects(call, ThreadExitedError)));
    assert.equal(exits[0]?.cause, "message-lost");
    assert.equal(exits[0].error?.name, "FaultPointError");
    await until(() => thread.state === "running");
    assert.deepEqual(runs, [1, 2]);
    assert.equal(await thread.call.add(1, 1), 2);
  });

  for (const mode of ["normal", "survive"] as const) {
    test(`starts a thread over that can't handle a message of main (uncaught errors: ${mode})`, async () => {
      const { thread, exits, runs } = supervise(mode);
      await thread.start();
      thread.commitFault("throw-in thread-message");
      // The order and the call come on two ports: a call may be answered before the order arrives.
      await assert.rejects(async () => {
        for (;;) await thread.within(60_000).add(1, 1);
      }, ThreadExitedError);
      assert.equal(exits[0]?.cause, "message-lost");
      assert.equal(exits[0].error?.name, "FaultPointError");
      await until(() => runs.length === 2);
    });
  }

  test("reports a silent exit with its code", async () => {
    const { thread, exits } = supervise("normal");
    await thread.start();
    await assert.rejects(thread.call.exitSilently(), ThreadExitedError);
    assert.equal(exits[0]?.cause, "exited");
    assert.equal(exits[0].code, 7);
  });

  const startFailures: [string, FixtureInit["mode"], Overrides, ThreadExit["cause"], RegExp][] = [
    ["throws at start", "throw-at-start", {}, "start-failed", /FixtureError during start: no start today/],
    ["cannot load", "normal", { entry: fixture("broken-import") }, "start-failed", /module cannot load/],
    ["does not exist", "normal", { entry: fixture("absent") }, "start-failed", /absent/],
    [
      "gets no snapshot from its owner",
      "normal",
      { onRunning: () => Promise.reject(new Error("owner confused")) },
      "snapshot-failed",
      /owner confused/,
    ],
  ];
  for (const [what, mode, overrides, cause, reason] of startFailures) {
    test(`gives up on a thread that ${what}, after the capped restarts`, async () => {
      const restart = { baseMs: 1, maxMs: 2, jitter: 0, healthyAfterMs: 60_000, maxRestarts: 1 };
      const { thread, exits, gaveUp } = supervise(mode, { ...overrides, restart });
      await assert.rejects(thread.start(), ThreadGaveUpError);
      assert.deepEqual(
        exits.map((exit) => exit.cause),
        [cause, cause],
      );
      assert.match(exits[0]?.reason ?? "", reason);
      assert.equal(gaveUp.length, 1);
      assert.equal(thread.restarts, 1);
    });
  }

  test("gives a start that was late twice the time, up to eight times, and tries without end", async () => {
    const restart = { baseMs: 1, maxMs: 2, jitter: 0, healthyAfterMs: 60_000, maxRestarts: 1 };
    const { thread, exits, gaveUp } = supervise("never-ready", { readyDeadlineMs: 20, restart });
    const ended = assert.rejects(thread.start(), ThreadStoppedError);
    await until(() => exits.length === 5);
    assert.deepEqual(
      exits.map(({ reason }) => reason),
      [20, 40, 80, 160, 160].map((ms) => `not ready within ${ms} ms`),
    );
    assert.equal(gaveUp.length, 0);
    await thread.stop();
    await ended;
  });

  test("reports an init that cannot be cloned as a failed start", async () => {
    const restart = { baseMs: 1, maxMs: 1, jitter: 0, healthyAfterMs: 1, maxRestarts: 0 };
    const uncloneable = { mode: "normal", fn: () => undefined } as unknown as FixtureInit;
    const { thread, exits } = supervise(() => uncloneable, { restart });
    await assert.rejects(thread.start(), ThreadGaveUpError);
    assert.match(exits[0]?.reason ?? "", /could not be created/);
  });

  test("recovers when a failing start heals", async () => {
    let attempt = 0;
    const { thread, exits } = supervise(() => ({ mode: ++attempt < 3 ? "throw-at-start" : "normal" }));
    await thread.start();
    assert.equal(exits.length, 2);
    assert.equal(thread.generation, 3);
  });

  test("startTried does not wait for a thread whose first start failed; without a cap it is started again and again", async () => {
    let attempt = 0;
    const restart = { baseMs: 1, maxMs: 2, jitter: 0, healthyAfterMs: 60_000, maxRestarts: Infinity };
    const { thread, exits, gaveUp } = supervise(() => ({ mode: ++attempt < 15 ? "throw-at-start" : "normal" }), {
      restart,
    });
    await thread.startTried();
    assert.notEqual(thread.state, "running");
    await until(() => thread.state === "running");
    assert.equal(exits.length, 14);
    assert.equal(gaveUp.length, 0);
  });

  test("gives up on a crash loop of threads that do become ready", async () => {
    const { exits, gaveUp, thread } = supervise("die-after-ready");
    await thread.start();
    await until(() => gaveUp.length === 1);
    assert.equal(exits.length, 4);
    await assert.rejects(thread.call.add(1, 1), /no further restart/);
  });

  test("never restarts a file of another layout version", async () => {
    const { thread, exits, gaveUp } = supervise("normal", { entry: fixture("wrong-layout") });
    await assert.rejects(thread.start(), ThreadGaveUpError);
    assert.equal(exits.length, 1);
    assert.equal(exits[0]?.cause, "layout-mismatch");
    assert.match(exits[0].reason, /999/);
    assert.equal(gaveUp.length, 1);
  });

  test("drains in order: last records arrive, exit code 0, no restart", async () => {
    const { thread, exits, board } = supervise("normal");
    await thread.start();
    const consumer = new RingConsumer(thread.outbox);
    const pending = assert.rejects(thread.call.hang(), ThreadExitedError);
    await thread.stop();
    await pending;
    const words: string[] = [];
    consumer.drain((bytes) => words.push(new TextDecoder().decode(bytes)));
    assert.deepEqual(words, ["last words"]);
    assert.equal(exits.length, 1);
    assert.equal(exits[0]?.cause, "drained");
    assert.equal(exits[0].code, 0);
    assert.equal(thread.state, "exited");
    assert.equal(board.read("fixture").state, "exited");
  });

  test("kills a thread whose drain hangs", async () => {
    const { thread, exits } = supervise("hung-drain", { drainDeadlineMs: 100 });
    await thread.start();
    await thread.stop();
    assert.equal(exits[0]?.cause, "drain-timeout");
  });

  test("can be stopped before it is ready, and while it waits for a restart", async () => {
    const early = supervise("never-ready");
    const start = assert.rejects(early.thread.start(), ThreadStoppedError);
    await early.thread.stop();
    await start;
    const restart = { baseMs: 600_000, maxMs: 600_000, jitter: 0, healthyAfterMs: 1, maxRestarts: 3 };
    const waiting = supervise("throw-at-start", { restart });
    const rejected = assert.rejects(waiting.thread.start(), ThreadStoppedError);
    await until(() => waiting.exits.length === 1);
    await waiting.thread.stop();
    await rejected;
    assert.equal(waiting.thread.generation, 1);
  });
});
