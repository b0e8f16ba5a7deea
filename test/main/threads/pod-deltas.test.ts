// Pods on their way to a thread: all after its start, and changes, in pieces.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { PodDeltas } from "../../../src/main/threads/pod-deltas.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

/** Turns that come at once, unless one is held. */
class HeldTurns {
  private readonly next: Promise<void>[] = [];

  /** The second turn from now, in which a large piece is sent, comes when the result is called. */
  hold(): () => void {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.next.push(Promise.resolve(), held);
    return () => release();
  }

  turn(): Promise<void> {
    return this.next.shift() ?? Promise.resolve();
  }
}

function build(size = 1, collectMs = 0, turns?: HeldTurns) {
  const clock = new SteppedClock(1000);
  const kept = keptLog();
  /** The thread's copy, by UID. */
  const thread = new Map<string, string>();
  const pieces: number[] = [];
  const unsure: string[] = [];
  const answers: Promise<void>[] = [];
  const deltas = new PodDeltas<string, [string, string]>({
    thread: "server",
    encode: (value) => ({ item: [value.split("=")[0] ?? "", value], size }),
    send: async (set, gone) => {
      pieces.push(set.length);
      await answers.shift();
      for (const uid of gone) thread.delete(uid);
      for (const [uid, value] of set) thread.set(uid, value);
    },
    collectMs,
    ...(turns !== undefined && { turns }),
    unsure: (uid) => unsure.push(uid),
    clock,
    log: kept.log,
  });
  const set = (...values: string[]): void =>
    deltas.change(
      values.map((value) => [podUid(value.split("=")[0] ?? ""), value] as const),
      [],
    );
  const begin = (): Promise<void> => {
    thread.clear();
    return Promise.resolve();
  };
  const join = (...values: string[]): Promise<void> =>
    deltas.join(begin, () => values.map((value) => [podUid(value.split("=")[0] ?? ""), value] as const));
  return { deltas, clock, kept, thread, pieces, unsure, answers, set, join };
}

const quiet = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
};

test("all pods are sent in pieces of bounded size, and changes after them", async () => {
  const { join, thread, pieces, set } = build(100_000);
  await join("a=1", "b=1", "c=1", "d=1");
  assert.deepEqual([thread.size, pieces], [4, [3, 1]]);
  set("a=2");
  await quiet();
  assert.equal(thread.get("a"), "a=2");
});

test("a change during the sending of all pods is the last to arrive", async () => {
  const { join, deltas, thread, answers, set } = build(300_000);
  let arrive = (): void => undefined;
  answers.push(new Promise((resolve) => (arrive = resolve)));
  const joined = join("a=1", "b=1", "c=1");
  await quiet();
  set("a=2", "b=2");
  deltas.change([], [podUid("c")]);
  arrive();
  await joined;
  await quiet();
  assert.deepEqual([...thread.values()].sort(), ["a=2", "b=2"]);
});

test("a piece that did not arrive is sent again with the newest values, and no pod is lost", async () => {
  const { join, clock, thread, answers, unsure, kept, set } = build(300_000);
  answers.push(Promise.resolve(), Promise.reject(new Error("too slow")));
  const joined = join("a=1", "b=1", "c=1");
  await quiet();
  assert.deepEqual([[...thread.values()], unsure], [["a=1"], ["b"]]);
  set("b=2");
  await quiet();
  assert.equal(thread.size, 1, "the thread rests");
  clock.step(1000);
  await joined;
  assert.deepEqual([...thread.values()].sort(), ["a=1", "b=2", "c=1"]);
  assert.equal(kept.warnings().length, 1);
});

test("a thread that is slow with its pods runs without the rest, which follows", async () => {
  const { join, deltas, clock, thread, answers, kept } = build(300_000);
  let arrive = (): void => undefined;
  answers.push(Promise.resolve(), new Promise((resolve) => (arrive = resolve)));
  const joined = join("a=1", "b=1", "c=1");
  await quiet();
  clock.step(5000);
  await joined;
  // The second pod is on its way, the third waits.
  assert.deepEqual([thread.size, deltas.behind], [1, 1]);
  assert.ok(kept.lines.some(({ msg }) => msg.includes("the server thread runs without")));
  arrive();
  await quiet();
  assert.deepEqual([thread.size, deltas.behind], [3, 0]);
});

test("a thread that has left gets nothing, and all pods at its next start", async () => {
  const { join, deltas, thread, pieces, set } = build();
  await join("a=1");
  deltas.leave();
  set("b=1");
  await quiet();
  assert.deepEqual([pieces, deltas.joined], [[1], false]);
  await join("a=2", "b=2");
  assert.deepEqual([...thread.values()], ["a=2", "b=2"]);
});

test("changes of a moment are sent together, each pod with its newest value", async () => {
  const { join, clock, thread, pieces, set } = build(1, 250);
  await join("a=1");
  set("a=2");
  set("b=1");
  await quiet();
  assert.deepEqual([...thread.values()], ["a=1"], "the moment is not over");
  set("a=3");
  clock.step(250);
  await quiet();
  assert.deepEqual(
    [[...thread.values()].sort(), pieces],
    [
      ["a=3", "b=1"],
      [1, 2],
    ],
  );
});

test("a thread that asks gets the changes so far at once, those that are on their way included", async () => {
  const { deltas, join, clock, thread, pieces, answers, set } = build(1, 250);
  await join("a=1");
  set("a=2");
  let arrive = (): void => undefined;
  answers.push(new Promise((resolve) => (arrive = resolve)));
  const first = deltas.sendNow();
  set("a=3");
  const second = deltas.sendNow();
  await quiet();
  assert.equal(thread.get("a"), "a=1", "the first change is on its way");
  arrive();
  await Promise.all([first, second]);
  assert.equal(thread.get("a"), "a=3");
  clock.step(1000);
  await quiet();
  assert.deepEqual(pieces, [1, 1, 1], "nothing is sent again");
});

test("a thread that asks while it does not take changes is not kept waiting", async () => {
  const { deltas, join, thread, answers, set } = build(1, 250);
  await join("a=1");
  answers.push(Promise.reject(new Error("too slow")));
  set("a=2");
  await deltas.sendNow();
  await deltas.sendNow();
  assert.equal(thread.get("a"), "a=1");
});

test("changes of a moment are not sent to the thread's next generation twice", async () => {
  const { deltas, join, clock, pieces, thread, set } = build(1, 250);
  await join("a=1");
  set("a=2");
  deltas.leave();
  await join("a=2");
  clock.step(1000);
  await quiet();
  assert.deepEqual([pieces, thread.get("a")], [[1, 1], "a=2"]);
});

test("a large piece that waits for its turn is not sent to the next thread", async () => {
  const turns = new HeldTurns();
  const { deltas, join, pieces, set, thread } = build(300_000, 0, turns);
  await join("a=1");
  assert.deepEqual([[...thread.values()], pieces], [["a=1"], [1]]);
  const turn = turns.hold();
  set("a=2");
  await quiet();
  deltas.leave();
  const joined = join("a=3");
  turn();
  await joined;
  assert.deepEqual([[...thread.values()], pieces], [["a=3"], [1, 1]]);
});
