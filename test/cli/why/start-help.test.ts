// Remedies by the message of a container that could not be started.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startHelp } from "../../../src/cli/why/start-help.js";

test("messages about sub-paths name the volume mount as what to correct", () => {
  for (const message of [
    'failed to prepare subPath for volumeMount "v" of container "c"',
    "missing value for NOT_SET",
    "error SubPath `/abs` must not be an absolute path",
  ]) {
    const [help = ""] = startHelp("CreateContainerConfigError", message, "containerd");
    assert.match(help, /^correct the subPath of the volume mount/, message);
  }
});
