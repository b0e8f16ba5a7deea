// Names that stand for one image share a key.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keysOfImage, keysOfReference } from "../../../../src/shared/kubernetes/api/image-keys.js";
import { readImageName } from "../../../../src/shared/kubernetes/api/image-name.js";

const HEX = "a".repeat(64);
const OTHER = "b".repeat(64);
const image = {
  id: `sha256:${HEX}`,
  repoTags: ["docker.io/library/busybox:latest", "registry.test:5000/team/tool:1"],
  repoDigests: [`docker.io/library/busybox@sha256:${OTHER}`],
};

const cases: [string, boolean][] = [
  ["busybox", true],
  ["busybox:latest", true],
  ["docker.io/busybox", true],
  ["docker.io/library/busybox:latest", true],
  ["registry.test:5000/team/tool:1", true],
  [`sha256:${HEX}`, true],
  [HEX, true],
  [`busybox@sha256:${OTHER}`, true],
  [`busybox:1.36@sha256:${OTHER}`, true],
  [`busybox:latest@sha256:${HEX}`, false],
  ["busybox:1.36", false],
  ["registry.test:5000/team/tool", false],
  ["registry.test/team/tool:1", false],
  [`sha256:${OTHER}`, false],
  ["", false],
  ["Not An Image", false],
];

for (const [reference, same] of cases) {
  test(`"${reference}" is ${same ? "" : "not "}the image`, () => {
    const keys = new Set(keysOfImage(image));
    assert.equal(
      keysOfReference(reference).some((key) => keys.has(key)),
      same,
    );
  });
}

test("a name that is no reference still equals itself", () => {
  assert.deepEqual(keysOfReference("Not An Image"), keysOfReference("Not An Image"));
  assert.equal(keysOfReference("Not An Image").length, 1);
});

test("an algorithm with the name of a member of JavaScript's objects is as any other unknown one", () => {
  for (const algorithm of ["md5", "constructor"]) {
    assert.equal(readImageName(`x@${algorithm}:${HEX}`), readImageName(`x@md5:${HEX}`));
  }
});
