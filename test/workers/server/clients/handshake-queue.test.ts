// Which connection of a network that has used up its rate begins its handshake.
// @promise Hostile tenants and clients: An operator at the address of a flood, who tries again at once, gets a
//   handshake. The next of 16 waiting connections is random. The operator waits 16 / 70 s on average, for a flood of
//   any size (docs/adr/0052).
// @with test/workers/server/clients/unauthorised-clients.test.ts, test/faults/hostile-clients.test.ts

import { deepEqual, equal } from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { HandshakeQueue, type QueueLimits } from "../../../../src/workers/server/clients/handshake-queue.js";
import { HandshakeRate } from "../../../../src/workers/server/clients/handshake-rate.js";
import { randomFrom } from "../../../support/seeded-random.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const BURST = 4;
const LIMITS: QueueLimits = {
  handshakesWaitingPerAddress: 16,
  handshakesWaiting: 40,
  spareHandshakesPerSecond: 50,
  handshakeMs: 10_000,
};

class Wire extends EventEmitter {
  destroyed = false;
  started = false;
  /** Bytes that the server has not read: the beginning of a handshake. */
  readableLength = 200;
  constructor(readonly remoteAddress: string) {
    super();
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit("close");
  }
}

class World {
  readonly clock = new SteppedClock(1000);
  readonly refused: string[] = [];
  readonly queue: HandshakeQueue;
  started = 0;
  constructor(limits: Partial<QueueLimits> = {}, seed = 1) {
    this.queue = new HandshakeQueue({
      rate: new HandshakeRate({ handshakesPerSecond: 20, handshakeBurst: BURST }, this.clock),
      limits: { ...LIMITS, ...limits },
      clock: this.clock,
      start: (socket) => {
        (socket as unknown as Wire).started = true;
        this.started++;
      },
      onRefused: (address) => void this.refused.push(address),
      random: randomFrom(seed),
    });
  }
  open(address: string, readableLength = 200): Wire {
    const wire = new Wire(address);
    wire.readableLength = readableLength;
    this.queue.admit(wire as unknown as Socket);
    return wire;
  }
  crowd(size: number, address: string, readableLength?: number): Wire[] {
    return Array.from({ length: size }, () => this.open(address, readableLength));
  }
}

const count = (wires: readonly Wire[], what: "started" | "destroyed"): number =>
  wires.filter((wire) => wire[what]).length;

test("connections beyond the rate of their network wait; later all have their handshakes", () => {
  const world = new World();
  const wires = world.crowd(BURST + 10, "10.0.0.1");
  equal(world.started, BURST);
  world.clock.step(1000);
  deepEqual([count(wires, "started"), world.refused.length, world.clock.pending], [BURST + 10, 0, 0]);
});

test("a new connection replaces one that waits, and the places stay as many as they are", () => {
  const world = new World();
  const wires = world.crowd(BURST + 100, "10.0.0.1");
  deepEqual([count(wires, "destroyed"), world.refused.length], [84, 84]);
  equal(wires.at(-1)?.destroyed, false);
});

test("a client that tries again at once is served soon, however many connections its address opens", () => {
  for (const perMs of [1, 10]) {
    const times: number[] = [];
    for (let seed = 1; seed <= 20; seed++) {
      const world = new World({}, seed);
      world.crowd(BURST + 16, "10.0.0.1");
      let mine = world.open("10.0.0.1");
      let ms = 0;
      for (; !mine.started && ms < 10_000; ms++) {
        world.crowd(perMs, "10.0.0.1");
        if (mine.destroyed) mine = world.open("10.0.0.1");
        world.clock.step(1);
      }
      times.push(ms);
    }
    times.sort((a, b) => a - b);
    // 16 places and 70 handshakes per second: 229 ms on average, and twelve times that is e^-12.
    const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
    equal(mean < 340 && (times.at(-1) ?? Infinity) < 2750, true, `${perMs}: ${mean} ms, at most ${times.at(-1)} ms`);
  }
});

test("networks take turns for the spare handshakes", () => {
  const world = new World();
  world.crowd(1000, "10.0.0.1");
  world.crowd(BURST, "10.0.0.2");
  const few = world.crowd(2, "10.0.0.2");
  world.clock.step(80);
  equal(count(few, "started"), 2);
});

test("silent connections use up no handshakes", () => {
  const world = new World();
  world.crowd(1000, "10.0.0.1", 0);
  const { started } = world;
  world.clock.step(1000);
  equal(world.started, started);
  const mine = world.open("10.0.0.1");
  world.clock.step(10);
  equal(mine.started, true);
});

test("all places are bounded, and the network with most connections gives one up", () => {
  const world = new World();
  const crowds = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => world.crowd(BURST + 13, address));
  equal(world.refused.length, 0);
  const late = world.crowd(BURST + 10, "10.0.0.4");
  deepEqual([world.refused.length, count(late, "destroyed")], [9, 0]);
  deepEqual(
    crowds.map((wires) => count(wires, "destroyed")),
    [3, 3, 3],
  );
});

test("a connection leaves when its client closes it, and after the longest wait", () => {
  const world = new World({ spareHandshakesPerSecond: 0 });
  const gone = world.crowd(BURST + 16, "10.0.0.1", 0).slice(BURST);
  for (const wire of gone) {
    wire.emit("error", new Error("ECONNRESET"));
    wire.destroy();
  }
  world.clock.step(10);
  deepEqual([world.refused.length, world.clock.pending], [0, 0]);
  const silent = world.crowd(BURST + 1, "10.0.0.2", 0).slice(BURST);
  world.clock.step(9_990);
  equal(count(silent, "destroyed"), 0);
  world.clock.step(10);
  deepEqual([count(silent, "destroyed"), world.refused, world.clock.pending], [1, ["10.0.0.2"], 0]);
});

test("a connection that begins its handshake keeps no handler of the queue", () => {
  const world = new World();
  const [wire] = world.crowd(BURST + 1, "10.0.0.1").slice(BURST);
  world.clock.step(1000);
  deepEqual([wire?.started, wire?.eventNames()], [true, []]);
});

test("the end of the listener ends the connections that wait", () => {
  const world = new World();
  const wires = world.crowd(BURST + 3, "10.0.0.1");
  world.queue.endAll();
  deepEqual([count(wires, "destroyed"), world.clock.pending], [3, 0]);
});
