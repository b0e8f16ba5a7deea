// The life of a part: one signal for all its work.

import { deepEqual, equal, ok } from "node:assert/strict";
import { getMaxListeners } from "node:events";
import { test } from "node:test";
import { Lifetime, StoppingError } from "../../../../src/shared/base/abort/lifetime.js";

test("the end of a lifetime aborts its signal once, with the reason of a stop", () => {
  const lifetime = new Lifetime();
  const reasons: unknown[] = [];
  lifetime.signal.addEventListener("abort", () => reasons.push(lifetime.signal.reason));
  equal(lifetime.hasEnded, false);
  lifetime.end();
  lifetime.end();
  equal(lifetime.hasEnded, true);
  equal(reasons.length, 1);
  ok(reasons[0] instanceof StoppingError);
  deepEqual(reasons[0].message, "the kubelet is stopping");
});

test("any number of calls may listen to the signal of a lifetime", () => {
  equal(getMaxListeners(new Lifetime().signal), 0);
});
