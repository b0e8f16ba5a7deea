import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedMessage } from "../../../src/shared/kubernetes/bounded-reader.js";
import { AllocateResponse } from "../../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";

const allocated = (mounts: number): Uint8Array =>
  AllocateResponse.encode({
    containerResponses: [
      {
        envs: { A: "1" },
        mounts: Array.from({ length: mounts }, () => ({ containerPath: "/a", hostPath: "/b", readOnly: true })),
        ...{ devices: [], annotations: {}, cdiDevices: [] },
      },
    ],
  }).finish();

test("a message within the bound is decoded, and fields at every depth count", () => {
  const decoded = AllocateResponse.decode(boundedMessage(allocated(10), 100));
  assert.deepEqual(decoded, AllocateResponse.decode(allocated(10)));
  assert.throws(() => AllocateResponse.decode(boundedMessage(allocated(100), 100)), /more than 100 fields/);
});

test("empty messages by the million are refused after the bound", () => {
  const bomb = Buffer.alloc(4_000_000, Buffer.from([0x0a, 0]));
  assert.throws(() => AllocateResponse.decode(boundedMessage(bomb, 1000)), /more than 1000 fields/);
});
