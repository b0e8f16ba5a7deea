// The schedule of calls under virtual time: whatever hangs, and however many, mounts that answer are served.
// @promise Volumes: 4, 40 or 400 hung mounts delay a working mount by less than 2 s; calls on a resting hung mount
//   fail at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CallSchedule, LIMITS } from "../../../../src/shared/node/volume-calls/schedule.js";
import { randomFrom } from "../../../support/seeded-random.js";

interface Asked {
  mount: string;
  at: number;
}

/** Mounts whose name begins with "hung" never answer, "slow" ones after 300 ms, others after 5 ms. */
class World {
  now = 0;
  readonly schedule = new CallSchedule();
  readonly served: (Asked & { after: number })[] = [];
  readonly refused: (Asked & { after: number })[] = [];
  readonly asked = new Map<number, Asked>();
  readonly running = new Map<number, string>();
  most = 0;
  starts = 0;
  private lastId = 0;
  private readonly due: { at: number; run: () => void }[] = [];

  constructor(readonly hangs: (mount: string) => boolean) {}

  ask(mount: string, long = false): void {
    const id = ++this.lastId;
    this.asked.set(id, { mount, at: this.now });
    this.schedule.submit({ id, mount, long });
    this.step();
  }

  runUntil(end: number): void {
    for (;;) {
      const wake = this.schedule.wakeAt(this.now) ?? Infinity;
      const next = Math.min(wake, ...this.due.map(({ at }) => at));
      if (next > end) break;
      this.now = Math.max(this.now, next);
      for (const event of this.due.filter(({ at }) => at <= this.now)) {
        this.due.splice(this.due.indexOf(event), 1);
        event.run();
      }
      this.step();
    }
    this.now = end;
  }

  later(ms: number, run: () => void): void {
    this.due.push({ at: this.now + ms, run });
  }

  private step(): void {
    for (const step of this.schedule.next(this.now)) {
      const call = this.asked.get(step.id);
      assert.ok(call !== undefined);
      if (step.do === "start") {
        assert.ok(![...this.running.values()].includes(call.mount), "one call per mount");
        this.running.set(step.id, call.mount);
        this.starts++;
        this.most = Math.max(this.most, this.running.size);
        if (!this.hangs(call.mount)) {
          this.later(call.mount.startsWith("slow") ? 300 : 5, () => {
            if (!this.running.delete(step.id)) return;
            this.served.push({ ...call, after: this.now - call.at });
            this.schedule.answered(step.id);
          });
        }
        continue;
      }
      this.refused.push({ ...call, after: this.now - call.at });
      if (step.do === "refuse") continue;
      this.running.delete(step.id);
      this.later(10, () => this.schedule.ended(step.id));
    }
  }
}

for (const count of [4, 40, 400]) {
  test(`${count} mounts that hang delay a mount that responded before by less than two seconds`, () => {
    const world = new World((mount) => mount.startsWith("hung"));
    world.ask("good");
    world.runUntil(100);
    for (let index = 0; index < count; index++) world.ask(`hung-${index}`);
    for (let second = 1; second < 300; second++) {
      world.runUntil(second * 1000);
      world.ask("good");
      // Pods try again and again.
      world.ask(`hung-${second % count}`);
    }
    world.runUntil(400_000);
    const good = world.served.filter(({ mount }) => mount === "good");
    assert.equal(good.length, 300);
    assert.ok(Math.max(...good.map(({ after }) => after)) < 2 * LIMITS.slowMs);
    assert.equal(world.refused.length, count + 299, "every call to a mount that hangs ends");
  });
}

test("A new mount is served while 400 mounts hang for the first time, and after", () => {
  const world = new World((mount) => mount.startsWith("hung"));
  for (let index = 0; index < 400; index++) world.ask(`hung-${index}`);
  world.ask("new");
  world.runUntil(200_000);
  const share = LIMITS.slots - LIMITS.reserved;
  const [first] = world.served;
  assert.ok(first !== undefined && first.after <= (400 / share + 2) * LIMITS.slowMs, `${first?.after} ms`);
  world.ask("newer");
  world.runUntil(210_000);
  assert.ok((world.served[1]?.after ?? Infinity) < 2 * LIMITS.slowMs);
});

test("400 mounts that responded before and hang at once are given up one by one, and do not starve one that responds", () => {
  let broken = false;
  const world = new World((mount) => broken && mount !== "m-200");
  for (let index = 0; index < 400; index++) world.ask(`m-${index}`);
  world.runUntil(10_000);
  assert.equal(world.served.length, 400);
  broken = true;
  for (let index = 0; index < 400; index++) world.ask(`m-${index}`);
  world.runUntil(200_000);
  assert.equal(world.served.length, 401);
  for (let round = 0; round < 20; round++) {
    world.ask("m-200");
    world.runUntil(world.now + 2000);
  }
  assert.ok(Math.max(...world.served.slice(401).map(({ after }) => after)) < 100);
});

test("A mount that hung is refused at once while it rests, and served again when it responds", () => {
  let broken = true;
  const world = new World(() => broken);
  world.ask("m");
  world.runUntil(LIMITS.deadlineMs);
  assert.equal(world.refused[0]?.after, LIMITS.deadlineMs);
  world.runUntil(world.now + 50);
  world.ask("m");
  assert.equal(world.refused[1]?.after, 0);
  assert.deepEqual(world.schedule.hung, ["m"]);
  broken = false;
  world.runUntil(world.now + LIMITS.firstRestMs);
  world.ask("m");
  world.runUntil(world.now + 100);
  assert.equal(world.served.length, 1);
  assert.deepEqual(world.schedule.hung, []);
});

test("A mount whose helper the kernel keeps gets no call before the helper has exited", () => {
  const schedule = new CallSchedule();
  schedule.submit({ id: 1, mount: "m", long: false });
  assert.deepEqual(schedule.next(0), [{ do: "start", id: 1 }]);
  assert.deepEqual(schedule.next(LIMITS.deadlineMs), [{ do: "give up", id: 1, since: 0 }]);
  const later = LIMITS.deadlineMs + 10 * LIMITS.longestRestMs;
  schedule.submit({ id: 2, mount: "m", long: false });
  assert.deepEqual(schedule.next(later), [{ do: "refuse", id: 2, since: 0 }]);
  schedule.ended(1);
  schedule.submit({ id: 3, mount: "m", long: false });
  assert.deepEqual(schedule.next(later), [{ do: "start", id: 3 }]);
});

test("With any mix of mounts every call ends, and the cap holds", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const kinds = ["hung", "slow", "good"];
    const flaky = new Set<string>();
    const world = new World((mount) => mount.startsWith("hung") || flaky.has(mount));
    let asked = 0;
    for (let round = 0; round < 200; round++) {
      const mount = `${kinds[Math.floor(random() * 3)] ?? ""}-${Math.floor(random() * 20)}`;
      if (random() < 0.05) flaky.add(mount);
      else flaky.delete(mount);
      world.ask(mount, random() < 0.1);
      asked++;
      world.runUntil(world.now + Math.floor(random() * 400));
    }
    world.runUntil(world.now + 5_000_000);
    assert.equal(world.served.length + world.refused.length, asked, `seed ${seed}`);
    assert.ok(world.most <= LIMITS.slots, `seed ${seed}`);
  }
});
