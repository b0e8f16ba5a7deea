// The log thread's logic under virtual time: order, readers that don't read, split streams, flushes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLogWords, LogWords } from "../../../src/shared/base/queue/log-words.js";
import { createRecentLines, RecentLines } from "../../../src/shared/base/queue/recent-lines.js";
import { createRing, RingProducer, type RingBuffers } from "../../../src/shared/base/queue/ring.js";
import { RECORD_INFO, RECORD_SEVERE } from "../../../src/shared/telemetry/log/line-record.js";
import type { LogOutput } from "../../../src/shared/telemetry/log/open-output.js";
import { LogWriter } from "../../../src/workers/log/log-writer.js";
import { SteppedClock } from "../../support/stepped-clock.js";

class FakeOutput implements LogOutput {
  text = "";
  /** Bytes it takes before it says "not now". */
  room = Infinity;
  broken = false;

  write(bytes: Uint8Array): number {
    if (this.broken) throw new Error("EPIPE");
    const taken = Math.min(this.room, bytes.length);
    this.room -= taken;
    this.text += Buffer.from(bytes.subarray(0, taken)).toString("latin1");
    return taken;
  }

  close(): void {
    return;
  }
}

function service(options: { splitStream?: boolean; infoBufferBytes?: number } = {}) {
  const clock = new SteppedClock();
  const out = new FakeOutput();
  const err = new FakeOutput();
  const words = createLogWords(0);
  const recent = createRecentLines();
  const make = (): LogWriter =>
    new LogWriter({
      words,
      recent,
      out,
      err,
      clock,
      splitStream: false,
      infoBufferBytes: 0,
      flushFrequencyMs: 5000,
      ...options,
    });
  return { clock, out, err, words: new LogWords(words), recent: new RecentLines(recent), make, writer: make() };
}

function push(ring: RingBuffers, ...lines: string[]): RingProducer {
  const producer = new RingProducer(ring);
  for (const line of lines) {
    const kind = line.startsWith("E") ? RECORD_SEVERE : RECORD_INFO;
    const record = Buffer.concat([Buffer.from([kind]), Buffer.from(`${line}\n`)]);
    assert.ok(producer.tryPush(record, kind === RECORD_SEVERE));
  }
  return producer;
}

const ringOf = (): RingBuffers => createRing({ capacityBytes: 1 << 20 });

describe("log writer", () => {
  test("writes waiting lines, and sleeps until there are more", async () => {
    const { clock, err, writer } = service();
    const ring = ringOf();
    push(ring, "I one", "E two");
    writer.addRing(ring);
    assert.equal(err.text, "I one\nE two\n");
    clock.step(15);
    push(ring, "I three");
    // The doorbell rings on the loop.
    for (let turn = 0; turn < 100 && !err.text.includes("three"); turn++) await new Promise(setImmediate);
    assert.equal(err.text, "I one\nE two\nI three\n");
  });

  test("after lines it rests 15 ms, in which no line rings but a severe one", async () => {
    const { clock, err, writer } = service();
    const ring = ringOf();
    writer.addRing(ring);
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    };
    push(ring, "I one");
    await turns();
    assert.equal(err.text, "I one\n");
    push(ring, "I two");
    push(ring, "I three");
    clock.step(14);
    await turns();
    assert.equal(err.text, "I one\n");
    clock.step(1);
    assert.equal(err.text, "I one\nI two\nI three\n");
    push(ring, "I four");
    push(ring, "E five");
    await turns();
    assert.match(err.text, /I four\nE five\n$/, "a severe line takes along what waits");
    clock.step(15);
    clock.step(15);
    push(ring, "I six");
    await turns();
    assert.match(err.text, /I six\n$/, "who sleeps is woken");
  });

  test("keeps the last lines in memory, also those that the output does not take", () => {
    const { err, recent, writer } = service();
    const ring = ringOf();
    push(ring, "I one", "E two");
    err.room = 0;
    writer.addRing(ring);
    assert.equal(err.text, "");
    assert.equal(recent.text(), "I one\nE two\n");
  });

  test("a ring that fills ends the rest", async () => {
    const { err, writer } = service();
    const ring = createRing({ capacityBytes: 1 << 12 });
    writer.addRing(ring);
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    };
    push(ring, "I one");
    await turns();
    push(ring, `I ${"x".repeat(800)}`);
    await turns();
    assert.equal(err.text, "I one\n");
    push(ring, `I ${"y".repeat(800)}`);
    await turns();
    assert.match(err.text, /y\n$/);
  });

  test("a slow reader gets every byte once, and lines of two rings never mix", () => {
    const { clock, err, writer } = service();
    const rings = [ringOf(), ringOf()];
    const lines = (name: string): string[] => Array.from({ length: 50 }, (_, n) => `I ${name}${n}`);
    rings.forEach((ring, index) => push(ring, ...lines(`r${index}-`)));
    err.room = 0;
    for (const ring of rings) writer.addRing(ring);
    for (let turn = 0; turn < 1000; turn++) {
      err.room = 7;
      clock.step(50);
    }
    const read = err.text.trim().split("\n");
    assert.deepEqual(
      read.filter((line) => line.startsWith("I r0-")),
      lines("r0-"),
    );
    assert.deepEqual(
      read.filter((line) => line.startsWith("I r1-")),
      lines("r1-"),
    );
    assert.equal(read.length, 100);
  });

  test("while the reader does not read, lines stay in their ring for the next writer", () => {
    const { clock, err, writer, make } = service();
    const ring = ringOf();
    err.room = 0;
    writer.addRing(ring);
    const producer = push(ring, "I kept");
    writer.pump();
    clock.step(1000);
    assert.ok(producer.usedBytes > 0);
    err.room = Infinity;
    make().addRing(ring);
    assert.equal(err.text, "I kept\n");
    assert.equal(producer.usedBytes, 0);
  });

  test("without a reader lines are dropped and counted", () => {
    const { err, writer } = service();
    const ring = ringOf();
    const producer = push(ring, "I a", "I b", "I c");
    err.broken = true;
    writer.addRing(ring);
    assert.equal(producer.dropped, 3);
    assert.equal(producer.usedBytes, 0);
    err.broken = false;
    push(ring, "I d");
    writer.pump();
    assert.equal(err.text, "I d\n");
  });

  test("split: infos to out, the rest to err", () => {
    const { out, err, writer } = service({ splitStream: true });
    const ring = ringOf();
    push(ring, "I a", "E b", "I c");
    writer.addRing(ring);
    assert.deepEqual([out.text, err.text], ["I a\nI c\n", "E b\n"]);
  });

  test("an info buffer is written when full, after its time, with an error, at a flush", () => {
    const { clock, out, err, words, writer } = service({ splitStream: true, infoBufferBytes: 20 });
    const ring = ringOf();
    writer.addRing(ring);
    const log = (...lines: string[]): void => {
      push(ring, ...lines);
      writer.pump();
    };
    log("I 12345");
    assert.equal(out.text, "");
    log("I 12345", "I 12345");
    assert.equal(out.text, "I 12345\n".repeat(3));
    out.text = "";
    log("I late");
    clock.step(4999);
    assert.equal(out.text, "");
    clock.step(1);
    assert.equal(out.text, "I late\n");
    out.text = "";
    log("I before");
    log("E error");
    assert.deepEqual([out.text, err.text], ["I before\n", "E error\n"]);
    out.text = "";
    log("I last");
    const asked = words.askFlush();
    writer.pump();
    assert.equal(out.text, "I last\n");
    assert.ok(words.isFlushed(asked));
  });

  test("a flush is done when all is written, not before", () => {
    const { clock, err, words, writer } = service();
    const ring = ringOf();
    err.room = 3;
    push(ring, "I waits");
    writer.addRing(ring);
    const asked = words.askFlush();
    writer.pump();
    clock.step(1000);
    assert.ok(!words.isFlushed(asked));
    err.room = Infinity;
    clock.step(1000);
    assert.equal(err.text, "I waits\n");
    assert.ok(words.isFlushed(asked));
  });

  test("a damaged ring does not take the others along", () => {
    const { err, writer } = service();
    const [bad, good] = [ringOf(), ringOf()];
    push(bad, "I x");
    new Int32Array(bad.memory)[80] = -5;
    writer.addRing(bad);
    writer.addRing(good);
    push(good, "I y");
    writer.pump();
    assert.equal(err.text, "I y\n");
  });
});
