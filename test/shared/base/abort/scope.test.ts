// Scopes and waits on one long-lived signal: they end with it, and leave nothing on it when they are over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Scope } from "../../../../src/shared/base/abort/scope.js";
import { unlessAborted } from "../../../../src/shared/base/abort/unless-aborted.js";
import { dependants, heldBy } from "../../../support/abort-listeners.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

test("heldBy counts listeners and, where Node shows them, the results of AbortSignal.any", () => {
  const { signal } = new AbortController();
  assert.equal(heldBy(signal), 0);
  signal.addEventListener("abort", () => undefined);
  const made = AbortSignal.any([signal]);
  assert.equal(heldBy(signal), dependants(signal) === undefined ? 1 : 2);
  assert.equal(made.aborted, false);
});

test("10,000 scopes and waits leave nothing on a signal that lives on", async () => {
  const { signal } = new AbortController();
  for (let round = 0; round < 10_000; round++) {
    using scope = new Scope(signal);
    assert.equal(await unlessAborted(Promise.resolve(round), scope.signal), round);
    await unlessAborted(Promise.reject(new Error("no")), signal).catch(() => undefined);
  }
  assert.equal(heldBy(signal), 0);
});

test("a scope ends with its parent, at its limit or by a call, each with its own reason", () => {
  const clock = new SteppedClock();
  const parent = new AbortController();
  using child = new Scope(parent.signal);
  using late = new Scope(parent.signal).limit(clock, 10, () => new Error("late"));
  using called = new Scope(parent.signal);
  clock.step(10);
  called.abort(new Error("called"));
  assert.equal(child.signal.aborted, false);
  parent.abort(new Error("parent"));
  assert.deepEqual(
    [child, late, called].map(({ signal }) => (signal.reason as Error).message),
    ["parent", "late", "called"],
  );
  using born = new Scope(parent.signal);
  assert.equal((born.signal.reason as Error).message, "parent");
});

test("a scope that is disposed no longer ends with its parent, and its limit does not come", () => {
  const clock = new SteppedClock();
  const parent = new AbortController();
  const scope = new Scope(parent.signal).limit(clock, 10, () => new Error("late"));
  scope.dispose();
  clock.step(10);
  parent.abort();
  assert.equal(scope.signal.aborted, false);
});

test("a wait on a signal that has ended rejects, and a later rejection of its promise is handled", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const ended = AbortSignal.abort(new Error("over"));
    let fail = (): void => undefined;
    const promise = new Promise<void>((_resolve, reject) => (fail = () => reject(new Error("much later"))));
    await assert.rejects(unlessAborted(promise, ended), /over/);
    fail();
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(unhandled, []);
  } finally {
    process.off("unhandledRejection", note);
  }
});
