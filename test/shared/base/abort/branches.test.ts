// Any number of signals that abort with one parent, by one listener on it.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { AbortBranches } from "../../../../src/shared/base/abort/branches.js";

test("a thousand branches are one listener of the parent, and abort with its reason", async () => {
  const parent = new AbortController();
  const branches = new AbortBranches(parent.signal);
  const runs = Array.from({ length: 1000 }, () =>
    branches.run(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        }),
    ),
  );
  assert.equal(getEventListeners(parent.signal, "abort").length, 1);
  const reason = new Error("enough");
  parent.abort(reason);
  for (const outcome of await Promise.allSettled(runs)) {
    assert.equal(outcome.status === "rejected" && outcome.reason, reason);
  }
});

test("a branch of an aborted parent is aborted; one that has ended no longer hears of the parent", async () => {
  const parent = new AbortController();
  using branches = new AbortBranches(parent.signal);
  const ended = await branches.run((signal) => Promise.resolve(signal));
  parent.abort(new Error("enough"));
  assert.equal(ended.aborted, false);
  assert.equal(await branches.run((signal) => Promise.resolve(signal.aborted)), true);
});

test("disposed branches leave no listener", () => {
  const parent = new AbortController();
  const branches = new AbortBranches(parent.signal);
  branches[Symbol.dispose]();
  assert.equal(getEventListeners(parent.signal, "abort").length, 0);
});
