// Which connection goes when there are too many.

import { deepEqual, equal } from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { ConnectionBudget, type BudgetLimits } from "../../../../src/workers/server/clients/budget.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const LIMITS: BudgetLimits = {
  connections: 6,
  unauthorised: 4,
  unauthorisedPerAddress: 2,
  authorisedPerUser: 6,
  identified: 1,
  unauthorisedMs: 60_000,
  refusals: 3,
};

class Wire extends EventEmitter {
  private static ports = 1;
  readonly remotePort = Wire.ports++;
  destroyed = false;
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
  readonly budget: ConnectionBudget;
  constructor(limits: Partial<BudgetLimits> = {}) {
    this.budget = new ConnectionBudget({ ...LIMITS, ...limits }, this.clock);
  }
  open(address: string): Wire {
    const wire = new Wire(address);
    this.budget.admit(wire as unknown as Socket);
    return wire;
  }
  authorise(wire: Wire, user = "operator"): Wire {
    equal(this.mayEnter(wire, user), true);
    return wire;
  }
  mayEnter(wire: Wire, user: string): boolean {
    return this.budget.authorise(wire as unknown as Socket, user);
  }
}

const gone = (...wires: Wire[]): boolean[] => wires.map(({ destroyed }) => destroyed);

test("one address has its own limit, and its oldest unauthorised connection is closed", () => {
  const world = new World();
  const [a, b, c, other] = ["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"].map((address) => world.open(address));
  deepEqual(gone(a!, b!, c!, other!), [true, false, false, false]);
});

test("addresses of one IPv6 network count as one", () => {
  const world = new World();
  const wires = ["2001:db8::1", "2001:db8:0:0:9::2", "2001:db8::ffff:3", "2001:db8:1::1"].map((ip) => world.open(ip));
  deepEqual(gone(...wires), [true, false, false, false]);
});

test("an authorised client's connections count for no address, and stay when unauthorised ones come", () => {
  const world = new World();
  const mine = [1, 2, 3].map(() => world.authorise(world.open("10.0.0.1")));
  for (let i = 0; i < 50; i++) world.open(`10.0.0.${i}`);
  deepEqual(gone(...mine), [false, false, false]);
  equal(world.budget.size, 6);
});

test("where all are authorised clients' a new connection is refused", () => {
  const world = new World();
  for (let i = 0; i < 6; i++) world.authorise(world.open("10.0.0.1"));
  deepEqual(gone(world.open("10.0.0.2")), [true]);
});

test("a verified certificate keeps a connection among many unauthorised ones, up to a limit of its own", () => {
  const world = new World();
  const first = world.open("10.0.0.1");
  world.budget.identify(first as unknown as Socket);
  for (let i = 0; i < 50; i++) world.open("10.0.0.1");
  deepEqual(gone(first), [false]);
  const second = world.open("10.0.0.2");
  world.budget.identify(second as unknown as Socket);
  deepEqual(gone(first, second), [true, false]);
});

test("an unauthorised connection ends in its time, an authorised client does not", () => {
  const world = new World();
  const [unknown, mine] = [world.open("10.0.0.1"), world.authorise(world.open("10.0.0.1"))];
  world.clock.step(90_000);
  deepEqual(gone(unknown, mine), [true, false]);
});

test("an unauthorised connection closes with its last refused request, an authorised client's does not", () => {
  const world = new World();
  const refuse = (wire: Wire): boolean => world.budget.refuse(wire as unknown as Socket);
  const [unknown, mine] = [world.open("10.0.0.1"), world.authorise(world.open("10.0.0.1"))];
  deepEqual([refuse(unknown), refuse(unknown), refuse(unknown)], [false, false, true]);
  deepEqual([refuse(mine), refuse(mine), refuse(mine), refuse(mine)], [false, false, false, false]);
});

test("one user's authorised connections are bounded, and leave the others to other users", () => {
  const world = new World({ authorisedPerUser: 2 });
  const [a, b, c] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => world.open(address));
  deepEqual(
    [a!, b!, c!].map((wire) => world.mayEnter(wire, "scraper")),
    [true, true, false],
  );
  equal(world.mayEnter(a!, "scraper"), true, "a connection that is authorised stays so");
  equal(world.mayEnter(world.open("10.0.0.1"), "operator"), true);
  a!.destroy();
  equal(world.mayEnter(c!, "scraper"), true, "the place of a connection that ended is free");
  c!.destroy();
  c!.destroy();
  b!.destroy();
  const later = [1, 2, 3].map(() => world.mayEnter(world.open("10.0.0.9"), "scraper"));
  deepEqual(later, [true, true, false]);
});
