// Metadata of a manifest that an API server would set: kept where upstream keeps it, and without effect on the pod's
// UID.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "../../../src/shared/kubernetes/api/meta.js";
import { decodeManifest } from "../../../src/workers/tasks/manifest/decode.js";

function decoded(metadata: object): { metadata?: ObjectMeta; fields: string[] } {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }] },
  };
  const origin = { kind: "file" as const, path: "/m" };
  const { pods, error = [] } = decodeManifest({ origin, text: JSON.stringify(pod), nodeName: "n" });
  const [first] = pods;
  return { ...(first && { metadata: first.metadata }), fields: error.map(({ field }) => field) };
}

const OWNER = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "1", controller: true };

test("times are kept in UTC and whole seconds; other texts are refused", () => {
  const rows: [written: unknown, kept: string | undefined][] = [
    ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"],
    ["2020-01-02T03:04:05.999+02:00", "2020-01-02T01:04:05Z"],
    ["0001-01-01T00:00:00Z", undefined],
    [null, undefined],
  ];
  for (const [creationTimestamp, kept] of rows) {
    const { metadata, fields } = decoded({ creationTimestamp });
    assert.deepEqual([metadata?.creationTimestamp, fields], [kept, []], String(creationTimestamp));
  }
  for (const creationTimestamp of ["", "yesterday", "2020-01-02", "2020-13-02T03:04:05Z", 5, true, {}]) {
    assert.deepEqual(decoded({ creationTimestamp }).fields, ["metadata.creationTimestamp"]);
  }
});

test("owners and the base of a generated name are kept, and checked as the API checks them", () => {
  const { metadata } = decoded({ ownerReferences: [OWNER], generateName: "a-" });
  assert.deepEqual(metadata?.ownerReferences, [OWNER]);
  assert.equal(metadata.generateName, "a-");
  const { uid: _uid, ...incomplete } = OWNER;
  assert.deepEqual(decoded({ ownerReferences: [incomplete] }).fields, ["metadata.ownerReferences[0].uid"]);
  assert.deepEqual(decoded({ generateName: "A_" }).fields, ["metadata.generateName"]);
});

test("an exported pod has the UID of the pod without these fields, and none of those by which it would end", () => {
  const plain = decoded({});
  const exported = decoded({
    creationTimestamp: "2020-01-02T03:04:05Z",
    ownerReferences: [OWNER],
    generateName: "a-",
    resourceVersion: "5",
    deletionTimestamp: "2020-01-02T03:04:05Z",
    managedFields: [],
  });
  assert.equal(exported.metadata?.uid, plain.metadata?.uid);
  assert.equal(exported.metadata?.deletionTimestamp, undefined);
  assert.equal(exported.metadata?.resourceVersion, undefined);
});
