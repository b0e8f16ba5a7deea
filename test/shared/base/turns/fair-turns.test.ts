// Turns between owners: limits that hold, no turn that lies idle, and no owner that others can starve.
// @promise Hostile tenants and clients: Pods take turns at probes, pulls and runtime calls. A pod waits at most one
//   turn of each other pod, also if commands sleep.
// @with test/shared/node/probes/prober.test.ts, test/main/containers/images/pull-order.test.ts,
//   test/shared/kubernetes/cri/concurrency.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairTurns, type Turn } from "../../../../src/shared/base/turns/fair-turns.js";
import { WaitingLine, type Place } from "../../../../src/shared/base/turns/waiting-line.js";
import { assertCpuBelow } from "../../../support/thread-cpu.js";

const never = new AbortController().signal;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Act = { type: "take"; owner: string; urgent: boolean } | { type: "end" | "long" | "abort"; index: number };

const owners = fc.constantFrom("a", "b", "c", "d");
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant("take" as const), owner: owners, urgent: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom("end" as const, "long" as const, "abort" as const),
      index: fc.nat(50),
    }),
  },
);

test("limit and share always hold, and no turn lies idle while an owner waits that may have it", async () => {
  const sizes = fc.record({ limit: fc.integer({ min: 1, max: 4 }), share: fc.integer({ min: 1, max: 3 }) });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(acts, { maxLength: 60 }), async ({ limit, share }, steps) => {
      const turns = new FairTurns({ limit, share });
      const running: { owner: string; turn: Turn; long: boolean }[] = [];
      const waiting: { owner: string; abort: AbortController }[] = [];
      for (const step of steps) {
        if (step.type === "take") {
          const waiter = { owner: step.owner, abort: new AbortController() };
          waiting.push(waiter);
          const leave = (): unknown => waiting.splice(waiting.indexOf(waiter), 1);
          void turns.acquire({ ...step, signal: waiter.abort.signal }).then((turn) => {
            leave();
            running.push({ owner: step.owner, turn, long: false });
          }, leave);
        } else if (step.type === "abort") {
          waiting.at(step.index % Math.max(1, waiting.length))?.abort.abort(new Error("gone"));
        } else {
          const index = step.index % Math.max(1, running.length);
          const each = running[index];
          if (step.type === "long") each?.turn.becomeLong();
          else each?.turn.release();
          if (step.type === "long" && each !== undefined) each.long = true;
          else if (each !== undefined) running.splice(index, 1);
        }
        await settled();
        const held = (owner: string): number => running.filter((each) => each.owner === owner).length;
        const counted = running.filter(({ long }) => !long).length;
        assert.ok(counted <= limit);
        for (const { owner } of running) assert.ok(held(owner) <= share);
        for (const { owner } of waiting) assert.ok(counted === limit || held(owner) === share, "a turn lies idle");
        assert.equal(turns.waiting, waiting.length);
      }
    }),
  );
});

test("an owner with one request is served after at most one turn of each other owner", async () => {
  const crowd = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(crowd, fc.integer({ min: 1, max: 4 }), async (requests, limit) => {
      const turns = new FairTurns({ limit, share: limit });
      const running: Turn[] = [];
      let served = 0;
      const greedy = (owner: string): Promise<void> =>
        turns.acquire({ owner, signal: never }).then((turn) => {
          served++;
          running.push(turn);
        });
      // Each owner asks again as soon as it is served: its line never ends.
      requests.forEach((count, owner) => {
        for (let asked = 0; asked < count + limit; asked++) void greedy(`${owner}`).then(() => greedy(`${owner}`));
      });
      await settled();
      let before: number | undefined;
      const quick = turns.acquire({ owner: "quick", signal: never }).then(() => (before = served));
      const atFirst = served;
      for (let ended = 0; before === undefined && ended <= requests.length + limit; ended++) {
        running.shift()?.release();
        await settled();
      }
      assert.ok(before !== undefined, "starved");
      assert.ok(before - atFirst <= requests.length + limit, `${before - atFirst} turns before its own`);
      await quick;
    }),
  );
});

test("owners whose work never ends hold their shares only: another owner has its turn as soon as the work is long", async () => {
  const turns = new FairTurns({ limit: 4, share: 2 });
  const running: Turn[] = [];
  for (let owner = 0; owner < 20; owner++) {
    for (let asked = 0; asked < 10; asked++) {
      void turns.acquire({ owner: `${owner}`, signal: never }).then((turn) => running.push(turn));
    }
  }
  await settled();
  for (let long = 0; long < running.length; long++) {
    running[long]!.becomeLong();
    await settled();
  }
  assert.equal(running.length, 40);
  assert.equal((await turns.acquire({ owner: "quick", signal: never })).waited, false);
  assert.equal(turns.heldBy("3"), 2);
});

test("a turn counts once, however often it is given back", async () => {
  const turns = new FairTurns({ limit: 1, share: 1 });
  const first = await turns.acquire({ owner: "a", signal: never });
  first.becomeLong();
  first.release();
  first.release();
  first.becomeLong();
  const second = await turns.acquire({ owner: "a", signal: never });
  const third = turns.acquire({ owner: "b", signal: never });
  await settled();
  assert.equal(turns.waiting, 1);
  second.release();
  await third;
  assert.equal(turns.heldBy("a"), 0);
});

test("a line of 100,000 is served, and left from its middle, in linear time", () => {
  assertCpuBelow(200, () => {
    const line = new WaitingLine<{ leave(): void }>();
    const places: Place<object>[] = [];
    for (let count = 0; count < 100_000; count++) {
      const waiter = { leave: () => place.leave() };
      const place = line.add(waiter);
      places.push(place);
    }
    for (let count = 0; count < 100_000; count += 2) places[count]!.leave();
    for (let first = line.first; first !== undefined; first = line.first) first.leave();
    assert.equal(line.size, 0);
  });
});
