import { deepEqual, equal, match, throws } from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { feedWatchdog, watchdogInterval, type WatchdogOptions } from "../../../../src/main/process/systemd/watchdog.js";
import { describeLate, lateThreads, type StampLimits } from "../../../../src/main/threads/late-threads.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { BoardReader, BoardWriter, createBoard, type ThreadSnapshot } from "../../../../src/shared/base/queue/board.js";
import { keepStamping } from "../../../../src/shared/thread/stamper.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const STAMP_PERIOD_MS = 500;

describe("interval of the watchdog", () => {
  type Env = Record<string, string>;
  const table: [Env, number | undefined][] = [
    [{}, undefined],
    [{ WATCHDOG_USEC: "" }, undefined],
    [{ WATCHDOG_USEC: "30000000" }, 15_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "42" }, 15_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "43" }, undefined],
    [{ WATCHDOG_USEC: "500000", WATCHDOG_PID: "43" }, undefined],
    [{ WATCHDOG_USEC: "1000001" }, 500.0005],
  ];
  for (const [env, ms] of table) test(JSON.stringify(env), () => equal(watchdogInterval(env, 42), ms));
  const refused: [Env, RegExp][] = [
    [{ WATCHDOG_USEC: "1000000" }, /too short.*WATCHDOG_USEC=1000000.*WatchdogSec=/],
    [{ WATCHDOG_USEC: "0" }, /WATCHDOG_USEC=0/],
    [{ WATCHDOG_USEC: "30s" }, /WATCHDOG_USEC=30s/],
    [{ WATCHDOG_USEC: "-1" }, /WATCHDOG_USEC=-1/],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "x" }, /WATCHDOG_PID=x/],
  ];
  for (const [env, message] of refused) {
    test(`refused: ${JSON.stringify(env)}`, () => {
      throws(
        () => watchdogInterval(env, 42),
        (error) => error instanceof OperatorError && message.test(error.message),
      );
    });
  }
});

describe("late threads", () => {
  const slot = (thread: string, ageMs: number, more: Partial<ThreadSnapshot> = {}): ThreadSnapshot => ({
    thread,
    ageMs,
    state: "running",
    generation: 1,
    loopDelayMaxMicros: 0,
    loopDelayMeanMicros: 0,
    queueDepth: 0,
    op: 0,
    opAgeMs: 0,
    workAgeMs: Infinity,
    pressures: 0,
    ...more,
  });
  const limits: StampLimits = { main: 100, pleg: 200 };
  const table: [string, ThreadSnapshot[], string[]][] = [
    ["all fresh", [slot("main", 0), slot("pleg", 0)], []],
    ["at the limit", [slot("main", 100), slot("pleg", 200)], []],
    ["one over its own limit", [slot("main", 101), slot("pleg", 101)], ["main"]],
    ["both", [slot("pleg", 201), slot("main", 101)], ["main", "pleg"]],
    ["never stamped", [slot("main", Infinity), slot("pleg", 0)], ["main"]],
    ["not on the board", [slot("main", 0)], ["pleg"]],
    ["exited", [slot("main", 0), slot("pleg", 500, { state: "exited" })], ["pleg"]],
    ["not needed yet", [slot("main", 0), slot("pleg", Infinity, { state: "exited", generation: 0 })], []],
    [
      "of a kind of node that this is not",
      [slot("main", 0), slot("pleg", Infinity, { state: "spawned", generation: 0 })],
      [],
    ],
    ["at rest", [slot("main", 0), slot("pleg", Infinity, { state: "resting" })], []],
    ["hung before its first stamp", [slot("main", 0), slot("pleg", Infinity, { state: "spawned" })], ["pleg"]],
    ["without a limit", [slot("main", 0), slot("pleg", 0), slot("prober", 1e6)], []],
  ];
  for (const [name, snapshot, late] of table) {
    test(name, () =>
      deepEqual(
        lateThreads(snapshot, limits).map(({ thread }) => thread),
        late,
      ),
    );
  }
  for (const thread of ["server", "secure-server", "prober", "image-gc", "node-status", "eviction"]) {
    test(`${thread} counts while it runs, not while its supervisor restarts it`, () => {
      const counts = (state: ThreadSnapshot["state"]): boolean =>
        lateThreads([slot(thread, 9000, { state })], { [thread]: 200 }).length === 1;
      deepEqual(
        ["exited", "spawned", "ready", "running", "draining"].map((state) => counts(state as "ready")),
        [false, false, true, true, true],
      );
    });
  }
  test("a late thread is described in words", () => {
    const words = (seen: ThreadSnapshot): string[] =>
      lateThreads([slot("main", 0), seen], limits).map((late) =>
        describeLate(late, (thread, op) => (op === 3 ? `${thread}'s relist` : undefined)),
      );
    deepEqual(words(slot("pleg", 1200.4)), ["pleg: last stamp 1200 ms ago, limit 200 ms, running"]);
    deepEqual(words(slot("pleg", 300, { op: 3, opAgeMs: 290 })), [
      "pleg: last stamp 300 ms ago, limit 200 ms, running, in pleg's relist for 290 ms",
    ]);
    deepEqual(words(slot("pleg", 300, { op: 9, opAgeMs: 290 })), [
      "pleg: last stamp 300 ms ago, limit 200 ms, running, in operation 9 for 290 ms",
    ]);
    deepEqual(words(slot("pleg", Infinity, { state: "spawned" })), ["pleg: never stamped, limit 200 ms, spawned"]);
  });
});

/** Counts feeds, keeps log lines. */
class Dog {
  fed = 0;
  readonly errors: string[] = [];
  readonly infos: string[] = [];
  private readonly wakers: (() => void)[] = [];
  readonly feed = (): void => {
    this.fed++;
    this.wake();
  };
  readonly log = {
    info: (text: string): void => {
      this.infos.push(text);
      this.wake();
    },
    error: (_fields: unknown, text: string): void => {
      this.errors.push(text);
      this.wake();
    },
  } as unknown as WatchdogOptions["log"];
  async until(met: () => boolean): Promise<void> {
    while (!met()) await new Promise<void>((resolve) => this.wakers.push(resolve));
  }
  private wake(): void {
    for (const wake of this.wakers.splice(0)) wake();
  }
}

describe("feeding under virtual time", () => {
  const intervalMs = 15_000;
  const start = (): {
    dog: Dog;
    clock: SteppedClock;
    stopPleg: () => void;
    resumePleg: () => void;
    end: () => void;
  } => {
    const clock = new SteppedClock();
    const buffers = createBoard(["main", "pleg"]);
    const [main, pleg] = ["main", "pleg"].map((thread) => new BoardWriter(buffers, thread, clock));
    const stopMain = keepStamping(main!, clock);
    let stopPleg = keepStamping(pleg!, clock);
    const dog = new Dog();
    const stop = feedWatchdog({
      intervalMs,
      board: new BoardReader(buffers, clock),
      limits: { main: 10_000, pleg: 10_000 },
      clock,
      feed: dog.feed,
      log: dog.log,
    });
    const end = (): void => {
      stop();
      stopMain();
      stopPleg();
      equal(clock.pending, 0);
    };
    const resumePleg = (): void => {
      stopPleg = keepStamping(pleg!, clock);
    };
    return { dog, clock, stopPleg: () => stopPleg(), resumePleg, end };
  };

  test("at once, then every interval", () => {
    const { dog, clock, end } = start();
    equal(dog.fed, 1);
    clock.step(10 * intervalMs);
    equal(dog.fed, 11);
    end();
    clock.step(10 * intervalMs);
    equal(dog.fed, 11);
    deepEqual(dog.errors, []);
  });

  test("the watchdog is not fed while a thread is late; it logs once per change, and at the end", () => {
    const { dog, clock, stopPleg, resumePleg, end } = start();
    stopPleg();
    clock.step(3 * intervalMs);
    equal(dog.fed, 1);
    equal(dog.errors.length, 1);
    match(dog.errors.join(), /not notifying the watchdog: pleg: last stamp 15000 ms ago, limit 10000 ms/);
    resumePleg();
    clock.step(intervalMs);
    equal(dog.fed, 2);
    match(dog.infos.join(), /notifying the watchdog again; late threads were pleg/);
    end();
  });

  test("a process that was stopped feeds when it comes back; a dead thread is not excused twice", () => {
    const { dog, clock, stopPleg, end } = start();
    clock.step(intervalMs);
    equal(dog.fed, 2);
    stopPleg();
    clock.freeze(10 * intervalMs);
    clock.step(STAMP_PERIOD_MS);
    equal(dog.fed, 3);
    deepEqual(dog.errors, []);
    clock.freeze(10 * intervalMs);
    clock.step(intervalMs);
    equal(dog.fed, 3);
    match(dog.errors.join(), /pleg: last stamp/);
    end();
  });
});

test("a thread that hangs starves the watchdog and is named with its operation", { timeout: 120_000 }, async () => {
  const board = createBoard(["main", "pleg"]);
  const latch = new Int32Array(new SharedArrayBuffer(4));
  const main = new BoardWriter(board, "main", systemClock);
  const stopMain = keepStamping(main, systemClock, 50);
  const thread = new Worker(new URL("../fixtures/stalling-thread.js", import.meta.url), {
    workerData: { board, latch },
  });
  await once(thread, "message");
  const dog = new Dog();
  const stop = feedWatchdog({
    intervalMs: 200,
    board: new BoardReader(board, systemClock),
    // Main is this test's own thread, which a busy machine may hold up.
    limits: { main: 60_000, pleg: 1_000 },
    clock: systemClock,
    feed: dog.feed,
    log: dog.log,
    opName: (name, op) => (name === "pleg" && op === 7 ? "relist" : undefined),
  });
  await dog.until(() => dog.fed >= 3);
  thread.postMessage("hang");
  const named = /not notifying the watchdog: pleg: last stamp \d+ ms ago, limit 1000 ms, running, in relist for \d+ ms/;
  await dog.until(() => dog.errors.some((error) => named.test(error)));
  const starved = dog.fed;
  Atomics.store(latch, 0, 1);
  Atomics.notify(latch, 0);
  await dog.until(() => dog.infos.length > 0);
  await dog.until(() => dog.fed > starved);
  stop();
  stopMain();
  await thread.terminate();
});
