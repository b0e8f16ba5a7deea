// Which calls become lines, what JSON lines look like, and what happens when the ring is full.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pino } from "pino";
import { createLogWords, LogWords } from "../../../../src/shared/base/queue/log-words.js";
import { createRing, RingConsumer, RingProducer } from "../../../../src/shared/base/queue/ring.js";
import type { LineSink } from "../../../../src/shared/telemetry/log/line-sink.js";
import {
  createLogger,
  droppedLines,
  loggingFor,
  moduleLogger,
  verbose,
  type Logger,
} from "../../../../src/shared/telemetry/log/logger.js";
import { DEFAULT_LOGGING, type LoggingConfig } from "../../../../src/shared/telemetry/log/logging-config.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

function kept(given: Partial<LoggingConfig> = {}) {
  const lines: { text: string; severe: boolean }[] = [];
  const sink: LineSink = {
    write: (text, severe) => lines.push({ text, severe }),
    flush: (done) => done(),
    flushSync: () => undefined,
  };
  const config = { ...DEFAULT_LOGGING, ...given };
  const words = createLogWords(config.verbosity);
  const log = createLogger({ thread: "main", logging: { config, journal: false, words }, sink });
  const json = (): Record<string, unknown>[] => lines.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
  return { log, lines, json, words: new LogWords(words) };
}

/** V-levels that come out of a logger when each is logged. */
function open(log: Logger, lines: readonly unknown[]): number[] {
  const found: number[] = [];
  for (let n = 0; n <= 11; n++) {
    const before = lines.length;
    verbose(log, n)?.({ n }, "level");
    if (lines.length > before) found.push(n);
  }
  return found;
}

const upTo = (n: number): number[] => Array.from({ length: n + 1 }, (_, index) => index);

describe("verbosity", () => {
  for (const verbosity of [0, 1, 4, 7, 10]) {
    test(`-v ${verbosity}`, () => {
      const { log, lines } = kept({ verbosity });
      assert.deepEqual(open(log, lines), upTo(verbosity));
      lines.length = 0;
      log.debug("debug is V(4)");
      log.trace("trace is V(6)");
      assert.equal(lines.length, Number(verbosity >= 4) + Number(verbosity >= 6));
      log.info("i");
      log.warn("w");
      log.error("e");
      assert.deepEqual(
        lines.slice(-3).map(({ severe }) => severe),
        [false, true, true],
      );
    });
  }

  test("--vmodule opens a module, and never closes one", () => {
    const { log, lines } = kept({
      verbosity: 2,
      vmodule: [
        { filePattern: "sync*", verbosity: 5 },
        { filePattern: "quiet", verbosity: 0 },
      ],
    });
    assert.deepEqual(open(moduleLogger(log, "sync-loop"), lines), upTo(5));
    assert.deepEqual(open(moduleLogger(log, "sync-loop").child({ pod: "a" }), lines), upTo(5));
    assert.deepEqual(open(moduleLogger(log, "quiet"), lines), upTo(2));
    assert.deepEqual(open(log, lines), upTo(2));
  });

  test("it changes while the kubelet runs, for children too", () => {
    const { log, lines, words } = kept();
    const child = moduleLogger(log, "pleg");
    assert.deepEqual(open(child, lines), [0]);
    words.verbosity = 6;
    assert.deepEqual(open(child, lines), upTo(6));
    words.verbosity = 0;
    child.debug("off again");
    assert.deepEqual(open(child, lines), [0]);
    assert.ok(!lines.some(({ text }) => text.includes("off again")));
  });

  test("a plain pino logger works with both", () => {
    const lines: string[] = [];
    const log = pino({ level: "debug" }, { write: (line: string) => lines.push(line) });
    moduleLogger(log, "x").info("one");
    verbose(log, 4)?.({}, "two");
    assert.equal(verbose(log, 6), undefined);
    assert.equal(lines.length, 2);
    assert.equal(loggingFor(log, "pleg").config.verbosity, 4);
    assert.equal(loggingFor(pino({ level: "silent" }), "pleg").silent, true);
    assert.deepEqual([...droppedLines(log)], []);
  });
});

describe("text", () => {
  test("a line takes text, format, fields or an error", () => {
    const { log, lines } = kept();
    log.info("plain 100%");
    log.info("%s and %d", "a", 3);
    log.info({ pod: "ns/p" }, "with fields");
    log.error(new Error("alone"));
    log.error({ err: new Error("inside") });
    moduleLogger(log, "sync-loop").child({ uid: "u1" }).warn({ n: 1 }, "child");
    assert.deepEqual(
      lines.map(({ text }) => text.slice(text.indexOf(` ${process.pid} `) + ` ${process.pid} `.length)),
      [
        'main] "plain 100%"\n',
        'main] "a and 3"\n',
        'main] "with fields" pod="ns/p"\n',
        'main] "alone" err="alone"\n',
        'main] "inside" err="inside"\n',
        'sync-loop] "child" uid="u1" n=1\n',
      ],
    );
  });

  test("stacks from V(4) on", () => {
    for (const verbosity of [3, 4]) {
      const { log, lines } = kept({ verbosity });
      log.error({ err: new Error("x") }, "failed");
      assert.equal(lines[0]?.text.includes("stack=<\n\tError: x\n"), verbosity === 4);
    }
  });
});

describe("json", () => {
  test("fields of upstream's format", () => {
    const { log, json } = kept({ format: "json", verbosity: 5 });
    const before = Date.now();
    log.info({ pod: "ns/p", big: 3n }, "hello 100%s");
    moduleLogger(log, "sync-loop").debug("deep");
    verbose(log, 5)?.({ a: 1 }, "five");
    log.warn("careful");
    log.error({ err: new Error("boom", { cause: new Error("why") }), o: { a: [1] } }, "failed");
    const [hello, deep, five, careful, failed] = json();
    const ts = Number(hello?.["ts"]);
    assert.ok(ts >= before && ts < Date.now() + 1, `${ts} is now, in ms`);
    const bare = (line: Record<string, unknown> | undefined) => ({ ...line, ts: 0, stack: undefined });
    const common = { ts: 0, stack: undefined, thread: "main" };
    assert.deepEqual(bare(hello), { ...common, caller: "main", v: 0, pod: "ns/p", big: 3, msg: "hello 100%s" });
    assert.deepEqual(bare(deep), { ...common, caller: "sync-loop", v: 4, msg: "deep" });
    assert.deepEqual(bare(five), { ...common, caller: "main", v: 5, a: 1, msg: "five" });
    assert.deepEqual(bare(careful), { ...common, caller: "main", v: 0, severity: "warning", msg: "careful" });
    const error = { err: "boom: why", o: { a: [1] }, severity: "error", msg: "failed" };
    assert.deepEqual(bare(failed), { ...common, caller: "main", ...error });
    assert.match(String(failed?.["stack"]), /^Error: boom\n/);
  });
});

describe("a full ring", () => {
  for (const format of ["text", "json"] as const) {
    test(`${format}: dropped lines are counted and reported`, () => {
      const ring = createRing({ capacityBytes: 4096 });
      const logging = { config: { ...DEFAULT_LOGGING, format }, journal: false, ring };
      const log = createLogger({ thread: "pleg", logging, clock: new SteppedClock() });
      for (let n = 0; n < 100; n++) log.info({ n }, "filler");
      const dropped = new RingProducer(ring).dropped;
      const consumer = new RingConsumer(ring);
      const read = (): string[] => {
        const lines: string[] = [];
        consumer.drain((bytes) => lines.push(Buffer.from(bytes.subarray(1)).toString()));
        return lines;
      };
      const first = read();
      assert.ok(dropped > 0 && first.length > 0);
      assert.equal(first.length + dropped, 100);
      log.info("there is room again");
      log.info("and no second notice");
      const [notice, ...rest] = read();
      assert.match(notice ?? "", /dropped log lines/);
      assert.match(
        notice ?? "",
        format === "json" ? new RegExp(`"lines":${dropped},`) : new RegExp(`lines=${dropped}\n`),
      );
      assert.equal(rest.length, 2);
      assert.equal(new RingProducer(ring).dropped, dropped);
    });
  }

  test("a line that can never fit is counted, and the next ones come", () => {
    const ring = createRing({ capacityBytes: 4096 });
    const log = createLogger({ thread: "pleg", logging: { config: { ...DEFAULT_LOGGING }, journal: false, ring } });
    log.info({ text: "x".repeat(50_000) }, "huge");
    log.info("small");
    const lines: string[] = [];
    new RingConsumer(ring).drain((bytes) => lines.push(Buffer.from(bytes.subarray(1)).toString()));
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? "", /lines=1\n/);
    assert.match(lines[1] ?? "", /"small"/);
  });

  test("flush fails when nothing is taken out, and succeeds when it is", () => {
    const ring = createRing({ capacityBytes: 4096 });
    const clock = new SteppedClock();
    const log = createLogger({
      thread: "pleg",
      logging: { config: { ...DEFAULT_LOGGING }, journal: false, ring },
      clock,
    });
    log.info("stuck");
    const outcomes: (string | undefined)[] = [];
    log.flush((error) => outcomes.push(error?.name));
    clock.step(2500);
    assert.equal(String(outcomes), "OperatorError");
    log.flush((error) => outcomes.push(error?.name));
    new RingConsumer(ring).drain(() => undefined);
    clock.step(10);
    assert.deepEqual(outcomes, ["OperatorError", undefined]);
  });
});
