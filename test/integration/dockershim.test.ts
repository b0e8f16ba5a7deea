// --container-runtime=docker: the kubelet serves CRI over a Docker Engine in a thread of its own. Its pods outlive
// everything of it.
// @headline Docker Engine | Pods survive kills of dockerd and of the kubelet. | no restart
// @promise Docker Engine: On a Docker Engine: restart policies, exits, sandboxes, removal, probes, logs and usage are
//   as on containerd (`NODELET_TEST_RUNTIME=docker`).
// @with test/integration/pod-lifecycle.test.ts, test/integration/probes.test.ts, test/integration/logs.test.ts,
//   test/integration/pod-stats.test.ts
// @promise Docker Engine: dockerd killed or hung under pods, the kubelet killed with its CRI server: no restarts; pods
//   added meanwhile run afterwards.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Result } from "../../src/cli/doctor/check.js";
import { startDocker, type PrivateDocker } from "../../tools/standalone/docker-engine.js";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { nodelet } from "../support/nodelet-command.js";

const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";
const TIMEOUT_MS = 60_000;

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: "app",
        image: testImage(),
        command: ["sh", "-c", "while :; do sleep 1; done"],
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
      },
    ],
  },
});

const isReady = (name: string) => (pods: PodView[]) =>
  pods.some(
    ({ metadata, status }) =>
      metadata.name === `${name}-testnode` &&
      status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true,
  );

const restarts = (pods: PodView[], name: string) =>
  pods.find(({ metadata }) => metadata.name === `${name}-testnode`)?.status?.containerStatuses?.[0]?.restartCount;

suite("--container-runtime=docker", { skip: !isDocker && "needs a Docker Engine: NODELET_TEST_RUNTIME=docker" }, () => {
  let docker: PrivateDocker;
  let node: TestNode;

  before(async () => {
    const dir = join(process.env["NODELET_TEST_DIR"] ?? "", "own-docker");
    docker = await startDocker({ dir, archive: process.env["NODELET_TEST_IMAGES"] ?? "", engineOnly: true });
    node = await startNode({
      flags: ["--container-runtime", "docker", ...docker.flags],
      config: { containerRuntimeEndpoint: docker.endpoint, cgroupRoot: docker.cgroup },
    });
  });

  after(async () => {
    await node.stop();
    await docker.stop();
  });

  test("a pod with an exec probe becomes Ready", async () => {
    await node.writeManifest("first", pod("first"));
    await node.waitFor(isReady("first"), { what: "the pod to be Ready", timeoutMs: TIMEOUT_MS });
  });

  test("doctor names the Docker Engine, its unit when it is away, and the CNI directory of --cni-conf-dir", async () => {
    const doctor = async (): Promise<readonly Result[]> =>
      (JSON.parse((await nodelet(node, "-o", "json", "doctor")).stdout) as { results: Result[] }).results;
    const of = (results: readonly Result[], check: string) => results.find((one) => one.check === check);
    const up = await doctor();
    assert.match(of(up, "runtime")?.found ?? "", /^docker \d/);
    const { severity, found = "" } = of(up, "CNI configuration") ?? {};
    assert.equal(severity, "ok");
    assert.match(found, /^10-nodelet\.conflist in \//);
    await docker.kill9();
    await waitFor(
      async () =>
        (await doctor()).some(({ fix }) => fix?.endsWith("systemctl restart docker; its log: journalctl -u docker")),
      { what: "the kubelet to see that the Engine is away", timeoutMs: TIMEOUT_MS },
    );
    await docker.start();
    await node.waitFor(isReady("first"), { what: "the pod to be Ready", timeoutMs: TIMEOUT_MS });
  });

  test("dockerd killed with SIGKILL: the pod does not restart, and a pod added meanwhile runs afterwards", async () => {
    await docker.kill9();
    await node.writeManifest("second", pod("second"));
    await docker.start();
    await node.waitFor(isReady("second"), { what: "the second pod to be Ready", timeoutMs: TIMEOUT_MS });
    const pods = await node.waitFor(isReady("first"), { what: "the first pod to be Ready", timeoutMs: TIMEOUT_MS });
    assert.equal(restarts(pods, "first"), 0);
  });

  test("a hung dockerd: the kubelet stays healthy and responds, and continues when dockerd does", async () => {
    docker.signalEngine("SIGSTOP");
    await node.writeManifest("third", pod("third"));
    await node.waitFor((pods) => pods.some(({ metadata }) => metadata.name === "third-testnode"), {
      what: "the kubelet to show the third pod",
      timeoutMs: TIMEOUT_MS,
    });
    await node.kubelet.waitHealthy();
    docker.signalEngine("SIGCONT");
    const pods = await node.waitFor(isReady("third"), { what: "the third pod to be Ready", timeoutMs: TIMEOUT_MS });
    assert.equal(restarts(pods, "first"), 0);
  });

  test("the kubelet killed with SIGKILL, its CRI server with it: the next one adopts the pods", async () => {
    await node.kill9();
    await node.restart();
    const pods = await node.waitFor((all) => isReady("first")(all) && isReady("second")(all), {
      what: "both pods to be Ready",
      timeoutMs: TIMEOUT_MS,
    });
    assert.deepEqual([restarts(pods, "first"), restarts(pods, "second")], [0, 0]);
  });
});
