// Number of TLS handshakes that a network may start.

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { furtherHandshakes, HandshakeRate } from "../../../../src/workers/server/clients/handshake-rate.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const AUTHORISED_MS = 10 * 60_000;
const AUTHORISED_FACTOR = 10;
const LIMITS = { handshakesPerSecond: 5, handshakeBurst: 10 };

class World {
  readonly clock = new SteppedClock(1000);
  readonly rate = new HandshakeRate(LIMITS, this.clock);
  /** Number of admitted connections of 1,000 at once. */
  admitted(...addresses: string[]): number {
    let count = 0;
    for (let i = 0; i < 1000; i++) if (this.rate.admit(addresses[i % addresses.length])) count++;
    return count;
  }
}

test("one network starts its burst, then its rate; other networks are not limited by it", () => {
  const world = new World();
  equal(world.admitted("10.0.0.1"), 10);
  world.clock.step(1000);
  equal(world.admitted("10.0.0.1"), 5);
  equal(world.admitted("10.0.0.2"), 10);
  world.clock.step(3_600_000);
  equal(world.admitted("10.0.0.1"), 10, "a bucket holds no more than the burst");
});

test("addresses of one IPv6 /64 network share one rate", () => {
  const world = new World();
  equal(world.admitted("2001:db8::1", "2001:db8::2", "2001:db8::3"), 10);
  equal(world.admitted("2001:db8:1::1"), 10);
});

test("a network with an authorised client has a larger rate, also after it has used up the small one", () => {
  const world = new World();
  equal(world.admitted("10.0.0.1"), 10);
  world.rate.authorise("10.0.0.1");
  equal(world.admitted("10.0.0.1"), 10 * AUTHORISED_FACTOR);
  world.clock.step(1000);
  equal(world.admitted("10.0.0.1"), 5 * AUTHORISED_FACTOR);
});

test("a network without an authorised request for long has the small rate again", () => {
  const world = new World();
  world.rate.authorise("10.0.0.1");
  world.clock.step(AUTHORISED_MS);
  equal(world.admitted("10.0.0.1"), 10);
});

test("an authorised network keeps its rate when many networks connect", () => {
  const world = new World();
  world.rate.authorise("192.0.2.1");
  for (let i = 0; i < 10_000; i++) world.rate.admit(`10.1.${i >> 8}.${i & 255}`);
  equal(world.admitted("192.0.2.1"), 10 * AUTHORISED_FACTOR);
});

test("processor time beyond a handshake's counts as further handshakes", () => {
  const world = new World();
  equal(world.rate.admit("10.0.0.1"), true);
  world.rate.charge("10.0.0.1", furtherHandshakes(4));
  equal(world.admitted("10.0.0.1"), 9, "an ordinary handshake counts once");

  equal(furtherHandshakes(25), 10);
  equal(world.rate.admit("10.0.0.2"), true);
  world.rate.charge("10.0.0.2", furtherHandshakes(25));
  equal(world.rate.hasCredit("10.0.0.2"), false);
  equal(world.admitted("10.0.0.2"), 0);
  equal(world.admitted("10.0.0.3"), 10);
});

test("a debt is no more than the burst", () => {
  const world = new World();
  for (let i = 0; i < 100; i++) world.rate.charge("10.0.0.1", 1000);
  world.clock.step(2000);
  equal(world.rate.hasCredit("10.0.0.1"), false);
  world.clock.step(200);
  equal(world.rate.hasCredit("10.0.0.1"), true);
});
