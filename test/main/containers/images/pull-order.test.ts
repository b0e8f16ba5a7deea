// Order of pulls: turns by rank, the registry's rate limit, and pulls that became unnecessary during the wait.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PullRate } from "../../../../src/main/containers/images/pull-limits.js";
import { pullRank, PullTurns, type PullTurn } from "../../../../src/main/containers/images/pull-turns.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { AuthConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod as makePod } from "../../../support/pods.js";
import { noCredentials } from "../../../support/silent.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { build, BUSYBOX, never, REMOTE, SECOND } from "./puller-kit.js";

test("the system's own pods rank as critical, by priority or by class", () => {
  assert.equal(pullRank(makePod()), "ordinary");
  assert.equal(pullRank(makePod({ priority: 1_999_999_999 })), "ordinary");
  assert.equal(pullRank(makePod({ priority: 2_000_000_000 })), "critical");
  assert.equal(pullRank(makePod({ priorityClassName: "system-node-critical" })), "critical");
});

/** A pod of its own at each call. */
function ofRank(rank: ReturnType<typeof pullRank>): Pod {
  const name = podUid(`pod-${++podsMade}`);
  const made = makePod(rank === "critical" ? { priority: 2_000_000_000 } : {}, name);
  return { ...made, metadata: { ...made.metadata, uid: name } };
}
let podsMade = 0;

test("critical pods go before ordinary ones, each in the order they came", async () => {
  const turns = new PullTurns(1);
  const { release: giveBack } = await turns.acquire(ofRank("ordinary"), never);
  const served: string[] = [];
  const ask = async (name: string, rank: ReturnType<typeof pullRank>): Promise<void> => {
    const turn = await turns.acquire(ofRank(rank), never);
    assert.equal(turn.waited, true);
    served.push(name);
    turn.release();
    turn.release();
  };
  const all = [ask("a", "ordinary"), ask("b", "critical"), ask("c", "ordinary"), ask("d", "critical")];
  giveBack();
  await Promise.all(all);
  assert.deepEqual(served, ["b", "d", "a", "c"]);
  assert.equal((await turns.acquire(ofRank("ordinary"), never)).waited, false);
});

test("never more pulls than the limit at once, none forgotten, also when callers give up", async () => {
  const order = fc.array(fc.record({ critical: fc.boolean(), abort: fc.boolean() }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), order, async (limit, asks) => {
      const turns = new PullTurns(limit);
      let running = 0;
      const outcomes = await Promise.all(
        asks.map(async ({ critical, abort }) => {
          const controller = new AbortController();
          if (abort) queueMicrotask(() => controller.abort());
          const pod = ofRank(critical ? "critical" : "ordinary");
          const turn = await turns.acquire(pod, controller.signal).catch(() => undefined);
          if (turn === undefined) return abort;
          assert.ok(++running <= limit);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          turn.release();
          return true;
        }),
      );
      assert.ok(outcomes.every(Boolean));
      assert.equal(turns.waiting, 0);
    }),
  );
});

test("a pod with many images has half of the turns at most, and other pods get theirs in between", async () => {
  const turns = new PullTurns(4);
  const [greedy, other] = [ofRank("ordinary"), ofRank("ordinary")];
  const held: PullTurn[] = [];
  const asked = Array.from({ length: 50 }, () => turns.acquire(greedy, never).then((turn) => held.push(turn)));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(held.length, 2);
  assert.equal((await turns.acquire(other, never)).waited, false);
  for (let ended = 0; ended < 50; ended++) {
    await until("a turn is held", () => held.length > ended);
    held[ended]!.release();
  }
  await Promise.all(asked);
});

test("one turn at a time: a pod with fifty images is passed over for each pod with one", async () => {
  const turns = new PullTurns(1);
  const greedy = ofRank("ordinary");
  const first = await turns.acquire(greedy, never);
  const served: string[] = [];
  const ask = async (name: string, pod: Pod): Promise<void> => {
    const turn = await turns.acquire(pod, never);
    served.push(name);
    turn.release();
  };
  const all = [
    ...Array.from({ length: 49 }, (_, index) => ask(`greedy ${index}`, greedy)),
    ask("b", ofRank("ordinary")),
    ask("c", ofRank("ordinary")),
  ];
  first.release();
  await Promise.all(all);
  assert.deepEqual(served.slice(0, 4), ["greedy 0", "b", "c", "greedy 1"]);
});

test("the rate: a burst, then so many a second; 0 is no limit", () => {
  const clock = new SteppedClock();
  const rate = new PullRate(5, 10, clock);
  const taken = (): number => {
    for (let count = 0; ; count++) {
      try {
        rate.acquire();
      } catch {
        return count;
      }
    }
  };
  assert.equal(taken(), 10);
  clock.step(1000);
  assert.equal(taken(), 5);
  clock.step(199);
  assert.equal(taken(), 0);
  clock.step(2);
  assert.equal(taken(), 1);
  clock.step(3_600_000);
  assert.equal(taken(), 10);
  const free = new PullRate(0, 0, clock);
  for (let i = 0; i < 1000; i++) free.acquire();
});

test("a pull over the rate is ErrImagePull and backs off, without asking the runtime", async (t) => {
  const { clock, events, pulls, ensure } = await build(t, { qps: 1, burst: 1 });
  await ensure(REMOTE);
  await assert.rejects(ensure(SECOND), { reason: "ErrImagePull", message: "pull QPS exceeded", retryAt: 10_000 });
  assert.equal(
    events.at(-1),
    'web/app Warning Failed: Failed to pull image "registry.test/other:1": pull QPS exceeded',
  );
  assert.equal(pulls(), 1);
  await ensure(BUSYBOX, "IfNotPresent");
  clock.step(10_000);
  await ensure(SECOND);
});

test("the rate counts images: an image with three credentials costs one token", async (t) => {
  const tried = ["first", "second", "third"].map((username) => ({
    auth: AuthConfig.fromPartial({ username }),
    source: { kind: "node" as const },
  }));
  const credentials = { ...noCredentials, forImage: () => Promise.resolve(tried) };
  const { fake, pulls, ensure } = await build(t, { qps: 0.001, burst: 2, credentials });
  fake.failpoint("PullImage", "2*error(denied)->off");
  await ensure(REMOTE);
  assert.equal(pulls(), 3, "two were denied");
  await ensure(SECOND);
  assert.equal(pulls(), 4);
  await assert.rejects(ensure(REMOTE, "Always"), { reason: "ErrImagePull", message: "pull QPS exceeded" });
  assert.equal(pulls(), 4);
});

test("an image that another pod brought meanwhile is not pulled again, but for Always", async (t) => {
  const { fake, events, pulls, ensure, turns } = await build(t);
  fake.failpoint("PullImage", "1*hang");
  const first = ensure(REMOTE, "IfNotPresent", makePod({}, "first"));
  await until("the first pull is under way", () => pulls() === 1);
  const second = ensure(REMOTE, "IfNotPresent", makePod({}, "second"));
  const always = ensure(REMOTE, "Always", makePod({}, "always"));
  await until("both wait", () => turns.waiting === 2);
  fake.failpoint("PullImage", "off");
  await Promise.all([first, second, always]);
  assert.equal(pulls(), 2);
  assert.deepEqual(
    events.filter((event) => event.startsWith("second")),
    [
      'second/app Normal Pulling: Pulling image "registry.test/tool:2"',
      'second/app Normal Pulled: Container image "registry.test/tool:2" already present on machine',
    ],
  );
});
