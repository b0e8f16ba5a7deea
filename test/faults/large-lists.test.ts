// Annotations of pods that together do not fit into one message of the runtime. Annotations are the sandbox's, since
// runtimes and network plugins read them, so the kubelet lists such sandboxes pod by pod (docs/adr/0076).

import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeNode } from "../support/fake-runtime-node.js";
import { agentLog, PATIENCE_MS, runs, sleeper } from "../support/fault-node.js";

const PODS = 72;
/** The API server's limit for all annotations of a pod. */
const ANNOTATION_BYTES = 250 * 1024;

test("pods with large annotations are adopted by the next kubelet, and it starts a new pod", async (t) => {
  const { fake, node } = await fakeNode(t, { maxPods: 110 });
  const names = Array.from({ length: PODS }, (_, index) => `note${index}`);
  for (const name of names) {
    const made = sleeper(name) as { metadata: object };
    await node.writeManifest(name, {
      ...made,
      metadata: { ...made.metadata, annotations: { note: "x".repeat(ANNOTATION_BYTES) } },
    });
  }
  await node.restart();
  const allRun = (extra: readonly string[] = []) => ({
    what: `${PODS} pods to run`,
    timeoutMs: 4 * PATIENCE_MS,
    condition: (pods: Awaited<ReturnType<typeof node.pods>>) => [...names, ...extra].every((name) => runs(pods, name)),
  });
  const first = allRun();
  await node.waitFor(first.condition, first);
  const sandboxes = (): number => fake.calls.filter(({ verb }) => verb === "RunPodSandbox").length;
  assert.equal(sandboxes(), PODS);
  await node.kill9();
  await node.writeManifest("late", sleeper("late"));
  await node.restart();
  const second = allRun(["late"]);
  await node.waitFor(second.condition, second);
  assert.equal(sandboxes(), PODS + 1, "running pods were adopted");
  const lines = await agentLog(node);
  assert.ok(
    lines.some(({ msg }) => msg.includes("sandboxes is too large for one message")),
    "the log says so",
  );
  assert.deepEqual(
    lines.filter(({ msg }) => msg.startsWith("relist failed")).map(({ msg }) => msg),
    [],
  );
});
