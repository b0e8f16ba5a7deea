// Sub-paths of volumes that cannot be used: the message is upstream's, the same at each try, and the log has the cause.

import assert from "node:assert/strict";
import { test } from "node:test";
import { preparedSubPaths } from "../../../../src/main/containers/runtime/sub-paths.js";
import { CreateContainerConfigError } from "../../../../src/main/model/container-config-error.js";
import { SubPathError } from "../../../../src/shared/node/volume-calls/errors.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";

test("a sub-path that leads nowhere fails the container with upstream's message", async () => {
  const { log, warnings } = keptLog();
  const one = pod();
  const [app] = one.spec.containers;
  assert.ok(app);
  const container = { ...app, volumeMounts: [{ name: "v", mountPath: "/v", subPath: "file/x" }] };
  const volumes = {
    prepareSubPath: () =>
      Promise.reject(new SubPathError("file/x", "ENOTDIR: not a directory, open '/proc/self/fd/82/x'")),
  } as unknown as Parameters<typeof preparedSubPaths>[0]["volumes"];
  const sources = { environment: new Map<string, string>(), volumes: new Map([["v", { hostPath: "/host/v" }]]) };
  await assert.rejects(
    preparedSubPaths({ volumes, log }, one, container, sources, new AbortController().signal),
    (error) =>
      error instanceof CreateContainerConfigError &&
      error.message === `failed to prepare subPath for volumeMount "v" of container "${app.name}"`,
  );
  assert.match(warnings().join("\n"), /ENOTDIR/);
});
