// The checkpoint of ResourceClaims: upstream's form, and no reading of a damaged file.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crc32 } from "node:zlib";
import { decodeClaims, encodeClaims } from "../../../../src/main/resources/dra/checkpoint.js";
import type { ClaimState } from "../../../../src/main/resources/dra/claim-state.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

const CLAIM: ClaimState = {
  uid: "claim-uid",
  name: "gpu",
  namespace: "default",
  pods: new Set([podUid("pod-uid")]),
  drivers: new Map([
    [
      "gpu.example.com",
      [{ pool: "node-1", device: "gpu-0", requests: ["one"], cdiDevices: ["example.com/gpu=0"], shareId: "share" }],
    ],
    ["net.example.com", []],
  ]),
  prepared: false,
};

test("the file has upstream's form", () => {
  const { Data, Checksum } = JSON.parse(encodeClaims([CLAIM])) as { Data: string; Checksum: number };
  assert.equal(Checksum, crc32(Data));
  assert.deepEqual(JSON.parse(Data), {
    kind: "DRACheckpoint",
    apiVersion: "checkpoint.dra.kubelet.k8s.io/v1",
    ClaimInfoStateList: [
      {
        ClaimUID: "claim-uid",
        ClaimName: "gpu",
        Namespace: "default",
        PodUIDs: { "pod-uid": {} },
        DriverState: {
          "gpu.example.com": {
            Devices: [
              {
                PoolName: "node-1",
                DeviceName: "gpu-0",
                ShareID: "share",
                RequestNames: ["one"],
                CDIDeviceIDs: ["example.com/gpu=0"],
              },
            ],
          },
          "net.example.com": { Devices: [] },
        },
      },
    ],
  });
});

test("claims are read as they were written, but not as prepared: the drivers are called again", () => {
  assert.deepEqual(decodeClaims(JSON.parse(encodeClaims([{ ...CLAIM, prepared: true }]))), [CLAIM]);
});

test("upstream's null lists are empty", () => {
  const claim = { ClaimUID: "u", ClaimName: "n", Namespace: "ns", PodUIDs: {}, DriverState: { d: { Devices: null } } };
  const [read] = decodeClaims(fileOf({ ClaimInfoStateList: [claim] }));
  assert.deepEqual(read?.drivers, new Map([["d", []]]));
  assert.deepEqual(decodeClaims(fileOf({ ClaimInfoStateList: null })), []);
});

describe("a file that is not a checkpoint is refused", () => {
  const damaged: Record<string, unknown> = {
    "a list": [],
    "no data": {},
    "data that is no text": { Data: 1, Checksum: 1 },
    "another checksum": { ...fileOf({ ClaimInfoStateList: [] }), Checksum: 1 },
    "data that is no JSON": { Data: "{", Checksum: crc32("{") },
    "another kind": fileOf({ kind: "Checkpoint", ClaimInfoStateList: [] }),
    "another version": fileOf({ apiVersion: "checkpoint.dra.kubelet.k8s.io/v2", ClaimInfoStateList: [] }),
    "claims that are no list": fileOf({ ClaimInfoStateList: {} }),
    "a claim without UID": fileOf({ ClaimInfoStateList: [{ ClaimName: "n", Namespace: "ns" }] }),
    "a device without pool": fileOf({
      ClaimInfoStateList: [{ ClaimUID: "u", ClaimName: "n", Namespace: "ns", DriverState: { d: { Devices: [{}] } } }],
    }),
  };
  for (const [what, file] of Object.entries(damaged)) {
    test(what, () => assert.throws(() => decodeClaims(file), { name: "DraError" }));
  }
});

function fileOf(data: object): { Data: string; Checksum: number } {
  const Data = JSON.stringify({ kind: "DRACheckpoint", apiVersion: "checkpoint.dra.kubelet.k8s.io/v1", ...data });
  return { Data, Checksum: crc32(Data) };
}
