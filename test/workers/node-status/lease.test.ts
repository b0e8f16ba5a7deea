// The lease: when it is renewed, from what, and when it is not.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../src/shared/kubernetes/api/client/errors.js";
import { LeaseKeeper } from "../../../src/workers/node-status/lease.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";
import { MemoryApi, NOT_REACHED } from "./memory-api.js";

class LeaseWorld {
  readonly clock = new SteppedClock();
  readonly api = new MemoryApi(() => this.clock.now());
  readonly stalls: string[] = [];
  uid: string | undefined = "u1";
  failures = 0;
  withheld = 0;
  readonly outcomes: boolean[] = [];
  readonly lease: LeaseKeeper;

  constructor(random = 0) {
    this.clock.step(1_764_000_000_000);
    this.lease = new LeaseKeeper({
      client: this.api,
      nodeName: "n1",
      durationSeconds: 40,
      clock: this.clock,
      log: keptLog().log,
      metrics: { renewed: (done) => this.outcomes.push(done), withheld: () => this.withheld++ },
      random: () => random,
      stalls: () => this.stalls,
      nodeUid: () => Promise.resolve(this.uid),
      onRenewed: () => undefined,
      onRepeatedFailure: () => this.failures++,
    });
  }

  async start(): Promise<void> {
    this.lease.start();
    await settle();
  }
  async step(ms: number): Promise<void> {
    this.clock.step(ms);
    await settle();
  }
  get renewTime(): number {
    return Date.parse(this.api.lease?.spec?.renewTime ?? "");
  }
}

test("a lease is made with the Node as its owner, and renewed every quarter of its duration without a read", async () => {
  const world = new LeaseWorld();
  const started = world.clock.now();
  await world.start();
  const { lease } = world.api;
  equal(lease?.metadata.namespace, "kube-node-lease");
  deepEqual(lease.metadata.ownerReferences, [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "u1" }]);
  deepEqual(lease.spec, {
    holderIdentity: "n1",
    leaseDurationSeconds: 40,
    renewTime: new Date(started).toISOString().replace("Z", "000Z"),
  });
  for (let turn = 1; turn <= 3; turn++) {
    await world.step(10_000);
    equal(world.renewTime, started + turn * 10_000);
  }
  deepEqual([world.api.count("get", "leases"), world.api.count("update", "leases")], [1, 3]);
  await world.lease.stop();
  equal(world.clock.pending, 0);
});

test("the period has a jitter of 4 %", async () => {
  const world = new LeaseWorld(1);
  await world.start();
  await world.step(10_399);
  equal(world.api.count("update", "leases"), 0);
  await world.step(1);
  equal(world.api.count("update", "leases"), 1);
});

test("without a Node there is no lease; it is made as soon as the Node is", async () => {
  const world = new LeaseWorld();
  world.uid = undefined;
  await world.start();
  equal(world.api.count("create", "leases"), 0);
  world.uid = "u2";
  world.lease.requestRound();
  await world.step(1000);
  equal(world.api.lease?.metadata.ownerReferences?.[0]?.uid, "u2");
});

test("an existing lease is renewed at once; its owner and unknown fields stay", async () => {
  const world = new LeaseWorld();
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: "old" };
  world.api.put("leases", {
    metadata: { name: "n1", namespace: "kube-node-lease", labels: { a: "b" }, ownerReferences: [owner] },
  });
  await world.start();
  deepEqual([world.api.lease?.metadata.ownerReferences, world.api.lease?.metadata.labels], [[owner], { a: "b" }]);
  equal(world.renewTime, world.clock.now());
});

test("a conflict: read again and tried again within the same turn", async () => {
  const world = new LeaseWorld();
  await world.start();
  world.api.put("leases", {
    ...world.api.lease,
    metadata: { ...world.api.lease?.metadata, labels: { touched: "yes" } },
  });
  await world.step(10_000);
  equal(world.renewTime, world.clock.now());
  equal(world.api.lease?.metadata.labels?.["touched"], "yes");
  deepEqual(world.outcomes, [true, false, true]);
});

test("a deleted lease is created again in the same turn", async () => {
  const world = new LeaseWorld();
  await world.start();
  world.api.remove("leases");
  await world.step(10_000);
  equal(world.renewTime, world.clock.now());
  equal(world.api.count("create", "leases"), 2);
});

test("a lease deleted with its Node is requested once per period until the Node exists again", async () => {
  const world = new LeaseWorld();
  await world.start();
  world.api.remove("leases");
  world.uid = undefined;
  const gone = new ApiError(
    409,
    "Conflict",
    "StorageError: invalid object, Code: 4, Precondition failed: UID in precondition",
  );
  world.api.fault = ({ verb }) => (verb === "update" && world.api.lease === undefined ? gone : undefined);
  world.api.calls.length = 0;
  for (let turn = 0; turn < 3; turn++) await world.step(10_000);
  deepEqual([world.api.count("update", "leases"), world.api.count("get", "leases")], [1, 4]);
  world.uid = "u2";
  await world.step(10_000);
  deepEqual([world.renewTime, world.api.lease?.metadata.ownerReferences?.[0]?.uid], [world.clock.now(), "u2"]);
});

test("a lease whose absence is reported as a conflict is created again, and not renewed at once", async () => {
  const world = new LeaseWorld();
  await world.start();
  world.api.remove("leases");
  const gone = new ApiError(
    409,
    "Conflict",
    "StorageError: invalid object, Code: 4, Precondition failed: UID in precondition",
  );
  world.api.fault = ({ verb }) => (verb === "update" && world.api.lease === undefined ? gone : undefined);
  world.api.calls.length = 0;
  await world.step(10_000);
  deepEqual(
    world.api.calls.map(({ verb }) => verb),
    ["update", "get", "create"],
  );
  equal(world.renewTime, world.clock.now());
});

test("a server that is away: five tries, then looked for with waits from 200 ms, doubling to 7 s, until it is back", async () => {
  const world = new LeaseWorld();
  await world.start();
  world.api.calls.length = 0;
  let away = true;
  world.api.fault = () => (away ? NOT_REACHED : undefined);
  for (let ms = 0; ms < 60_000; ms += 100) await world.step(100);
  equal(world.api.count("update", "leases"), 5);
  const gets = world.api.calls.filter(({ verb }) => verb === "get").map(({ atMs }) => atMs);
  const waits = gets.slice(1).map((at, index) => at - (gets[index] ?? 0));
  deepEqual(waits.slice(0, 8), [200, 400, 800, 1600, 3200, 6400, 7000, 7000]);
  ok(world.failures > 4, "the connections are to be dropped");
  away = false;
  await world.step(7000);
  equal(world.renewTime, world.clock.now());
});

test("an update whose response was lost causes only a short conflict", async () => {
  const world = new LeaseWorld();
  await world.start();
  let lost = true;
  world.api.fault = ({ verb }) => {
    if (!lost || verb !== "update") return undefined;
    lost = false;
    return "lost";
  };
  await world.step(10_000);
  equal(world.renewTime, world.clock.now());
  await world.step(10_000);
  deepEqual(world.outcomes, [true, false, false, true, true]);
});

test("while a part of the kubelet is stuck the lease is left alone, and renewed at once when it turns again", async () => {
  const world = new LeaseWorld();
  await world.start();
  const renewed = world.renewTime;
  world.stalls.push("main is not healthy");
  await world.step(10_000);
  await world.step(10_000);
  deepEqual([world.renewTime, world.withheld, world.api.count("update", "leases")], [renewed, 2, 0]);
  world.stalls.pop();
  world.lease.requestRound();
  await world.step(1000);
  equal(world.renewTime, world.clock.now());
});

test("stuck while the lease is being looked for: it is not renewed when the server returns", async () => {
  const world = new LeaseWorld();
  await world.start();
  world.api.fault = () => new ApiError(500, "InternalError", "no");
  await world.step(10_000);
  world.stalls.push("pleg is not healthy");
  world.api.fault = () => undefined;
  const before = world.api.calls.length;
  await world.step(10_000);
  equal(world.api.calls.length, before);
});

test("a clock that is set back or forth changes nothing about how often the lease is renewed", async () => {
  const world = new LeaseWorld();
  await world.start();
  for (const jump of [3_600_000, -7_200_000]) {
    world.clock.jump(jump);
    const before = world.api.count("update", "leases");
    for (let second = 0; second < 60; second++) await world.step(1000);
    equal(world.api.count("update", "leases") - before, 6);
    ok(Math.abs(world.clock.now() - world.renewTime) <= 10_000, "what it says is the time by the new clock");
  }
});
