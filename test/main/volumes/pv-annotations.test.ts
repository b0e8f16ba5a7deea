// Annotations of persistent volumes, row by row.
// @promise Volumes: Annotations of persistent volumes for a group and mount options reach the container.
// @with test/cluster/volumes.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf, mountOptionsOf } from "../../../src/main/volumes/pv-annotations.js";
import type { PersistentVolume } from "../../../src/shared/kubernetes/api/objects.js";

const volume = (annotations: Record<string, string>, mountOptions?: string[]): PersistentVolume => ({
  metadata: { name: "pv", annotations },
  spec: { ...(mountOptions !== undefined && { mountOptions }) },
});

const GROUPS: [text: string, group: number | undefined][] = [
  ["0", 0],
  ["1234", 1234],
  ["+5", 5],
  ["4294967294", 4_294_967_294],
  ["4294967295", undefined],
  ["99999999999", undefined],
  ["-1", undefined],
  ["1e3", undefined],
  [" 7", undefined],
  ["", undefined],
];
for (const [text, group] of GROUPS) {
  test(`gid annotation ${JSON.stringify(text)}: ${group ?? "no group"}`, () => {
    assert.equal(groupOf(volume({ "pv.beta.kubernetes.io/gid": text })), group);
  });
}

test("mount options: the annotation wins over the field, each option counts once, in the order of names", () => {
  const annotated = (text: string, field?: string[]) =>
    mountOptionsOf(volume({ "volume.beta.kubernetes.io/mount-options": text }, field));
  assert.deepEqual(annotated("ro,nosuid,ro", ["noexec"]), ["nosuid", "ro"]);
  assert.deepEqual(annotated("", ["noexec"]), []);
  assert.deepEqual(mountOptionsOf(volume({}, ["sync", "noexec", "sync"])), ["noexec", "sync"]);
  assert.deepEqual(mountOptionsOf(volume({})), []);
  assert.equal(groupOf(volume({})), undefined);
});
