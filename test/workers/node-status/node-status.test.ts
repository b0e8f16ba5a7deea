// Node and lease over a node's life in virtual time: first status, reports, failures, and reports of stuck threads.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../src/shared/kubernetes/api/client/errors.js";
import { newNode } from "../../../src/workers/node-status/registration.js";
import { NOT_REACHED } from "./memory-api.js";
import { FACTS, INIT, KeeperWorld } from "./node-status-kit.js";

const PRESSURE_EVENTS = ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"];
const OK = { status: "True", message: "kubelet is posting ready status" };

test("a new node is registered Ready in one call, and gets its lease at once", async () => {
  const world = new KeeperWorld();
  await world.start();
  deepEqual(world.ready(), OK);
  await world.step(1000);
  equal(world.api.lease?.metadata.ownerReferences?.[0]?.uid, world.api.node?.metadata.uid);
  deepEqual([world.api.count("create", "nodes"), world.api.count("patch", "nodes")], [1, 0]);
  deepEqual(world.events, PRESSURE_EVENTS);
  deepEqual(world.startup, {
    machineStartedAt: -60_000,
    agentStartedAt: 0,
    firstRegistrationAt: 0,
    registeredAt: 0,
    readyAt: 0,
  });
  await world.keeper.stop();
  equal(world.clock.pending, 0);
});

test("main receives the Node without images, conditions and heartbeats: once per change", async () => {
  const world = new KeeperWorld();
  await world.start();
  await world.step(30_000);
  equal(world.nodes.length, 1);
  equal(world.nodes[0]?.status?.conditions, undefined);
  const node = world.api.node!;
  world.api.put("nodes", { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, a: "b" } } });
  await world.step(10_000);
  deepEqual([world.nodes.length, world.nodes[1]?.metadata.labels?.["a"]], [2, "b"]);
});

test("a node that is there already: no flip to NotReady while the kubelet has not looked at its runtime yet", async () => {
  const world = new KeeperWorld();
  await world.start();
  await world.keeper.stop();
  world.make(1);
  await world.start("unknown");
  await world.step(4000);
  deepEqual([world.ready(), world.api.count("patch", "nodes")], [OK, 0]);
  world.keeper.setFacts({ ...FACTS, runtime: undefined, relisted: false });
  world.keeper.setFacts(FACTS);
  await world.step(500);
  deepEqual(world.ready(), OK);
});

test("a restart of the kubelet records the pressures of its node again, as upstream; one of the thread does not", async () => {
  const world = new KeeperWorld();
  await world.start();
  for (const generation of [1, 2]) {
    await world.keeper.stop();
    world.make(generation);
    await world.start();
    deepEqual([world.ready(), world.events], [OK, [...PRESSURE_EVENTS, ...PRESSURE_EVENTS]]);
  }
  await world.keeper.stop();
});

test("a node that is there already: no flip while CSINode is looked for, for 5 s at most", async () => {
  const looking = { ...FACTS, storageProblem: "CSINode is not yet initialized" };
  const world = new KeeperWorld();
  await world.start();
  await world.keeper.stop();
  world.make(1);
  await world.start(looking);
  await world.step(3000);
  deepEqual([world.ready(), world.api.count("patch", "nodes")], [OK, 0]);
  world.keeper.setFacts(FACTS);
  await world.step(500);
  deepEqual(world.ready(), OK);

  await world.keeper.stop();
  world.make(2);
  await world.start(looking);
  await world.step(6000);
  deepEqual(world.ready(), { status: "False", message: looking.storageProblem });
  await world.keeper.stop();
});

test("a runtime that does not respond holds the first status for 5 s, no longer", async () => {
  const world = new KeeperWorld();
  await world.start({ ...FACTS, runtime: undefined, relisted: false });
  await world.step(4500);
  equal(world.api.count("create", "nodes"), 0);
  await world.step(1000);
  deepEqual(world.ready(), {
    status: "False",
    message: "[container runtime status check may not have completed yet, network state unknown]",
  });
  world.keeper.setFacts(FACTS);
  await world.step(500);
  deepEqual([world.ready(), world.events.at(-1)], [OK, "NodeReady"]);
});

test("an unchanged status is reported every five minutes, a change at once; reads come from the server's cache", async () => {
  const world = new KeeperWorld({}, 0.5);
  await world.start();
  await world.step(295_000);
  equal(world.api.count("patch", "nodes"), 0);
  await world.step(15_000);
  equal(world.api.count("patch", "nodes"), 1);
  const reads = world.api.calls.filter(
    ({ verb, resource, atMs }) => verb === "get" && resource === "nodes" && atMs > 0,
  );
  ok(reads.length > 25 && reads.every(({ resourceVersion }) => resourceVersion === "0"));
  world.keeper.setFacts({ ...FACTS, volumesInUse: ["v"] });
  await world.step(500);
  deepEqual([world.api.node?.status?.volumesInUse, world.api.count("patch", "nodes")], [["v"], 2]);
  world.keeper.setFacts({ ...FACTS, volumesInUse: ["v"], images: [{ names: ["i"] }] });
  await world.step(500);
  equal(world.api.count("patch", "nodes"), 2, "images wait for the next round");
  await world.step(11_000);
  deepEqual(world.api.node?.status?.images, [{ names: ["i"] }]);
});

for (const [random, fromMs, toMs] of [
  [0, 140_000, 165_000],
  [0.999, 440_000, 475_000],
] as const) {
  test(`after a change the next report is moved by up to half a period (${random})`, async () => {
    const world = new KeeperWorld({}, random);
    await world.start();
    await world.step(fromMs);
    equal(world.api.count("patch", "nodes"), 0);
    await world.step(toMs - fromMs);
    equal(world.api.count("patch", "nodes"), 1);
  });
}

test("main is stuck: NotReady by name, the lease runs out; both come back with it", async () => {
  const world = new KeeperWorld();
  await world.start();
  await world.step(1000);
  const renewTime = (): number => Date.parse(world.api.lease?.spec?.renewTime ?? "");
  world.stuck.add("main");
  world.deaf = new Error("main does not respond");
  await world.step(15_000);
  deepEqual(world.ready(), OK);
  ok(world.clock.now() - renewTime() < 11_000, "busy for 15 s: the heartbeat continues");
  await world.step(10_000);
  match(world.ready()?.message ?? "", /^main is not healthy: its thread was last seen active at .*; threshold is 20s$/);
  await world.step(60_000);
  ok(world.clock.now() - renewTime() > 60_000, "the lease runs out");
  const patches = world.api.count("patch", "nodes");
  await world.step(60_000);
  equal(world.api.count("patch", "nodes"), patches, "words that stay the same are not sent again");
  world.stuck.clear();
  world.deaf = undefined;
  await world.step(2000);
  deepEqual(world.ready(), OK);
  ok(world.clock.now() - renewTime() < 2000);
  equal(world.events.at(-1), "NodeReady");
});

test("relists that fail for long make the node NotReady, but its lease is renewed", async () => {
  const world = new KeeperWorld();
  await world.start();
  world.stuck.add("relist");
  await world.step(200_000);
  match(world.ready()?.message ?? "", /^PLEG is not healthy: pleg was last seen active 3m\S+ ago; threshold is 3m0s$/);
  ok(world.clock.now() - Date.parse(world.api.lease?.spec?.renewTime ?? "") < 11_000);
});

test("a server that refuses: five tries per round, the first read from its cache, then live", async () => {
  const world = new KeeperWorld();
  await world.start();
  world.api.calls.length = 0;
  world.api.fault = ({ resource, verb }) =>
    resource === "nodes" && verb === "get" ? new ApiError(500, "InternalError", "no") : undefined;
  await world.step(10_500);
  const reads = world.api.calls.filter(({ resource }) => resource === "nodes");
  deepEqual(
    reads.map(({ resourceVersion }) => resourceVersion),
    ["0", undefined, undefined, undefined, undefined],
  );
  equal(world.api.closedConnections, 0, "it responded: the connection works");
  world.api.fault = ({ resource }) => (resource === "nodes" ? NOT_REACHED : undefined);
  await world.step(10_500);
  equal(world.api.closedConnections, 4);
});

test("a server that is away at the start: tried with waits from 100 ms, doubling to 7 s; an hour later all is sent", async () => {
  const world = new KeeperWorld();
  let away = true;
  world.api.fault = () => (away ? NOT_REACHED : undefined);
  await world.start();
  await world.step(30_000, 100);
  const tries = world.api.calls.filter(({ verb }) => verb === "create").map(({ atMs }) => atMs);
  const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  deepEqual(waits.slice(0, 8), [100, 200, 400, 800, 1600, 3200, 6400, 7000]);
  away = false;
  await world.step(8000);
  deepEqual([world.ready(), world.events], [OK, PRESSURE_EVENTS]);
  ok(world.api.lease !== undefined);
});

test("a server that returns receives the missed status as soon as the lease has reached it", async () => {
  const world = new KeeperWorld();
  await world.start();
  await world.step(5000);
  world.api.fault = () => NOT_REACHED;
  world.keeper.setFacts({ ...FACTS, shuttingDown: true });
  await world.step(3_600_000, 1000);
  ok(world.kept.errors().length < 300, "trouble is told once a minute");
  world.api.fault = () => undefined;
  await world.step(7500);
  equal(world.ready()?.message, "node is shutting down");
  const perMinute = world.api.calls.length / 60;
  ok(perMinute < 60, `${perMinute} calls a minute are no storm`);
});

test("a patch whose response was lost causes no second event", async () => {
  const world = new KeeperWorld();
  await world.start();
  let lost = true;
  world.api.fault = ({ verb }) => (lost && verb === "patch" ? ((lost = false), "lost") : undefined);
  world.keeper.setFacts({ ...FACTS, shuttingDown: true });
  await world.step(1000);
  deepEqual(world.ready(), { status: "False", message: "node is shutting down" });
  world.keeper.setFacts(FACTS);
  await world.step(1000);
  deepEqual(world.events, [...PRESSURE_EVENTS, "NodeReady"]);
});

test("an existing Node is reconciled, then its status is updated", async () => {
  const world = new KeeperWorld({ registerWithTaints: [{ key: "t", value: "", effect: "NoSchedule" }] });
  world.fresh = true;
  const capacity = { "example.com/gpu": "2", cpu: "64" };
  world.api.put("nodes", {
    metadata: { name: "n1", labels: { "kubernetes.io/hostname": "old", role: "db" } },
    status: { capacity },
  } as never);
  await world.start();
  const { metadata, spec, status } = world.api.node!;
  deepEqual([metadata.labels?.["kubernetes.io/hostname"], metadata.labels?.["role"], spec], ["n1", "db", undefined]);
  deepEqual([status?.capacity?.["example.com/gpu"], status?.capacity?.["cpu"], world.ready()], ["0", "2", OK]);
  equal(world.startup, undefined, "it was not this agent that made it");
});

test("a restarted thread does not reset extended resources, and emits no second event of a cordon", async () => {
  const world = new KeeperWorld();
  world.fresh = true;
  const status = { capacity: { "example.com/gpu": "2" } };
  world.api.put("nodes", { ...newNode(INIT), spec: { unschedulable: true }, status } as never);
  world.make(2);
  await world.start();
  equal(world.api.node?.status?.capacity?.["example.com/gpu"], "2");
  ok(!world.events.includes("NodeNotSchedulable"));
});

test("a kubelet that may not create Nodes takes over an existing one", async () => {
  const world = new KeeperWorld();
  world.api.fault = ({ verb, resource }) =>
    verb === "create" && resource === "nodes" ? new ApiError(403, "Forbidden", "no") : undefined;
  await world.start();
  await world.step(1000);
  equal(world.api.node, undefined);
  world.api.put("nodes", newNode(INIT));
  await world.step(8000);
  deepEqual(world.ready(), OK);
});

test("with the gate KubeletRegistrationGetOnExistsOnly it does not take over a Node that it may not create", async () => {
  const world = new KeeperWorld({ getOnExistsOnly: true });
  world.api.fault = ({ verb, resource }) =>
    verb === "create" && resource === "nodes" ? new ApiError(403, "Forbidden", "no") : undefined;
  world.api.put("nodes", newNode(INIT));
  await world.start();
  await world.step(20_000);
  ok(world.api.count("create", "nodes") > 1, "it tries again");
  equal(world.ready(), undefined);
  world.api.fault = () => undefined;
  await world.step(8000);
  deepEqual(world.ready(), OK);
});

test("registerNode false: it waits for the Node and makes none", async () => {
  const world = new KeeperWorld({ registerNode: false });
  await world.start();
  await world.step(60_000);
  equal(world.api.count("create", "nodes") + world.api.count("create", "leases"), 0);
  deepEqual(world.kept.warnings().filter((line) => line.includes("registerNode is false")).length, 1);
  world.api.put("nodes", newNode({ ...INIT, nodeLabels: { by: "hand" } }));
  await world.step(11_000);
  deepEqual([world.ready(), world.api.node?.metadata.labels?.["by"]], [OK, "hand"]);
  ok(world.api.lease !== undefined);
});

test("a deleted Node is not created again, as in upstream; main is notified", async () => {
  const world = new KeeperWorld();
  await world.start();
  world.api.remove("nodes");
  await world.step(60_000);
  deepEqual([world.api.node, world.nodes.at(-1), world.nodes.length], [undefined, undefined, 2]);
  equal(world.kept.warnings().filter((line) => line.includes("it was deleted")).length, 1);
});

test("cordons and pod CIDRs are passed on; a call that main did not take is repeated", async () => {
  const world = new KeeperWorld();
  await world.start();
  world.deaf = new Error("busy");
  const node = world.api.node!;
  world.api.put("nodes", { ...node, spec: { unschedulable: true, podCIDRs: ["10.1.0.0/24", "fd01::/64"] } } as never);
  await world.step(10_500);
  deepEqual([world.podCIDRs, world.nodes.length], [[], 1]);
  world.deaf = undefined;
  await world.step(10_500);
  deepEqual([world.podCIDRs, world.nodes.length], [["10.1.0.0/24,fd01::/64"], 2]);
  world.api.put("nodes", { ...world.api.node, spec: { podCIDRs: ["10.1.0.0/24", "fd01::/64"] } } as never);
  await world.step(10_500);
  equal(world.events.at(-1), "NodeSchedulable");
});

test("an older picture from the server's cache is not believed", async () => {
  const world = new KeeperWorld();
  await world.start();
  world.keeper.setFacts({ ...FACTS, shuttingDown: true });
  const get = world.api.get.bind(world.api);
  const old = structuredClone(world.api.node);
  await world.step(1000);
  equal(world.events.at(-1), "NodeNotReady");
  world.api.get = ((kind, ref, options) =>
    options?.resourceVersion === "0" && kind.resource === "nodes"
      ? Promise.resolve(structuredClone(old))
      : get(kind, ref, options)) as typeof get;
  const patches = world.api.count("patch", "nodes");
  await world.step(30_000);
  equal(world.api.count("patch", "nodes"), patches);
});

test("a watch of the own Node: main knows at once, and rounds need no read", async () => {
  const world = new KeeperWorld();
  world.api.watchable = true;
  await world.start();
  await world.step(1000);
  world.api.calls.length = 0;
  const node = world.api.node!;
  const labels = { ...node.metadata.labels, a: "b" };
  world.api.put("nodes", {
    ...node,
    metadata: { ...node.metadata, labels },
    spec: { podCIDR: "10.1.0.0/24" },
  } as never);
  await world.step(500);
  deepEqual([world.nodes.at(-1)?.metadata.labels?.["a"], world.podCIDRs], ["b", ["10.1.0.0/24"]]);
  await world.step(60_000);
  equal(world.api.count("get", "nodes"), 0);
  world.keeper.setFacts({ ...FACTS, shuttingDown: true });
  await world.step(500);
  deepEqual([world.ready()?.message, world.api.count("get", "nodes")], ["node is shutting down", 0]);
  world.api.remove("nodes");
  await world.step(500);
  equal(world.nodes.at(-1), undefined);
  await world.step(30_000);
  deepEqual([world.api.node, world.api.watches], [undefined, 1]);
  await world.keeper.stop();
  equal(world.clock.pending, 0);
});

test("registerNode false: a Node that another client creates is read at once", async () => {
  const world = new KeeperWorld({ registerNode: false });
  world.api.watchable = true;
  await world.start();
  await world.step(1000);
  world.api.put("nodes", newNode(INIT));
  await world.step(1500);
  deepEqual(world.ready(), OK);
  ok(world.api.lease !== undefined);
});

test("a server that is back after it was away: main is notified, because its waits may be longer", async () => {
  const world = new KeeperWorld();
  await world.start();
  world.presence.returned();
  await world.step(100);
  equal(world.returns, 1);
  await world.keeper.stop();
  equal(world.presence.size(), 0);
});
