// The checkpoint's form. The texts and checksums below were written by upstream's own code (1.36).
// @promise Resources of the node: kubelet_internal_checkpoint: the kubelet reads upstream's file, and upstream reads
//   ours; garbage is set aside with a warning.
// @with test/main/resources/devices/device-manager.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  decodeCheckpoint,
  encodeCheckpoint,
  type CheckpointData,
} from "../../../../src/main/resources/devices/checkpoint.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

const loop = { turn: () => Promise.resolve() };
const UPSTREAM = {
  "several nodes, bytes, and a nil list":
    '{"Data":{"PodDeviceEntries":[{"PodUID":"u-1","ContainerName":"c","ResourceName":"example.com/gpu","DeviceIDs":' +
    '{"-1":["a","b"],"0":["x"],"10":["y"],"2":["z z"]},"AllocResp":"CggKA0RFVhIBYRIKCgIvbRICL2gYAQ=="},{"PodUID":"u-2",' +
    '"ContainerName":"ä","ResourceName":"example.com/b","DeviceIDs":{},"AllocResp":""}],"RegisteredDevices":' +
    '{"a.b/Z":null,"example.com/b":[],"example.com/gpu":["a","b"]}},"Checksum":174889460}',
  "nothing at all": '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}',
  "no entries": '{"Data":{"PodDeviceEntries":[],"RegisteredDevices":{"r":["1"]}},"Checksum":41999559}',
};

describe("checkpoints that upstream wrote", () => {
  for (const [what, text] of Object.entries(UPSTREAM)) {
    test(`${what}: is read, and written with the same checksum`, async () => {
      const data = decodeCheckpoint(JSON.parse(text));
      assert.deepEqual(JSON.parse(await encodeCheckpoint(data, loop)), JSON.parse(text));
    });
  }
});

test("a written checkpoint reads back, and fails if one byte changed", async () => {
  const lists = fc.dictionary(fc.string(), fc.oneof(fc.array(fc.string()), fc.constant(null)));
  const ids = fc.dictionary(fc.integer({ min: -1, max: 40 }).map(String), fc.array(fc.string()));
  const entry = fc.record({
    PodUID: fc.uuid().map(podUid),
    ContainerName: fc.string(),
    ResourceName: fc.string(),
    DeviceIDs: ids,
    AllocResp: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
  });
  const anyData: fc.Arbitrary<CheckpointData> = fc.record({
    PodDeviceEntries: fc.oneof(fc.constant(null), fc.array(entry)),
    RegisteredDevices: lists,
  });
  await fc.assert(
    fc.asyncProperty(anyData, async (data) => {
      const text = await encodeCheckpoint(data, loop);
      assert.equal(await encodeCheckpoint(decodeCheckpoint(JSON.parse(text)), loop), text);
      const changed = { ...data, RegisteredDevices: { ...data.RegisteredDevices, "another.com/one": ["x"] } };
      const { Checksum } = JSON.parse(text) as { Checksum: number };
      assert.throws(() => decodeCheckpoint({ Data: changed, Checksum }), /checksum/);
    }),
    { numRuns: 50 },
  );
});

describe("garbage is refused", () => {
  const entry = { PodUID: podUid("u"), ContainerName: "c", ResourceName: "r", DeviceIDs: {}, AllocResp: "" };
  const data = (fields: object): unknown => ({ Data: { PodDeviceEntries: null, RegisteredDevices: {}, ...fields } });
  const rows: [what: string, value: unknown, why: RegExp][] = [
    ["a list", [], /not a checkpoint/],
    ["no data", { Checksum: 1 }, /not a checkpoint/],
    ["entries that are no list", data({ PodDeviceEntries: {} }), /no list/],
    ["an entry without a container", data({ PodDeviceEntries: [{ ...entry, ContainerName: 1 }] }), /ContainerName/],
    ["a node that is no number", data({ PodDeviceEntries: [{ ...entry, DeviceIDs: { x: [] } }] }), /NUMA/],
    ["a device that is no text", data({ RegisteredDevices: { r: [1] } }), /no text/],
    ["no checksum", data({}), /checksum/],
  ];
  for (const [what, value, why] of rows) test(what, () => assert.throws(() => decodeCheckpoint(value), why));
});

test("a large checkpoint is JSON.stringify's text, and no piece between two turns of the loop is long", async () => {
  const ids = Array.from({ length: 60_000 }, (_, at) => `device-${at} "ä"`);
  const entry = {
    PodUID: podUid("u"),
    ContainerName: "c",
    ResourceName: "r",
    DeviceIDs: { "-1": ids, "0": null, "1": [] },
  };
  const data = {
    PodDeviceEntries: [{ ...entry, AllocResp: Buffer.alloc(200_000, 7).toString("base64") }],
    RegisteredDevices: { r: ids, gone: null, none: [] },
  };
  let turns = 0;
  const text = await encodeCheckpoint(data, { turn: () => Promise.resolve(void turns++) });
  const { Checksum } = JSON.parse(text) as { Checksum: number };
  assert.equal(text, JSON.stringify({ Data: data, Checksum }));
  assert.deepEqual(decodeCheckpoint(JSON.parse(text)), data);
  assert.ok(turns > 400, `${turns} turns`);
});
