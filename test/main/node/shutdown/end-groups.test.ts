// Which pods end when, as the node goes down.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { endByGroup, graceOf, groupOf, shutdownPriority } from "../../../../src/main/node/shutdown/end-groups.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";

const CRITICAL = 2_000_000_000;

function apiPod(name: string, priority?: number, grace = 30): Pod {
  const made = pod({ terminationGracePeriodSeconds: grace, ...(priority !== undefined && { priority }) }, name);
  delete made.metadata.annotations;
  return made;
}

class World {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  readonly abort = new AbortController();
  /** "web 5 at 1000": name, grace, ms. */
  readonly ended: string[] = [];
  private readonly finish = new Map<string, () => void>();

  constructor(private readonly active: Pod[]) {}

  run(...groups: [priority: number, seconds: number][]): Promise<void> {
    const { clock, abort, ended, finish, active } = this;
    return endByGroup(
      groups.map(([priority, seconds]) => ({ priority, seconds })),
      {
        pods: {
          active: () => active,
          end: ({ metadata: { name } }, grace) => {
            ended.push(`${name} ${grace} at ${clock.now()}`);
            return new Promise((resolve) => finish.set(name, resolve));
          },
        },
        clock,
        log: this.kept.log,
        signal: abort.signal,
      },
    );
  }

  async over(...names: string[]): Promise<void> {
    for (const name of names) this.finish.get(name)?.();
    await settle();
  }
}

test("groups terminate from low to high; the next begins when all pods of one have terminated", async () => {
  const world = new World([apiPod("high", 5000), apiPod("low", 1), apiPod("low2", 99), apiPod("mid", 100)]);
  const done = world.run([0, 10], [100, 20], [1000, 30]);
  await settle();
  assert.deepEqual(world.ended, ["low 10 at 0", "low2 10 at 0"]);
  world.clock.step(3000);
  await world.over("low");
  assert.equal(world.ended.length, 2, "one of two is over");
  await world.over("low2");
  assert.deepEqual(world.ended.slice(2), ["mid 20 at 3000"]);
  await world.over("mid");
  assert.deepEqual(world.ended.slice(3), ["high 30 at 3000"]);
  await world.over("high");
  await done;
  assert.equal(world.clock.pending, 0);
});

test("each group has its own time: after it, pods that still run delay no other group and are named", async () => {
  const world = new World([apiPod("stuck", 0), apiPod("late", 0), apiPod("high", CRITICAL)]);
  const done = world.run([0, 10], [CRITICAL, 5]);
  await settle();
  await world.over("late");
  world.clock.step(9999);
  await settle();
  assert.equal(world.ended.length, 2);
  world.clock.step(1);
  await settle();
  assert.deepEqual(world.ended.slice(2), ["high 5 at 10000"]);
  world.clock.step(5000);
  await done;
  const said = world.kept.lines.map(({ msg }) => msg).filter((line) => line.includes("pods still running"));
  assert.equal(said.length, 2);
  assert.match(said[0] ?? "", /pods still running: stuck_default\(uid-stuck\)$/);
  assert.equal(world.clock.pending, 0);
});

test("a group without pods takes no time", async () => {
  const world = new World([apiPod("high", 2000)]);
  const done = world.run([0, 600], [1000, 7], [5000, 600]);
  await settle();
  assert.deepEqual(world.ended, ["high 7 at 0"]);
  await world.over("high");
  await done;
});

test("a group of no seconds is begun and not waited for", async () => {
  const world = new World([apiPod("web"), apiPod("high", CRITICAL)]);
  const done = world.run([0, 10], [CRITICAL, 0]);
  await settle();
  await world.over("web");
  world.clock.step(0);
  await done;
  assert.deepEqual(world.ended, ["web 10 at 0", "high 0 at 0"]);
});

test("called off: no further group is begun", async () => {
  const world = new World([apiPod("web"), apiPod("high", CRITICAL)]);
  const done = world.run([0, 10], [CRITICAL, 10]);
  await settle();
  world.abort.abort(new Error("called off"));
  await assert.rejects(done, /called off/);
  assert.equal(world.ended.length, 1);
  assert.equal(world.clock.pending, 0);
});

test("a pod's own shorter grace stays", () => {
  const group = { priority: 0, seconds: 10 };
  assert.equal(graceOf(apiPod("web", 0, 3), group), 3);
  assert.equal(graceOf(apiPod("web", 0, 30), group), 10);
});

test("priority: as the pod has it; a static pod that does not say is critical", () => {
  assert.equal(shutdownPriority(apiPod("web")), 0);
  assert.equal(shutdownPriority(apiPod("web", 7)), 7);
  assert.equal(shutdownPriority(pod()), CRITICAL);
  assert.equal(shutdownPriority(pod({ priority: 7 })), 7);
});

test("every pod is in one group: the highest not above it, else the lowest", () => {
  const priorities = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(priorities, fc.integer({ min: -1100, max: 1100 }), (list, priority) => {
      const groups = list.sort((a, b) => a - b).map((one) => ({ priority: one, seconds: 1 }));
      const found = groupOf(apiPod("web", priority), groups);
      const notAbove = list.filter((one) => one <= priority);
      assert.equal(found?.priority, notAbove.length > 0 ? Math.max(...notAbove) : list[0]);
    }),
  );
});
