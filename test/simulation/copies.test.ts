// What the simulation does instead of slower calls gives the same: copies of messages, and replies of lists.

import assert from "node:assert/strict";
import { test } from "node:test";
import { copyOf } from "../support/copy-of.js";
import { ListReplies } from "./world/list-replies.js";

const MESSAGES: readonly (readonly [what: string, message: unknown])[] = [
  [
    "a plain message",
    { kind: "run", ids: ["a", "b"], at: 5n, none: null, missing: undefined, deep: { list: [[1], {}] } },
  ],
  ["a message with bytes", { bytes: new Uint8Array([1, 2, 3]) }],
  ["a message with a map and a date", { map: new Map([["a", new Date(5)]]), set: new Set([1]) }],
  ["a message with an error", { error: new TypeError("wrong") }],
];

for (const [what, message] of MESSAGES) {
  test(`${what} is copied as structuredClone copies it`, () => {
    const copy = copyOf(message);
    assert.deepEqual(copy, structuredClone(message));
    assert.notEqual(copy, message);
  });
}

test("a copy shares no bytes with its message", () => {
  const message = { bytes: Buffer.from("abc") };
  const copy = copyOf(message);
  message.bytes.fill(0);
  assert.equal(Buffer.from(copy.bytes).toString(), "abc");
});

test("a function in a message is refused, and an endless message is not", () => {
  assert.throws(() => copyOf({ fn: () => undefined }), { name: "DataCloneError" });
  const endless: { self?: object } = {};
  endless.self = endless;
  const copy = copyOf(endless);
  assert.equal(copy.self, copy);
});

function list(replies: ListReplies, text: string): string {
  const call = replies.begin("ListContainers", Buffer.alloc(0));
  const bytes = call.encoded(() => Buffer.from(text));
  call.end();
  return bytes.toString();
}

test("a list is encoded once until a container changes", () => {
  const replies = new ListReplies();
  assert.deepEqual([list(replies, "one"), list(replies, "two")], ["one", "one"]);
  replies.changed();
  assert.equal(list(replies, "three"), "three");
});

test("a list is encoded anew while a call that may change something is under way", () => {
  const replies = new ListReplies();
  list(replies, "before");
  const stop = replies.begin("StopContainer", Buffer.alloc(0));
  assert.deepEqual([list(replies, "one"), list(replies, "two")], ["one", "two"]);
  stop.end();
  assert.deepEqual([list(replies, "after"), list(replies, "later")], ["after", "after"]);
});
