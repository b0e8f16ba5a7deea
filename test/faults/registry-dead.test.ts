// A registry that stops responding in the middle of a pull, then exits. One pod waits and the others start; the
// waiting pod continues when the registry is back.
// @promise Images and logs: A registry that stops responding during a pull and dies blocks only its own pod. The pod
//   continues when it is back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { FailingProxy } from "../support/failing-proxy.js";
import { firstStatus, PATIENCE_MS, runs, sleeper } from "../support/fault-node.js";
import { startRegistry, type TestRegistry } from "../support/registry.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

const PADDING = 1_000_000;
/** In the middle of that. */
const SILENT_AFTER = 200_000;

describe("a registry on a bad day", () => {
  let registry: TestRegistry;
  let proxy: FailingProxy;
  let node: TestNode;

  before(async () => {
    registry = await startRegistry({ auth: false });
    const archive = process.env["NODELET_TEST_IMAGES"] ?? "";
    await registry.push({ archive, source: testImage(), repository: "app", tag: "1", padding: PADDING });
    proxy = await FailingProxy.start(registry.address);
    node = await startNode();
  });
  after(async () => {
    await proxy.die();
    await node.stop();
    await registry.stop();
  });

  test("silence during a pull delays no other pod; the failure is reported; pods recover without help", async () => {
    proxy.silentAfter(SILENT_AFTER);
    const app = shell("app", IDLE, { image: `${proxy.address}/app:1` });
    await node.writeManifest("stuck", manifest("stuck", [app]));
    await waitFor(() => proxy.isSilent, { what: "the registry to go silent", timeoutMs: PATIENCE_MS });

    await node.writeManifest("other", sleeper("other"));
    const seen = await node.waitFor((pods) => runs(pods, "other"), {
      what: "the other pod to run",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal(firstStatus(seen, "stuck")?.state.waiting?.reason, "ContainerCreating");

    await proxy.die();
    const reason = (pods: Parameters<typeof firstStatus>[0]) => firstStatus(pods, "stuck")?.state.waiting?.reason ?? "";
    const failed = await node.waitFor((pods) => /^(ErrImagePull|ImagePullBackOff)$/.test(reason(pods)), {
      what: "the pull to fail",
      timeoutMs: PATIENCE_MS,
    });
    assert.match(firstStatus(failed, "stuck")?.state.waiting?.message ?? "", /\/app:1/);

    await proxy.revive();
    await node.waitFor((pods) => runs(pods, "stuck") && runs(pods, "other"), {
      what: "both pods to run",
      timeoutMs: PATIENCE_MS,
    });
  });
});
