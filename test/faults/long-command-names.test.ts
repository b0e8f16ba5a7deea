// A command whose name is far longer than a path may be: of a container, an exec probe and a hook. The container or the
// probe fails, and the pod goes.
// @promise Hostile tenants and clients: A pod whose commands have names of 100 KB fails, and goes when it is removed.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startNode, testImage, type TestNode } from "../harness/node.js";
import { manifest, shell, statusOf, waitForPod, waitGone } from "../support/static-pods.js";

const LONG = ["x".repeat(100_000)];

describe("names of commands", () => {
  let node: TestNode;

  before(async () => {
    node = await startNode();
  });
  after(() => node.stop());

  test("a container whose command has such a name fails, and its pod goes", async () => {
    await node.writeManifest("own", manifest("own", [{ name: "app", image: testImage(), command: LONG }]));
    const failed = await waitForPod(
      node,
      "own",
      (one) => /file name too long/.test(statusOf(one, "app")?.state.waiting?.message ?? ""),
      "failed",
    );
    assert.equal(statusOf(failed, "app")?.ready, false);
    await node.removeManifest("own");
    await waitGone(node, "own");
  });

  test("a probe and a hook with such a name fail, and the pod goes", async () => {
    const exec = { command: LONG };
    const app = shell("app", "sleep 1000", {
      readinessProbe: { exec, periodSeconds: 1, timeoutSeconds: 1 },
      lifecycle: { preStop: { exec } },
    });
    await node.writeManifest("probed", manifest("probed", [app]));
    await waitForPod(node, "probed", (one) => statusOf(one, "app")?.state.running !== undefined, "running");
    await node.removeManifest("probed");
    await waitGone(node, "probed");
  });
});
