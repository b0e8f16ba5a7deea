// A CRI call that never returns holds up its own pod and nothing else.
// @promise Failures: A call that hangs for one pod delays no other pod.
// @promise Failures: A container or PodSandbox that the runtime refuses to remove three times keeps neither its pod's
//   object nor its volumes; container GC tries again.
// @with test/main/pods/sync/pod-worker.test.ts

import assert from "node:assert/strict";
import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isHealthy, podTable } from "../../tools/standalone/pods.js";
import { startFakeCri, type FakeCri } from "../fake-cri/fake-cri.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { firstStatus, identities, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";

const MANY = Array.from({ length: 20 }, (_, index) => `many-${index}`);
const pod = (name: string): { pod: string } => ({ pod: `${name}-testnode` });

describe("calls that hang", () => {
  let dir: string;
  let fake: FakeCri;
  let node: TestNode;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-hung-"));
    fake = await startFakeCri({ socketPath: join(dir, "cri.sock"), images: [testImage()] });
    node = await startNode({ config: { containerRuntimeEndpoint: fake.endpoint, runtimeRequestTimeout: "10m" } });
  });
  after(async () => {
    await node.stop();
    await fake.stop();
    await rm(dir, { recursive: true });
  });

  test("RunPodSandbox, ContainerStatus and StopContainer of one pod each, while 20 others start", async () => {
    const started = ["stuck-status", "stuck-stop", "leaves"];
    for (const name of started) await node.writeManifest(name, sleeper(name));
    const first = await node.waitFor((pods) => started.every((name) => runs(pods, name)), {
      what: "the first pods to run",
      timeoutMs: PATIENCE_MS,
    });
    const before = identities(first, ["stuck-status"]);

    fake.failpoint("RunPodSandbox", "hang", pod("stuck-run"));
    fake.failpoint("ContainerStatus", "hang", pod("stuck-status"));
    fake.failpoint("StopContainer", "hang", pod("stuck-stop"));
    const stuckId = firstStatus(first, "stuck-status")?.containerID?.replace(/^.*:\/\//, "") ?? "";
    fake.exit(stuckId, 0);
    await node.removeManifest("stuck-stop");
    await node.writeManifest("stuck-run", sleeper("stuck-run"));
    await waitFor(() => ["RunPodSandbox", "ContainerStatus", "StopContainer"].every((verb) => hangs(verb)), {
      what: "one call of each verb to hang",
      timeoutMs: PATIENCE_MS,
      lastSeen: async () => podTable(await node.pods()),
    });

    for (const name of MANY) await node.writeManifest(name, sleeper(name));
    const running = await node.waitFor((pods) => MANY.every((name) => runs(pods, name)), {
      what: "20 pods to run beside those that hang",
      timeoutMs: PATIENCE_MS,
    });
    assert.ok(hangs("RunPodSandbox") && hangs("StopContainer"), "the calls hung all the while");
    assert.equal(podOf(running, "stuck-run")?.status?.phase, "Pending");
    assert.ok(podOf(running, "stuck-stop") !== undefined, "a pod whose stop hangs is still shown");
    assert.deepEqual(identities(running, ["stuck-status"]), before, "unknown news are no news");
    assert.ok(await isHealthy(node.kubelet.healthzUrl));

    // Exits are seen and removals done as ever.
    const exiting = firstStatus(running, "many-0")?.containerID?.replace(/^.*:\/\//, "") ?? "";
    fake.exit(exiting, 3);
    await node.removeManifest("leaves");
    await node.waitFor(
      (pods) =>
        firstStatus(pods, "many-0")?.lastState.terminated?.exitCode === 3 && podOf(pods, "leaves") === undefined,
      { what: "an exit to be seen and a pod to go", timeoutMs: PATIENCE_MS },
    );

    for (const verb of ["RunPodSandbox", "ContainerStatus", "StopContainer"] as const) fake.failpoint(verb, "off");
    const end = await node.waitFor(
      (pods) =>
        runs(pods, "stuck-run") &&
        podOf(pods, "stuck-stop") === undefined &&
        firstStatus(pods, "stuck-status")?.restartCount === 1,
      { what: "the pods that hung to be as wanted", timeoutMs: PATIENCE_MS },
    );
    assert.equal(end.length, MANY.length + 2);
    await waitFor(() => fake.state.sandboxes.size === end.length, {
      what: "one sandbox per pod",
      timeoutMs: PATIENCE_MS,
      lastSeen: () => `${fake.state.sandboxes.size} sandboxes of ${end.length} pods`,
    });
  });

  // containerd can be left with a container that no call removes: https://github.com/containerd/containerd/issues/11037.
  test("a PodSandbox that the runtime does not remove keeps neither its pod nor the pod's folder", async () => {
    await node.writeManifest("kept", sleeper("kept"));
    const running = await node.waitFor((pods) => runs(pods, "kept"), {
      what: "the pod to run",
      timeoutMs: PATIENCE_MS,
    });
    const uid = podOf(running, "kept")?.metadata.uid ?? "";
    const folder = join(node.kubelet.rootDir, "pods", uid);
    await access(folder);
    const before = fake.state.sandboxes.size;
    const refusal = "error(FAILED_PRECONDITION: cannot delete running task)";
    fake.failpoint("RemovePodSandbox", refusal, pod("kept"));
    await node.removeManifest("kept");
    await node.waitFor((pods) => podOf(pods, "kept") === undefined, {
      what: "the pod to be removed although its sandbox is not",
      timeoutMs: PATIENCE_MS,
    });
    const isFolderGone = (): Promise<boolean> =>
      access(folder).then(
        () => false,
        () => true,
      );
    await waitFor(isFolderGone, { what: "the pod's folder to be removed", timeoutMs: PATIENCE_MS });
    assert.equal(fake.state.sandboxes.size, before, "the sandbox is still in the runtime");
    const warning = /does not remove the pod's sandboxes and containers.*cannot delete running task/;
    await waitFor(async () => warning.test(await readFile(node.kubelet.log, "utf8")), {
      what: "a message about the sandbox",
      timeoutMs: PATIENCE_MS,
    });
  });

  function hangs(verb: string): boolean {
    return fake.calls.some((call) => call.verb === verb && call.endedAt === undefined);
  }
});
