// A healthy node without a cluster is quiet: no command and no log line warns of something that such a node cannot
// have.
// @promise Command and status page: A healthy node without a cluster has no Warning but those about the machine, in
//   events, log, `status` and `why`.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Event } from "../../src/shared/kubernetes/api/event.js";
import { startNode } from "../harness/node.js";
import { nodelet } from "../support/nodelet-command.js";
import { conditionsOf, IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";

/** Warnings about the machine of the test, not about the node or its pods. */
const OF_THE_MACHINE = ["CgroupV1", "SystemOOM"];

test("a healthy node without a cluster warns about nothing, cluster DNS included", async (t) => {
  const node = await startNode();
  t.after(() => node.stop());
  // As the examples of `npm start`: the API's default, ClusterFirst.
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)], { spec: { dnsPolicy: "ClusterFirst" } }));
  await waitForPod(node, "web", (pod) => conditionsOf(pod)["Ready"] === "True", "ready");
  const events = JSON.parse((await nodelet(node, "events", "--warnings", "-o", "json")).stdout) as { items: Event[] };
  assert.deepEqual(
    events.items
      .map(({ reason, message }) => ({ reason, message }))
      .filter(({ reason }) => !OF_THE_MACHINE.includes(reason)),
    [],
  );
  const status = await nodelet(node, "status");
  assert.match(status.stdout, /nothing is wrong/);
  assert.equal(status.code, 0);
  const why = await nodelet(node, "why", "web");
  assert.match(why.stdout, /is running and ready/);
  assert.doesNotMatch(why.stdout, /DNS/);
  assert.equal(why.code, 0);
  assert.doesNotMatch(await readFile(node.kubelet.log, "utf8"), /MissingClusterDNS|ClusterDNS/);
});
