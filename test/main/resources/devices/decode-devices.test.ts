// Lists of devices as plugins send them: decoded in pieces, bounded, and without effect when nothing changed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeDevices, MAX_DEVICES } from "../../../../src/main/resources/devices/decode-devices.js";
import { DevicePool } from "../../../../src/main/resources/devices/device-pool.js";
import { ListAndWatchResponse } from "../../../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { devices, FakePlugin, kit, replaceList } from "./kit.js";

const GPU = "example.com/gpu";
const listOf = (count: number): Uint8Array =>
  ListAndWatchResponse.encode({
    devices: Array.from({ length: count }, (_, at) => ({
      ID: `d${at}`,
      health: at % 2 === 0 ? "Healthy" : "Unhealthy",
      topology: at === 0 ? { nodes: [{ ID: 1n }, { ID: -1n }] } : undefined,
    })),
  }).finish();

function loop() {
  let turns = 0;
  const turn = (): Promise<void> => {
    turns++;
    return Promise.resolve();
  };
  return { turn, turns: () => turns };
}

test("20,000 devices are decoded in pieces: the event loop may turn between them", async () => {
  const { turn, turns } = loop();
  const devices = await decodeDevices(listOf(20_000), { turn });
  assert.equal(devices.size, 20_000);
  assert.equal(turns(), 40);
  assert.deepEqual(devices.get("d0"), { healthy: true, nodes: [1, -1] });
  assert.deepEqual(devices.get("d19999"), { healthy: false, nodes: [] });
});

test("more devices than the kubelet keeps are refused with the limit, and unknown fields are skipped", async () => {
  await assert.rejects(decodeDevices(listOf(MAX_DEVICES + 1), loop()), /more than 65536 devices/);
  // Fields 2 (bytes), 3 (varint) and 4 (fixed64).
  const unknown = Uint8Array.of(0x12, 1, 0, 0x18, 5, 0x21, 0, 0, 0, 0, 0, 0, 0, 0);
  assert.equal((await decodeDevices(Buffer.concat([unknown, listOf(1), unknown]), loop())).size, 1);
  await assert.rejects(decodeDevices(Uint8Array.of(10, 200), loop()));
});

test("the same list again changes nothing; health, topology, another id or a return do", () => {
  const pool = new DevicePool();
  const of = (ids: readonly string[], nodes: readonly number[] = [], healthy = true) =>
    new Map(ids.map((id) => [id, { healthy, nodes: [...nodes] }]));
  pool.connected(GPU);
  assert.deepEqual(replaceList(pool, GPU, of(["a", "b"])), { health: ["a", "b"], changed: true });
  assert.deepEqual(replaceList(pool, GPU, of(["a", "b"])), { health: [], changed: false });
  assert.deepEqual(replaceList(pool, GPU, of(["a", "b"], [1])), { health: [], changed: true });
  assert.deepEqual(replaceList(pool, GPU, of(["a"], [1])), { health: [], changed: true });
  assert.deepEqual(replaceList(pool, GPU, of(["a"], [1], false)), { health: ["a"], changed: true });
  assert.deepEqual([...pool.usable(GPU)], []);
  pool.stopped(GPU, 1);
  assert.deepEqual(replaceList(pool, GPU, of(["a"], [1], false)), { health: [], changed: true });
});

test("a device of more bytes than the kubelet reads is refused, and lists of large ones are decoded in smaller pieces", async () => {
  const nodes = (count: number) => ({ nodes: Array.from({ length: count }, () => ({ ID: 1n })) });
  const list = (count: number, size: number): Uint8Array =>
    ListAndWatchResponse.encode({
      devices: Array.from({ length: count }, (_, at) => ({ ID: `d${at}`, health: "", topology: nodes(size) })),
    }).finish();
  await assert.rejects(decodeDevices(list(1, 5000), loop()), /a device of \d+ bytes/);
  const { turn, turns } = loop();
  assert.equal((await decodeDevices(list(200, 500), { turn })).size, 200);
  assert.ok(turns() >= 10, `${turns()} turns`);
});

test("60,000 devices are compared in pieces, and the list of a plugin that has gone meanwhile is dropped", async (t) => {
  const { manager, plug } = await kit(t);
  const list = await decodeDevices(listOf(60_000), loop());
  const plugin = new FakePlugin(devices({ a: {} }));
  await plug(GPU, plugin);
  plugin.say(list);
  assert.equal(manager.pool.devices(GPU).size, 1, "not yet");
  await plugin.die();
  await plugin.said;
  assert.equal(manager.pool.usable(GPU).size, 0);
  const next = new FakePlugin(devices({ a: {} }));
  await plug(GPU, next);
  next.say(list);
  await next.said;
  assert.equal(manager.pool.usable(GPU).size, 30_000);
});
