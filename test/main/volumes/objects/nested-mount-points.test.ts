// Directories for mounts inside a volume: the right ones, and in time that grows with the number of mounts.
// @promise Volumes: Nested mounts are found in linear time; an NFS server's name is never parsed as mount options.
// @with test/main/volumes/persistent/nfs.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { nestedMountPoints } from "../../../../src/main/volumes/object-volume/nested-mount-points.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";
import type { Pod, VolumeMount } from "../../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../../support/pods.js";
import { assertCpuBelow } from "../../../support/thread-cpu.js";

const BOUND_MS = 500;

function mounting(...volumeMounts: VolumeMount[]): Pod {
  return pod({ containers: [container("app", { volumeMounts })] });
}

const at = (name: string, mountPath: string): VolumeMount => ({ name, mountPath });

test("Only the outermost mounts inside a volume get a directory", () => {
  const mounts = [
    at("v", "/v/"),
    at("a", "/v/a"),
    at("b", "/v/a-b"),
    at("c", "/v/a/c"),
    at("d", "/va"),
    at("e", "/v/d/e"),
  ];
  assert.deepEqual(nestedMountPoints(mounting(...mounts), "v").sort(), ["a", "a-b", "d/e"]);
  assert.deepEqual(nestedMountPoints(mounting(...mounts), "a"), ["c"]);
  assert.deepEqual(nestedMountPoints(mounting(...mounts), "other"), []);
});

test("Mounts of a volume inside itself, and mounts of several containers, count", () => {
  const containers = [
    container("one", { volumeMounts: [at("v", "/v"), at("v", "/v/self"), at("x", "/v/self/x")] }),
    container("two", { volumeMounts: [at("v", "/w"), at("x", "/w/y")] }),
  ];
  assert.deepEqual(nestedMountPoints(pod({ containers }), "v").sort(), ["self", "x", "y"]);
});

test("A mount path that leads upwards is refused", () => {
  assert.throws(() => nestedMountPoints(mounting(at("v", "../x")), "v"), VolumeError);
});

test("10,000 mounts of one volume cost milliseconds, side by side and one in the other", () => {
  const flat = Array.from({ length: 10_000 }, (_, index) => at("v", `/mnt/${index}`));
  const deep = Array.from({ length: 10_000 }, (_, index) => at("v", `/mnt/${"d/".repeat(index % 50)}${index}`));
  for (const mounts of [flat, deep]) {
    const request = mounting(...mounts);
    assertCpuBelow(BOUND_MS, () => nestedMountPoints(request, "v"));
  }
});
