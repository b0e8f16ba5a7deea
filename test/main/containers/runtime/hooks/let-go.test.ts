import assert from "node:assert/strict";
import { test } from "node:test";
import { letGoOnAbort } from "../../../../../src/main/containers/runtime/hooks/let-go-on-abort.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

/** A call that ends on command, or when it is cancelled. */
function build() {
  const clock = new SteppedClock();
  const caller = new AbortController();
  let end = (): void => undefined;
  const seen: { cancelled: boolean } = { cancelled: false };
  const result = letGoOnAbort(clock, caller.signal, (signal) => {
    signal.addEventListener("abort", () => (seen.cancelled = true));
    return new Promise<string>((resolve, reject) => {
      end = () => resolve("done");
      signal.addEventListener("abort", () => reject(new Error("cancelled")));
    });
  });
  return { clock, caller, seen, result, end: () => end() };
}

test("a call that ends is answered as it is", async () => {
  const { end, result } = build();
  end();
  assert.equal(await result, "done");
});

test("an abort rejects at once, and the call continues for some time before it is cancelled", async () => {
  const { clock, caller, seen, result } = build();
  caller.abort(new Error("the pod goes"));
  await assert.rejects(result, /the pod goes/);
  clock.step(9_999);
  assert.equal(seen.cancelled, false);
  clock.step(1);
  assert.equal(seen.cancelled, true);
});

test("a call that ended after it was let go of is not cancelled", async () => {
  const { clock, caller, seen, result, end } = build();
  caller.abort(new Error("the pod goes"));
  await assert.rejects(result);
  end();
  await new Promise(setImmediate);
  clock.step(60_000);
  assert.equal(seen.cancelled, false);
});

test("an abort that came before keeps the call from being made", () => {
  const gone = AbortSignal.abort(new Error("too late"));
  let called = false;
  assert.throws(
    () =>
      letGoOnAbort(new SteppedClock(), gone, () => {
        called = true;
        return Promise.resolve();
      }),
    /too late/,
  );
  assert.equal(called, false);
});
