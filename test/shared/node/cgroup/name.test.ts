import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import * as names from "../../../../src/shared/node/cgroup/name.js";

const pod = ["kubepods", "burstable", "pod1234-ab"];

test("both spellings of a burstable pod", () => {
  assert.equal(names.toCgroupfs(pod), "/kubepods/burstable/pod1234-ab");
  assert.equal(
    names.toSystemdPath(pod),
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_ab.slice",
  );
  assert.equal(names.criCgroupParent(pod, "cgroupfs"), "/kubepods/burstable/pod1234-ab");
  assert.equal(names.criCgroupParent(pod, "systemd"), "kubepods-burstable-pod1234_ab.slice");
  assert.equal(names.toCgroupfs([]), "/");
  assert.equal(names.toSystemdPath([]), "/");
  assert.equal(names.sliceName([]), "-.slice");
});

test("cgroupRoot in every spelling", () => {
  const rows: readonly [string, names.CgroupDriver, string[]][] = [
    ["/", "cgroupfs", []],
    ["/", "systemd", []],
    ["", "systemd", []],
    ["/a/b-c/", "cgroupfs", ["a", "b-c"]],
    ["/a/b-c", "systemd", ["a", "b-c"]],
    ["a-b_c.slice", "systemd", ["a", "b-c"]],
    ["/a.slice/a-b_c.slice", "systemd", ["a", "b-c"]],
    ["-.slice", "systemd", []],
    ["/a.slice", "cgroupfs", ["a.slice"]],
  ];
  for (const [path, driver, expected] of rows) assert.deepEqual(names.parseCgroupRoot(path, driver), expected, path);
  assert.deepEqual(names.slicePath(["a", "b-c"]), ["a.slice", "a-b_c.slice"]);
});

test("places by QoS class", () => {
  assert.deepEqual(names.qosCgroupName(["r"], "Guaranteed", true), ["r", "kubepods"]);
  assert.deepEqual(names.qosCgroupName([], "Burstable", true), ["kubepods", "burstable"]);
  assert.deepEqual(names.qosCgroupName([], "BestEffort", true), ["kubepods", "besteffort"]);
  assert.deepEqual(names.qosCgroupName(["r"], "BestEffort", false), ["r"]);
  assert.deepEqual(names.podCgroupName(["kubepods"], podUid("u-1")), ["kubepods", "podu-1"]);
});

test("pod UIDs are found in both spellings, other directories are not pods", () => {
  assert.equal(names.podUidOf("pod1234-ab", "cgroupfs"), "1234-ab");
  assert.equal(names.podUidOf("kubepods-burstable-pod1234_ab.slice", "systemd"), "1234-ab");
  for (const other of ["burstable", "besteffort", "pod", "x"])
    assert.equal(names.podUidOf(other, "cgroupfs"), undefined);
  assert.equal(names.podUidOf("kubepods-burstable.slice", "systemd"), undefined);
});

test("a systemd name leads back to its path", () => {
  const element = fc.stringMatching(/^[a-z0-9.-]{1,12}$/).filter((text) => text !== "-");
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 5 }), (name) => {
      assert.deepEqual(names.fromSystemdSlice(names.sliceName(name)), name);
      assert.deepEqual(names.fromSystemdSlice(names.toSystemdPath(name)), name);
      assert.deepEqual(names.parseCgroupPath(names.toCgroupfs(name)), name);
    }),
  );
});
