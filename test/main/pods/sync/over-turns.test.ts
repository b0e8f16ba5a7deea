// Turns of pods that ended before this kubelet: a few at once, in order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { OverTurns } from "../../../../src/main/pods/sync/over-turns.js";

test("turns run a few at once and in order, and one that leaves is not called", async () => {
  const turns = new OverTurns(2);
  const called: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string): (() => void) | undefined =>
    turns.add(() => {
      called.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    });
  const [leaveA, leaveB, leaveC] = [add("a"), add("b"), add("c"), add("d")];
  assert.deepEqual(called, ["a", "b"]);
  assert.ok(leaveC !== undefined);
  leaveC();
  // They have begun: there is no line to leave.
  assert.deepEqual([leaveA, leaveB], [undefined, undefined]);
  ends.get("b")?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(called, ["a", "b", "d"]);
  add("e");
  assert.deepEqual(called, ["a", "b", "d"]);
  ends.get("a")?.();
  ends.get("d")?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(called, ["a", "b", "d", "e"]);
});
