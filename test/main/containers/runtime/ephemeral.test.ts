// An ephemeral container joins the processes of the container it is to look into.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Doer } from "../../../../src/main/containers/runtime/doer.js";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import type { EphemeralContainer } from "../../../../src/shared/kubernetes/api/pod.js";
import { NamespaceMode, type CreateContainerRequest } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { app, never, podOf, runtimeOn, startStep } from "./runtime-kit.js";

test("with its target's id it is made in the target's process namespace; without, it waits with a reason", async (t) => {
  const world = await runtimeOn(t);
  const doer = new Doer(world.runtime, podUid("uid-web"), () => undefined);
  const debug: EphemeralContainer = { ...app(), name: "debug", targetContainerName: "app" };
  const pod = podOf(app(), { ephemeralContainers: [debug] });
  const [sandbox] = await doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "" }, never);
  const step = startStep(debug, sandbox?.id ?? "", { containerKind: "ephemeral" });
  await assert.rejects(doer.execute(pod, step, never), (error) => {
    assert.ok(error instanceof StartContainerError);
    assert.equal(error.reason, "CreateContainerConfigError");
    assert.match(error.message, /^unable to find target container app$/);
    return true;
  });
  await doer.execute(pod, { ...step, targetContainerId: containerIdOf("app-id") }, never);
  const { config } = world.calls("CreateContainer").at(-1) as CreateContainerRequest;
  const options = config?.linux?.securityContext?.namespaceOptions;
  assert.deepEqual([options?.pid, options?.targetId], [NamespaceMode.TARGET, "app-id"]);
  assert.deepEqual(world.counted.slice(1), [
    "ephemeral_container CreateContainerConfigError",
    "ephemeral_container started",
  ]);
});
