// KeyedSerializer: the order of operations on one key, on several keys and on different keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyedSerializer } from "../../../../src/shared/base/turns/keyed-serializer.js";

function recorder() {
  const order: string[] = [];
  const gates = new Map<string, () => void>();
  const work = (name: string) => async (): Promise<void> => {
    order.push(`${name} begins`);
    await new Promise<void>((resolve) => gates.set(name, resolve));
    order.push(`${name} ends`);
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string): Promise<void> => {
    gates.get(name)?.();
    await settle();
  };
  return { order, work, end, settle };
}

test("an operation on several keys waits for each of them, and holds them all", async () => {
  const turns = new KeyedSerializer();
  const { order, work, end, settle } = recorder();
  const all = [
    turns.run("a", work("first")),
    turns.runAll(["a", "b"], work("both")),
    turns.run("b", work("last")),
    turns.run("c", work("other")),
  ];
  await settle();
  assert.deepEqual(order, ["first begins", "other begins"], "another key does not wait");
  await end("first");
  assert.deepEqual(order.slice(2), ["first ends", "both begins"]);
  await end("both");
  assert.deepEqual(order.slice(4), ["both ends", "last begins"]);
  await end("last");
  await end("other");
  await Promise.all(all);
});

test("two operations on the same keys in another order do not wait for each other", async () => {
  const turns = new KeyedSerializer();
  const { order, work, end, settle } = recorder();
  const all = [turns.runAll(["a", "b"], work("one")), turns.runAll(["b", "a"], work("two"))];
  await settle();
  await end("one");
  await end("two");
  await Promise.all(all);
  assert.deepEqual(order, ["one begins", "one ends", "two begins", "two ends"]);
});
