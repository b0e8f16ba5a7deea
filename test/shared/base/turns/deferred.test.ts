// A part that is loaded with its first use, or some time after the start.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Deferred, type AfterStart } from "../../../../src/shared/base/turns/deferred.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";

interface Part {
  n: number;
}

/** Its loads wait for `finish`, which gives the result of the oldest. */
function deferred(when: "first use" | Omit<AfterStart, "clock" | "failed">) {
  const clock = new SteppedClock();
  const seen: string[] = [];
  const pending: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let loads = 0;
  const part = new Deferred<Part>({
    name: "the part",
    when:
      when === "first use" ? when : { ...when, clock, failed: (error) => void seen.push(`failed ${String(error)}`) },
    async load(signal) {
      const n = ++loads;
      seen.push(`load ${n}`);
      signal.addEventListener("abort", () => seen.push("aborted"), { once: true });
      await new Promise<void>((resolve, reject) => pending.push({ resolve, reject }));
      return { n };
    },
    end: ({ n }) => void seen.push(`end ${n}`),
  });
  const finish = async (error?: Error): Promise<void> => {
    const first = pending.shift();
    if (error === undefined) first?.resolve();
    else first?.reject(error);
    await settle();
  };
  return { part, clock, seen, finish };
}

describe("a part of first use", () => {
  test("loads nothing until somebody asks, and once for all who ask", async () => {
    const { part, seen, finish } = deferred("first use");
    part.start();
    await settle();
    assert.deepEqual(seen, []);
    const both = Promise.all([part.get(), part.get()]);
    assert.equal(part.current, undefined);
    await finish();
    const [first, second] = await both;
    assert.equal(first, second);
    assert.equal(part.current, first);
    assert.deepEqual(seen, ["load 1"]);
  });

  test("forgets a failure: the next caller loads again", async () => {
    const { part, seen, finish } = deferred("first use");
    const failing = assert.rejects(part.get(), /broken/);
    await finish(new Error("broken"));
    await failing;
    const again = part.get();
    await finish();
    assert.deepEqual(await again, { n: 2 });
    assert.deepEqual(seen, ["load 1", "load 2"]);
  });

  test("stops without a load, and loads nothing afterwards", async () => {
    const { part, seen } = deferred("first use");
    await part.stop();
    await assert.rejects(part.get(), /the kubelet is stopping/);
    assert.deepEqual(seen, []);
  });

  test("a stop during the load aborts it, waits for it and ends the part", async () => {
    const { part, seen, finish } = deferred("first use");
    const asked = part.get();
    const stopped = part.stop();
    await settle();
    assert.deepEqual(seen, ["load 1", "aborted"]);
    await finish();
    await stopped;
    await asked;
    assert.deepEqual(seen, ["load 1", "aborted", "end 1"]);
    assert.equal(part.current, undefined);
  });
});

describe("a part of some time after the start", () => {
  test("is loaded at its time, once, also when it is started twice", async () => {
    const { part, clock, seen, finish } = deferred({ ms: 1000 });
    part.start();
    part.start();
    clock.step(999);
    await settle();
    assert.deepEqual(seen, []);
    clock.step(1);
    await settle();
    await finish();
    assert.deepEqual(seen, ["load 1"]);
    await part.stop();
    assert.deepEqual(seen, ["load 1", "aborted", "end 1"]);
    assert.equal(clock.pending, 0);
  });

  test("is loaded before its time by the first user", async () => {
    const { part, clock, seen, finish } = deferred({ ms: 1000 });
    part.start();
    const asked = part.get();
    await finish();
    clock.step(1000);
    await settle();
    assert.deepEqual(await asked, { n: 1 });
    assert.deepEqual(seen, ["load 1"]);
  });

  test("reports a failure and is repeated after its pause, until it is there", async () => {
    const { part, clock, seen, finish } = deferred({ ms: 0, againMs: 50 });
    part.start();
    clock.step(0);
    await settle();
    await finish(new Error("busy"));
    clock.step(49);
    await settle();
    assert.deepEqual(seen, ["load 1", "failed Error: busy"]);
    clock.step(1);
    await settle();
    await finish();
    assert.deepEqual(part.current, { n: 2 });
    assert.equal(clock.pending, 0);
  });

  test("reports a failure once and stays away without a pause to repeat", async () => {
    const { part, clock, seen, finish } = deferred({ ms: 0 });
    part.start();
    clock.step(0);
    await settle();
    await finish(new Error("busy"));
    clock.step(1_000_000);
    await settle();
    assert.deepEqual(seen, ["load 1", "failed Error: busy"]);
  });

  test("a stop before its time loads nothing and reports nothing", async () => {
    const { part, clock, seen } = deferred({ ms: 1000, againMs: 10 });
    part.start();
    await part.stop();
    clock.step(5000);
    await settle();
    assert.deepEqual(seen, []);
    assert.equal(clock.pending, 0);
  });
});
