// Registration of a CSI driver: its CSINode entry, labels and annotation of the Node, versions, and an unreachable API
// server.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PluginRefusedError } from "../../../../src/main/model/plugin-refused.js";
import { CsiHandler } from "../../../../src/main/node/csi/csi-handler.js";
import { nodePatch, withDriver, withoutDriver } from "../../../../src/main/node/csi/csi-node-entries.js";
import { CsiNodeObject } from "../../../../src/main/node/csi/csi-node-object.js";
import { bestVersion } from "../../../../src/main/node/csi/csi-version.js";
import { CsiDrivers } from "../../../../src/main/volumes/csi/drivers.js";
import type { CsiNode, CsiNodeInfo } from "../../../../src/main/volumes/csi/node-port.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import { CSI_NODES, NODES } from "../../../../src/shared/kubernetes/api/client/kinds.js";
import type { CSINode } from "../../../../src/shared/kubernetes/api/objects.js";
import { never, NODE } from "../../../support/csi/kit.js";
import { MemoryApi } from "../../../support/csi/memory-api.js";
import { silentLog } from "../../../support/silent.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const log = silentLog;
const ANNOTATION = "csi.volume.kubernetes.io/nodeid";

function world(info: Partial<CsiNodeInfo> = {}) {
  const api = new MemoryApi();
  const clock = new SteppedClock();
  api.put(NODES, { metadata: { name: NODE, uid: "node-uid" } });
  const drivers = new CsiDrivers(clock);
  const said: CsiNodeInfo = { nodeId: "id-1", maxVolumes: 0, topology: {}, ...info };
  const closed: string[] = [];
  const connect = (_driver: string, endpoint: string): CsiNode =>
    ({ info: () => Promise.resolve(said), close: () => void closed.push(endpoint) }) as unknown as CsiNode;
  const csiNode = new CsiNodeObject({ nodeName: NODE, client: api, clock, log, random: () => 0 });
  const options = { nodeName: NODE, drivers, csiNode, client: api, connect, clock, log };
  const spec: { nodeAllocatableUpdatePeriodSeconds?: number } = {};
  const handler = new CsiHandler({ ...options, driverSpec: () => Promise.resolve(spec) });
  const plugin = (name: string, endpoint = `/${name}`, versions = ["1.0.0"]) => ({
    ...{ type: "CSIPlugin", name, endpoint, versions },
  });
  const object = (): CSINode | undefined => api.find(CSI_NODES, { name: NODE });
  const node = () => api.find(NODES, { name: NODE })?.metadata;
  return { api, clock, drivers, csiNode, handler, plugin, object, node, said, closed, spec };
}

test("a driver is in CSINode, in the node's annotation and labels; its leaving takes entry and annotation", async () => {
  const { handler, plugin, object, node, drivers } = world({
    maxVolumes: 7,
    topology: { "z/zone": "a", "a/rack": "1" },
  });
  await handler.register(plugin("one.csi"), never);
  assert.deepEqual(object()?.metadata.ownerReferences, [
    { apiVersion: "v1", kind: "Node", name: NODE, uid: "node-uid" },
  ]);
  const announced = object()?.metadata.annotations?.["storage.alpha.kubernetes.io/migrated-plugins"]?.split(",");
  assert.equal(announced?.length, 7);
  assert.ok(announced.includes("kubernetes.io/aws-ebs"));
  assert.deepEqual(object()?.spec.drivers, [
    { name: "one.csi", nodeID: "id-1", topologyKeys: ["a/rack", "z/zone"], allocatable: { count: 7 } },
  ]);
  assert.deepEqual(node()?.labels, { "z/zone": "a", "a/rack": "1" });
  assert.deepEqual(node()?.annotations, { [ANNOTATION]: '{"one.csi":"id-1"}' });
  await handler.register(plugin("two.csi"), never);
  assert.deepEqual(JSON.parse(node()?.annotations?.[ANNOTATION] ?? ""), { "one.csi": "id-1", "two.csi": "id-1" });
  await handler.deregister(plugin("one.csi"), never);
  assert.deepEqual(
    object()?.spec.drivers?.map(({ name }) => name),
    ["two.csi"],
  );
  assert.deepEqual(node()?.annotations, { [ANNOTATION]: '{"two.csi":"id-1"}' });
  await handler.deregister(plugin("two.csi"), never);
  assert.deepEqual(node()?.annotations, {});
  assert.deepEqual(node()?.labels, { "z/zone": "a", "a/rack": "1" }, "others may share them");
  assert.deepEqual(drivers.all(), []);
});

test("registering again changes nothing and writes nothing", async () => {
  const { api, handler, plugin } = world({ maxVolumes: 7, topology: { zone: "a" } });
  await handler.register(plugin("one.csi"), never);
  const writes = (): number => api.count("update") + api.count("patch") + api.count("create");
  const before = writes();
  await handler.register(plugin("one.csi"), never);
  assert.equal(writes(), before);
});

test("a label that says something else refuses the driver", async () => {
  const { api, handler, plugin } = world({ topology: { zone: "a" } });
  api.put(NODES, { metadata: { name: NODE, labels: { zone: "b" } } });
  await assert.rejects(
    handler.register(plugin("one.csi"), never),
    /detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"/,
  );
});

test("while the API server is away a driver serves volumes, and is registered when it is back", async () => {
  const { api, handler, plugin, drivers, object, closed } = world();
  api.failing.set("get nodes", undefined);
  await assert.rejects(handler.register(plugin("one.csi"), never), /away/);
  const { node } = drivers.find("one.csi") ?? {};
  assert.ok(node !== undefined);
  api.failing.clear();
  await handler.register(plugin("one.csi"), never);
  assert.equal(drivers.find("one.csi")?.node, node, "calls under way go on");
  assert.deepEqual(closed, []);
  assert.equal(object()?.spec.drivers?.length, 1);
});

test("a late deregistration does not remove the entry of a new driver with the same name", async () => {
  const { handler, plugin, drivers } = world();
  await handler.register(plugin("one.csi", "/old"), never);
  await handler.register(plugin("one.csi", "/new", ["1.1.0"]), never);
  await handler.deregister(plugin("one.csi", "/old"), never);
  assert.equal(drivers.find("one.csi")?.endpoint, "/new");
});

test("versions: the highest 1.x counts; a name that is taken by as high a version is refused", async () => {
  assert.equal(bestVersion("d", ["1.2.0", "v1.10.1", "1.9.9", "0.3.0", "2.0.0", "garbage"]), "1.10.1");
  for (const offered of [[], ["0.3.0"], ["2.0.0"], ["one"]]) {
    assert.throws(() => bestVersion("d", offered), PluginRefusedError);
  }
  const { handler, plugin } = world();
  await handler.register(plugin("one.csi", "/a", ["1.5.0"]), never);
  assert.throws(() => handler.validate(plugin("one.csi", "/b", ["1.5.0"])), PluginRefusedError);
  handler.validate(plugin("one.csi", "/a", ["1.5.0"]));
  handler.validate(plugin("one.csi", "/b", ["1.6.0"]));
});

test("the volume limit of a node is requested again if the CSIDriver wants it", async () => {
  const { handler, plugin, clock, object, said, spec } = world({ maxVolumes: 3 });
  spec.nodeAllocatableUpdatePeriodSeconds = 60;
  await handler.register(plugin("one.csi"), never);
  said.maxVolumes = 9;
  clock.step(59_999);
  assert.equal(object()?.spec.drivers?.[0]?.allocatable?.count, 3);
  clock.step(1);
  await until("it is updated", () => object()?.spec.drivers?.[0]?.allocatable?.count === 9);
  handler.stop();
  assert.equal(clock.pending, 0);
});

test("CSINode is made before the node is Ready, for as long as that takes", async () => {
  const { api, clock, csiNode, object } = world();
  api.failing.set("get csinodes", undefined);
  assert.equal(csiNode.problem(), "CSINode is not yet initialized");
  csiNode.start();
  for (const round of [1, 2, 3]) {
    await until("it waits", () => clock.pending === 1);
    assert.equal(object(), undefined, `round ${round}`);
    if (round === 3) api.failing.clear();
    clock.step(30_000);
  }
  await until("it is there", () => csiNode.problem() === undefined);
  assert.deepEqual(object()?.spec, { drivers: [] });
  await csiNode.stop();
});

test("a change that conflicts is repeated on the current object, four times at most", async () => {
  const { api, clock, handler, plugin, object, csiNode } = world();
  csiNode.start();
  await until("it is there", () => csiNode.problem() === undefined);
  api.failing.set("update csinodes", new ApiError(409, "Conflict", "modified"));
  const registered = handler.register(plugin("one.csi"), never);
  registered.catch(() => undefined);
  for (const delayMs of [10, 50, 250]) {
    await until("it waits", () => clock.pending === 1);
    clock.step(delayMs);
  }
  await assert.rejects(registered, /modified/);
  assert.equal(api.count("update csinodes"), 4);
  api.failing.clear();
  await handler.register(plugin("one.csi"), never);
  assert.equal(object()?.spec.drivers?.length, 1);
  await csiNode.stop();
});

const info = fc.record({
  nodeId: fc.string({ minLength: 1 }),
  maxVolumes: fc.nat(100),
  topology: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2")),
});
test("entries: adding twice is adding once, removing undoes adding, others stay", () => {
  fc.assert(
    fc.property(info, info, (mine, others) => {
      const empty: CSINode = { metadata: { name: NODE }, spec: { drivers: [] } };
      const before = withDriver(empty, "other", others);
      const once = withDriver(before, "mine", mine);
      assert.equal(withDriver(once, "mine", mine), once);
      assert.deepEqual(withoutDriver(once, "mine"), before);
      assert.equal(withoutDriver(before, "mine"), before);
    }),
  );
});

test("a list of drivers that is null is an empty one", async () => {
  const { api, handler, plugin, object } = world();
  api.put(CSI_NODES, { metadata: { name: NODE }, spec: { drivers: null } });
  await handler.register(plugin("one.csi"), never);
  assert.equal(object()?.spec.drivers?.length, 1);
});

test("an annotation that is garbage counts as none", () => {
  const said: CsiNodeInfo = { nodeId: "id", maxVolumes: 0, topology: {} };
  for (const garbage of ["", "{", "[]", "null", '{"a":1}']) {
    const node = { metadata: { annotations: { [ANNOTATION]: garbage } } };
    assert.deepEqual(nodePatch(node, "d", said), { metadata: { annotations: { [ANNOTATION]: '{"d":"id"}' } } });
  }
});
