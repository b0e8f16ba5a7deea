import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CrashBackoff, crashBackoffKey, crashLoopMessage } from "../../../src/main/model/crash-backoff.js";
import { goDuration } from "../../../src/shared/base/clock/go-duration.js";
import { steadyTime, wallTime, later } from "../../../src/shared/base/clock/moments.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { c, makePod } from "../pods/status/fixtures.js";

const s = 1000;

test("first restart at once, then 10 s doubling to 300 s", () => {
  const backoff = new CrashBackoff();
  let now = steadyTime(1_000_000);
  const delays: number[] = [];
  for (let crash = 0; crash < 8; crash++) {
    const finishedAt = later(now, s);
    const held = backoff.inBackoff("k", wallTime(finishedAt), finishedAt);
    delays.push((held?.until ?? finishedAt) - finishedAt);
    now = held?.until ?? finishedAt;
    assert.equal(backoff.inBackoff("k", wallTime(finishedAt), now), undefined, "over exactly at `until`");
    backoff.next("k", wallTime(finishedAt), now);
  }
  assert.deepEqual(
    delays,
    [0, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * s),
  );
});

test("forgotten once the container finished more than 600 s after the last step", () => {
  const backoff = new CrashBackoff();
  backoff.next("k", wallTime(0), steadyTime(0));
  backoff.next("k", wallTime(0), steadyTime(0));
  assert.deepEqual(backoff.inBackoff("k", wallTime(600 * s), steadyTime(600 * s)), { until: 620 * s, delayMs: 20 * s });
  assert.equal(backoff.inBackoff("k", wallTime(600 * s + 1), steadyTime(600 * s + 1)), undefined);
  assert.equal(backoff.next("k", wallTime(601 * s), steadyTime(601 * s)), 10 * s, "starts over");
});

test("keys are independent; the base never exceeds the maximum", () => {
  const backoff = new CrashBackoff({ maxMs: 1 * s });
  assert.equal(backoff.next("a", wallTime(0), steadyTime(0)), 1 * s);
  assert.equal(backoff.inBackoff("b", wallTime(0), steadyTime(0)), undefined);
  assert.deepEqual(backoff.inBackoffSinceStep("a", steadyTime(999)), { until: 1000, delayMs: 1000 });
  assert.equal(backoff.inBackoffSinceStep("a", steadyTime(1000)), undefined);
});

test("collect never frees a container that is still held", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(700 * s), { minLength: 1, maxLength: 30 }), fc.nat(2000 * s), (runs, rest) => {
      const collected = new CrashBackoff();
      const plain = new CrashBackoff();
      let now = steadyTime(0);
      let finishedAt = steadyTime(0);
      for (const run of runs) {
        for (const backoff of [collected, plain]) backoff.next("k", wallTime(finishedAt), now);
        finishedAt = later(now, run);
        now = plain.inBackoff("k", wallTime(finishedAt), finishedAt)?.until ?? finishedAt;
      }
      collected.collect(later(finishedAt, rest));
      assert.deepEqual(
        collected.inBackoff("k", wallTime(finishedAt), later(finishedAt, rest)),
        plain.inBackoff("k", wallTime(finishedAt), later(finishedAt, rest)),
      );
    }),
  );
  const backoff = new CrashBackoff();
  backoff.next("k", wallTime(0), steadyTime(0));
  backoff.collect(steadyTime(901 * s));
  assert.equal(backoff.size, 0);
});

test("key changes with pod, container, image and resources", () => {
  const pod = makePod();
  const variants = [
    crashBackoffKey(pod, c("a")),
    crashBackoffKey(makePod({}, { uid: podUid("u2") }), c("a")),
    crashBackoffKey(pod, c("b")),
    crashBackoffKey(pod, c("a", { image: "other" })),
    crashBackoffKey(pod, c("a", { resources: { limits: { cpu: "1" } } })),
  ];
  assert.equal(new Set(variants).size, variants.length);
  assert.equal(variants[0], crashBackoffKey(pod, c("a", { args: ["x"] })));
});

test("message and durations as Go prints them", () => {
  assert.equal(
    crashLoopMessage(makePod(), { name: "a" }, 80 * s),
    "back-off 1m20s restarting failed container=a pod=web_ns(u1)",
  );
  const texts: [number, string][] = [
    [0, "0s"],
    [500, "500ms"],
    [1500, "1.5s"],
    [10 * s, "10s"],
    [80 * s, "1m20s"],
    [300 * s, "5m0s"],
    [3600 * s, "1h0m0s"],
    [3661.5 * s, "1h1m1.5s"],
    [-2 * s, "-2s"],
  ];
  for (const [ms, text] of texts) assert.equal(goDuration(ms), text);
});
