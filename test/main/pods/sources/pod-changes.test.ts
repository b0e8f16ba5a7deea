// A list of thousands of pods reaches the syncLoop in parts: counted as changes per round of the event loop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_AT_ONCE, PodChanges } from "../../../../src/main/pods/sources/pod-changes.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog, until } from "../../../support/sources-kit.js";

const COUNT = 5 * MOST_AT_ONCE + 1;

function build() {
  const seen: string[] = [];
  /** Changes of each round; an immediate ends one, so a number may be that of two. */
  const perRound = [0];
  const changes = new PodChanges({
    sources: ["api"],
    loop: {
      onPodChange: ({ kind, pod: { metadata } }) => {
        perRound[perRound.length - 1] = (perRound.at(-1) ?? 0) + 1;
        seen.push(`${kind} ${metadata.name}`);
      },
      onSourcesSeen: () => seen.push("seen"),
      onStaticSourcesSeen: () => undefined,
    },
    clock: systemClock,
    log: keptLog().log,
  });
  let isOver = false;
  const count = (): void => {
    perRound.push(0);
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  return { changes, seen, perRound, stop: () => (isOver = true) };
}

const names = Array.from({ length: COUNT }, (_, at) => `p${at}`);
const pods = names.map((name) => pod({}, name));

test("changes of a long list are passed on over several rounds, in their order, and the source counts as seen after the last", async () => {
  const { changes, seen, perRound, stop } = build();
  changes.deliver("api", pods, true);
  assert.equal(seen.length, MOST_AT_ONCE);
  assert.equal(changes.allSourcesSeen(), false);
  // Later changes wait behind those before them.
  changes.drop("api", podUid("uid-p1"));
  changes.set("api", pod({}, "late"));
  assert.equal(seen.length, MOST_AT_ONCE);
  await until("all", () => seen.includes("seen"));
  stop();
  assert.deepEqual(seen, [...names.map((name) => `add ${name}`), "remove p1", "add late", "seen"]);
  assert.ok(Math.max(...perRound) <= 2 * MOST_AT_ONCE, String(perRound));
  assert.equal(changes.allSourcesSeen(), true);
});

test("a short list is passed on at once", () => {
  const { changes, seen, stop } = build();
  changes.deliver("api", pods.slice(0, MOST_AT_ONCE), true);
  stop();
  assert.equal(seen.length, MOST_AT_ONCE + 1);
  assert.equal(seen.at(-1), "seen");
});

test("a kubelet that stops in between passes nothing more on", async () => {
  const { changes, seen, stop } = build();
  changes.deliver("api", pods, true);
  changes.stop();
  for (let round = 0; round < 10; round++) await new Promise((resolve) => setImmediate(resolve));
  stop();
  assert.equal(seen.length, MOST_AT_ONCE);
});
