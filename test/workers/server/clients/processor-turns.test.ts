// Turns of unauthorised clients under virtual time: who is next, and how much of the thread they use together.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { ProcessorTurns, type TurnTaker } from "../../../../src/workers/server/clients/processor-turns.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

class World {
  readonly clock = new SteppedClock(1000);
  readonly order: string[] = [];
  processorMs = 0;
  readonly turns = new ProcessorTurns({
    clock: this.clock,
    batchMs: 10,
    measure: () => {
      const begun = this.processorMs;
      return () => this.processorMs - begun;
    },
  });

  /** Lets `count` rounds of the event loop pass, each 1 ms after the other. */
  async pass(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.clock.step(1);
      // A turn and its charge.
      for (let rounds = 0; rounds < 3; rounds++) await nextRound();
    }
  }
}

class Client implements TurnTaker {
  usedMs = 0;
  turns = 0;
  credit = true;
  isReady = true;
  constructor(
    private readonly world: World,
    private readonly name: string,
    /** Processor time of each record. */
    private readonly costMs: number,
    private records = Infinity,
  ) {
    world.turns.enter(this);
  }
  hasCredit(): boolean {
    return this.credit;
  }
  takeTurn(): void {
    equal(this.world.turns.current, this);
    this.turns++;
    this.world.order.push(this.name);
    this.world.processorMs += this.costMs;
    this.world.turns.leave(this);
    if (--this.records > 0) this.world.turns.enter(this);
  }
  charge(ms: number): void {
    this.usedMs += ms;
  }
}

test("the connection with the least use is next", async () => {
  const world = new World();
  const [heavy, light] = [new Client(world, "heavy", 3), new Client(world, "light", 1)];
  await world.pass(60);
  ok(heavy.turns > 3, String(heavy.turns));
  ok(light.turns >= 2 * heavy.turns, `${light.turns} turns beside ${heavy.turns}`);
});

test("new connections that keep coming do not starve an old one", async () => {
  const world = new World();
  const old = new Client(world, "old", 1);
  await world.pass(20);
  ok(old.usedMs > 0);
  // Each brings one record and has used nothing yet; there is time for less than half of them.
  let before = 0;
  for (let i = 0; i < 1000; i++) {
    if (i === 100) before = old.turns;
    for (let more = 0; more < 2; more++) new Client(world, `new ${i}.${more}`, 1, 1);
    await world.pass(1);
  }
  ok(old.turns > before, "it had a turn while others waited");
});

test("a connection beyond its first milliseconds waits for the credit of its network; others do not", async () => {
  const world = new World();
  const flood = new Client(world, "flood", 7);
  flood.credit = false;
  await world.pass(200);
  equal(flood.turns, 3, "21 ms");
  const other = new Client(world, "other", 1, 5);
  await world.pass(50);
  deepEqual([flood.turns, other.turns], [3, 5]);
  flood.credit = true;
  await world.pass(20);
  equal(flood.usedMs > 21, true, "its network has credit again");
});

test("all connections together use half of the time", async () => {
  const world = new World();
  for (let i = 0; i < 200; i++) new Client(world, `client ${i}`, 1);
  await world.pass(1000);
  // A turn takes no virtual time here, and each pause as long as the turns before it.
  ok(world.processorMs <= 1000 + 10, String(world.processorMs));
  ok(world.processorMs >= 500, String(world.processorMs));
});

test("a connection that cannot read now has no turn until it enters again", async () => {
  const world = new World();
  const client = new Client(world, "slow", 1, 2);
  client.isReady = false;
  await world.pass(5);
  equal(client.turns, 0);
  client.isReady = true;
  world.turns.enter(client);
  await world.pass(5);
  equal(client.turns, 2);
});

test("events of a turn belong to its connection, and no other event does", async () => {
  const world = new World();
  new Client(world, "one", 1, 1);
  await world.pass(3);
  equal(world.turns.current, undefined);
});
