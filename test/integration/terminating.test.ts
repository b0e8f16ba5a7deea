// A pod that is being stopped is Terminating everywhere, whatever its containers still do.
// @promise Command and status page: A pod that is being stopped is Terminating in `nodelet pods`, `why`, `status` and
//   on the page, static or past its deadline, before and after a restart. A pod that finalizers hold back stays listed
//   and explained until its object is gone.
// @with test/cluster/held-pods.test.ts, test/cli/why/termination.test.ts

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { startBrowser } from "../support/browser.js";
import { freePort } from "../support/free-port.js";
import { nodelet } from "../support/nodelet-command.js";
import { manifest, PATIENCE_MS, shell, statusOf, waitForPod } from "../support/static-pods.js";

/** Ignores SIGTERM from the moment when it is ready. */
const STUBBORN = shell("app", "trap '' TERM; touch /tmp/deaf; while true; do sleep 1; done", {
  readinessProbe: { exec: { command: ["test", "-e", "/tmp/deaf"] }, periodSeconds: 1 },
});
const GRACE = { spec: { terminationGracePeriodSeconds: 120 } };

describe("a pod that is being stopped", () => {
  let node: TestNode;
  let port: number;
  before(async () => {
    port = await freePort();
    node = await startNode({ flags: [`--status-page-port=${port}`] });
  });
  after(() => node.stop());

  const commands = async (name: string): Promise<string> => {
    const [pods, why, status] = await Promise.all([
      nodelet(node, "pods"),
      nodelet(node, "why", name),
      nodelet(node, "status"),
    ]);
    const text = (all: string): string => all.replace(/\s+/g, " ");
    return [
      `pods ${pods.code}: ${text(pods.stdout)}`,
      `why ${why.code}: ${text(why.stdout)}`,
      `status ${status.code}: ${text(status.stdout)}`,
    ].join("\n");
  };
  const untilShown = async (name: string, ...words: readonly RegExp[]): Promise<void> => {
    let seen = "";
    await waitFor(
      async () => {
        seen = await commands(name);
        return words.every((one) => one.test(seen));
      },
      { what: `${name} to be Terminating in each command`, timeoutMs: PATIENCE_MS, lastSeen: () => seen },
    );
    assert.doesNotMatch(seen, /is running and ready/);
  };

  test("a static pod without its manifest, in its grace period: pods, why, status and the page", async () => {
    await node.writeManifest("slow", manifest("slow", [STUBBORN], GRACE));
    await waitForPod(node, "slow", (pod) => statusOf(pod, "app")?.ready === true, "ready");
    await node.removeManifest("slow");
    await untilShown(
      "slow",
      /pods 1: .*slow-testnode 1\/1 Terminating/,
      /why 1: default\/slow-testnode is terminating pod: it is terminating \(the pod was removed from its source\)\. still running: app\. SIGKILL follows in \d+s/,
      /status 1: .*default\/slow-testnode is Terminating: nodelet why/,
    );
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`http://127.0.0.1:${port}/ui/`);
      await page.getByRole("row").filter({ hasText: "slow-testnode" }).getByText("Terminating").waitFor();
    } finally {
      await browser.close();
    }
    // The next kubelet continues the termination.
    await node.restart();
    await untilShown(
      "slow",
      /pods 1: .*slow-testnode \d\/1 Terminating/,
      /why 1: default\/slow-testnode is terminating/,
    );
  });
});
