// The manager with a logind, locks and pods that the test decides on, under virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inhibitLockError } from "../../../../src/main/node/shutdown/errors.js";
import type { InhibitLock } from "../../../../src/main/node/shutdown/inhibit-lock.js";
import type { Logind } from "../../../../src/main/node/shutdown/logind.js";
import { ShutdownManager } from "../../../../src/main/node/shutdown/shutdown-manager.js";
import type { ShutdownTimes } from "../../../../src/main/node/shutdown/shutdown-state.js";
import { pod } from "../../../support/pods.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";

class World {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  /** The actions in order. */
  readonly story: string[] = [];
  readonly times: ShutdownTimes[] = [];
  preparing = false;
  delayMs = 60_000;
  /** Why logind can't be reached. */
  away: Error | undefined;
  /** Why no lock is given. */
  refused: Error | undefined;
  locks = 0;
  readonly manager: ShutdownManager;
  private listener: (preparing: boolean) => void = () => undefined;
  private cut: () => void = () => undefined;
  private loseLock: () => void = () => undefined;
  private readonly finish = new Map<string, () => void>();

  constructor() {
    this.manager = new ShutdownManager({
      groups: [
        { priority: 0, seconds: 20 },
        { priority: 1000, seconds: 10 },
      ],
      pods: {
        active: () => [pod({ priority: 5 }, "web"), pod({}, "system")],
        end: ({ metadata: { name } }, grace) => {
          this.story.push(`end ${name} ${grace}`);
          return new Promise((resolve) => this.finish.set(name, resolve));
        },
      },
      onShuttingDown: (on) => this.story.push(on ? "shutting down" : "up again"),
      events: { node: ({ reason, message }) => this.story.push(`${reason}: ${message}`) },
      connect: () => this.connect(),
      takeLock: () => this.takeLock(),
      confDir: "/dev/null/conf",
      noteTimes: (times) => {
        this.times.push(times);
        return Promise.resolve();
      },
      clock: this.clock,
      log: this.kept.log,
    });
  }

  async start(): Promise<void> {
    this.manager.start();
    await settle();
  }

  async say(preparing: boolean): Promise<void> {
    this.preparing = preparing;
    this.listener(preparing);
    await settle();
  }

  async over(name: string): Promise<void> {
    this.finish.get(name)?.();
    await settle();
  }

  async step(ms: number): Promise<void> {
    this.clock.step(ms);
    await settle();
  }

  async cutOff(): Promise<void> {
    this.cut();
    await settle();
  }

  async lockLost(): Promise<void> {
    this.loseLock();
    await settle();
  }

  async stop(): Promise<void> {
    await this.manager.stop();
    await settle();
    assert.equal(this.locks, 0, "no lock is left");
    assert.equal(this.clock.pending, 0, "no timer is left");
  }

  private connect(): Promise<Logind> {
    if (this.away !== undefined) return Promise.reject(this.away);
    this.story.push("connected");
    let close: () => void = () => undefined;
    const lost = new Promise<void>((resolve) => (close = resolve));
    this.cut = close;
    return Promise.resolve({
      watch: (listener) => {
        this.listener = listener;
        return Promise.resolve();
      },
      inhibitDelayMs: () => Promise.resolve(this.delayMs),
      preparing: () => Promise.resolve(this.preparing),
      reload: () => Promise.resolve(),
      lost,
      close,
    });
  }

  private takeLock(): Promise<InhibitLock> {
    if (this.refused !== undefined) return Promise.reject(this.refused);
    this.locks++;
    this.story.push("lock");
    let end: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      let there = true;
      end = () => {
        if (there) this.locks--;
        there = false;
        resolve();
      };
    });
    this.loseLock = end;
    const release = (): void => {
      this.story.push("release");
      end();
    };
    return Promise.resolve({ gone, release });
  }
}

const EVENT = "Shutdown: Shutdown manager detected shutdown event";
const CANCELLATION = "Shutdown: Shutdown manager detected shutdown cancellation";

test("the lock is held while the node is up, and released when the pods have ended, group by group", async () => {
  const world = new World();
  await world.start();
  assert.deepEqual(world.story.splice(0), ["connected", "lock"]);
  await world.say(true);
  assert.deepEqual(world.story.splice(0), ["shutting down", EVENT, "end web 20"]);
  assert.deepEqual(world.times.splice(0), [{ start: 0 }]);
  await world.step(3000);
  await world.over("web");
  assert.deepEqual(world.story.splice(0), ["end system 10"]);
  await world.step(4000);
  await world.over("system");
  assert.deepEqual(world.story.splice(0), ["release"]);
  assert.deepEqual(world.times, [{ start: 0, end: 7000 }]);
  assert.equal(world.manager.shuttingDown, true, "until the machine is down");
  await world.say(true);
  assert.deepEqual(world.story, [], "told twice, done once");
  await world.stop();
});

test("pods that do not end hold the machine for their groups' time and no longer", async () => {
  const world = new World();
  await world.start();
  await world.say(true);
  await world.step(20_000);
  await world.step(9999);
  assert.equal(world.locks, 1);
  await world.step(1);
  assert.equal(world.locks, 0);
  await world.stop();
});

test("called off: the node is up again, no further pod is ended, a lock is held for the next time", async () => {
  const world = new World();
  await world.start();
  await world.say(true);
  world.story.length = 0;
  await world.step(1000);
  await world.say(false);
  assert.deepEqual(world.story.splice(0), ["up again", CANCELLATION, "lock", "release"]);
  assert.equal(world.locks, 1);
  assert.equal(world.manager.shuttingDown, false);
  assert.deepEqual(world.times.at(-1), { start: 0, end: 1000 });
  await world.over("web");
  assert.deepEqual(world.story, [], "the next group is not begun");
  await world.say(true);
  assert.deepEqual(world.story.splice(0), ["shutting down", EVENT, "end web 20"], "and again");
  await world.stop();
});

test("cancelled after the release of the lock: the lock is taken again", async () => {
  const world = new World();
  await world.start();
  await world.say(true);
  await world.over("web");
  await world.over("system");
  assert.equal(world.locks, 0);
  await world.say(false);
  assert.equal(world.locks, 1);
  await world.stop();
});

test("a kubelet that starts in the middle of a shutdown continues it, without a lock", async () => {
  const world = new World();
  world.preparing = true;
  world.refused = inhibitLockError("already in progress");
  await world.start();
  assert.deepEqual(world.story, ["connected", "shutting down", EVENT, "end web 20"]);
  assert.deepEqual(world.kept.warnings(), []);
  await world.stop();
});

test("a logind that goes away is looked for every second; one line in the log, and one when it is back", async () => {
  const world = new World();
  await world.start();
  world.away = new Error("connect ENOENT");
  await world.cutOff();
  for (let second = 0; second < 10; second++) await world.step(1000);
  assert.equal(world.kept.warnings().length, 2, "it ended; it can't be reached");
  assert.equal(world.locks, 1, "what is held stays");
  world.away = undefined;
  world.story.length = 0;
  await world.step(1000);
  assert.deepEqual(world.story, ["connected", "lock", "release"], "the new lock first");
  assert.equal(world.kept.lines.filter(({ msg }) => msg.startsWith("connected to logind")).length, 1);
  await world.stop();
});

test("a logind that went down in a shutdown and came back without one has called it off", async () => {
  const world = new World();
  await world.start();
  await world.say(true);
  await world.cutOff();
  world.preparing = false;
  world.story.length = 0;
  await world.step(1000);
  assert.deepEqual(world.story, ["connected", "up again", CANCELLATION, "lock", "release"]);
  await world.stop();
});

test("a shutdown announced before the subscription is not missed", async () => {
  const world = new World();
  await world.start();
  await world.cutOff();
  world.preparing = true;
  await world.step(1000);
  assert.equal(world.manager.shuttingDown, true);
  await world.stop();
});

test("a lost lock is taken again; a refused one is requested every second", async () => {
  const world = new World();
  await world.start();
  await world.lockLost();
  await world.step(1000);
  assert.equal(world.locks, 1);
  await world.stop();

  const refusing = new World();
  refusing.refused = inhibitLockError("not now");
  await refusing.start();
  for (let second = 0; second < 5; second++) await refusing.step(1000);
  assert.equal(refusing.kept.warnings().length, 1);
  refusing.refused = undefined;
  await refusing.step(1000);
  assert.equal(refusing.locks, 1);
  await refusing.stop();
});

test("a lock that is refused after a loss, or after a cancellation, is requested every second", async () => {
  const lost = new World();
  await lost.start();
  lost.refused = inhibitLockError("not now");
  await lost.lockLost();
  for (let second = 0; second < 5; second++) await lost.step(1000);
  assert.equal(lost.locks, 0);
  lost.refused = undefined;
  await lost.step(1000);
  assert.equal(lost.locks, 1);
  await lost.stop();

  const cancelled = new World();
  await cancelled.start();
  await cancelled.say(true);
  await cancelled.over("web");
  await cancelled.over("system");
  assert.equal(cancelled.locks, 0);
  cancelled.refused = inhibitLockError("not now");
  await cancelled.say(false);
  for (let second = 0; second < 5; second++) await cancelled.step(1000);
  assert.equal(cancelled.kept.warnings().length, 1);
  cancelled.refused = undefined;
  await cancelled.step(1000);
  assert.equal(cancelled.locks, 1);
  assert.equal(cancelled.kept.lines.filter(({ msg }) => msg.startsWith("connected to logind")).length, 1);
  await cancelled.stop();
});

test("a delay that stays too short ends it with an error", async () => {
  const world = new World();
  world.delayMs = 5000;
  await world.start();
  await until("the error", () => world.kept.errors().length > 0);
  for (let second = 0; second < 10; second++) await world.step(1000);
  assert.equal(world.kept.errors().length, 1);
  assert.match(world.kept.errors()[0] ?? "", /InhibitDelayMaxSec=30/);
  assert.equal(world.locks, 0);
  await world.stop();
});

test("the kubelet's stop in the middle of a shutdown leaves the pods to the next one", async () => {
  const world = new World();
  await world.start();
  await world.say(true);
  await world.stop();
  assert.equal(world.story.filter((line) => line.startsWith("end ")).length, 1);
});
