import assert from "node:assert/strict";
import { test } from "node:test";
import { DynamicResourcesError } from "../../../../src/main/model/pod-claims.js";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import { faultField } from "../../../../src/main/pods/sync/user-made-failures.js";
import { VolumesNotReadyError, VolumeSetUpError } from "../../../../src/main/volumes/errors.js";
import { makePod } from "../status/fixtures.js";

const table: [string, Error, boolean][] = [
  ["a key that is missing", new StartContainerError("CreateContainerConfigError", "no key"), false],
  ["an image that can't be pulled", new StartContainerError("ErrImagePull", "not found"), false],
  ["an image waited for", new StartContainerError("ImagePullBackOff", "Back-off"), false],
  ["an image's bad name", new StartContainerError("InvalidImageName", "no name"), false],
  ["a config map that is missing", new VolumesNotReadyError("not found", ["config"]), false],
  ["resource claims that cannot be prepared", new DynamicResourcesError("no driver"), false],
  ["one volume", new VolumeSetUpError(makePod(), "config", "not found"), false],
  ["the runtime's refusal", new StartContainerError("CreateContainerError", "no such path"), true],
  ["anything else", new TypeError("undefined is no function"), true],
];
for (const [name, error, hasStack] of table) {
  test(`the log ${hasStack ? "shows" : "leaves out"} the stack of ${name}`, () =>
    assert.deepEqual(faultField(error), hasStack ? { err: error } : {}));
}
