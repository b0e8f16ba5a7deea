// A runtime with 10,000 images and 20,000 dead containers, most of them of pods that no source knows. The runtime is a
// fake: real ones would take an hour to make them.
// @promise Hostile tenants and clients: A runtime with 10,000 images and 20,000 dead containers ends no thread; a new
//   pod starts, the dead containers go, and the kubelet restarts meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ContainerConfig,
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxConfig,
  PodSandboxState,
  PodSandboxStatus,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeCri } from "../fake-cri/fake-cri.js";
import { waitFor, type TestNode } from "../harness/node.js";
import { fakeNode } from "../support/fake-runtime-node.js";
import { agentLog, metric, PATIENCE_MS, runs, sleeper } from "../support/fault-node.js";

const IMAGES = 10_000;
const PODS = 20;
const DEAD_OF_EACH = 1000;
/** Fifty times the promise: the machine may be busy with other things. */
const MOST_DELAY_SECONDS = 5;

function fill(fake: FakeCri): void {
  const { state } = fake;
  for (let at = 0; at < IMAGES; at++) fake.addImage(`registry.example/${"team/".repeat(10)}image-${at}:v1`);
  for (let at = 0; at < PODS; at++) {
    const uid = `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
    const labels = {
      "io.kubernetes.pod.name": `old-${at}`,
      "io.kubernetes.pod.namespace": "default",
      "io.kubernetes.pod.uid": uid,
    };
    const id = state.newId();
    const metadata = { name: `old-${at}`, namespace: "default", uid, attempt: 0 };
    state.sandboxes.set(id, {
      config: PodSandboxConfig.fromPartial({ metadata, labels }),
      containers: new Set(),
      status: PodSandboxStatus.fromPartial({
        ...{ id, metadata, labels, state: PodSandboxState.SANDBOX_NOTREADY, createdAt: state.nanos() },
        linux: { namespaces: { options: { network: NamespaceMode.POD } } },
      }),
    });
    for (let run = 0; run < DEAD_OF_EACH; run++) addDead(state, id, labels, run);
  }
}

function addDead(state: FakeCri["state"], sandboxId: string, podLabels: Record<string, string>, run: number): void {
  const id = state.newId();
  const metadata = { name: `c${run % 100}`, attempt: Math.floor(run / 100) };
  const labels = { ...podLabels, "io.kubernetes.container.name": metadata.name };
  const at = state.nanos();
  state.containers.set(id, {
    config: ContainerConfig.fromPartial({ metadata, labels, image: { image: "registry.example/old:1" } }),
    sandboxId,
    ignoresTerm: false,
    ended: new Set(),
    status: ContainerStatus.fromPartial({
      ...{ id, metadata, labels, state: ContainerState.CONTAINER_EXITED, exitCode: 1, reason: "Error" },
      ...{
        createdAt: at,
        startedAt: at,
        finishedAt: at,
        imageRef: "sha256:0",
        image: { image: "registry.example/old:1" },
      },
    }),
  });
  state.sandboxes.get(sandboxId)?.containers.add(id);
}

async function threadRestarts(node: TestNode): Promise<number> {
  const threads = ["pleg", "image-gc", "server", "eviction"];
  const counts = await Promise.all(threads.map((thread) => metric(node, "nodelet_thread_restarts_total", { thread })));
  return counts.reduce((sum, count) => sum + count, 0);
}

test("a full runtime delays main by no more than its share, ends no thread, and lets the kubelet restart", async (t) => {
  const { fake, node } = await fakeNode(t, {}, { recordCalls: false });
  fill(fake);
  await node.writeManifest("web", sleeper("web"));
  await node.restart();
  let slowest = 0;
  const look = async (): Promise<void> => {
    slowest = Math.max(slowest, await metric(node, "nodelet_thread_loop_delay_max_seconds", { thread: "main" }));
  };
  await node.waitFor((pods) => runs(pods, "web"), { what: "the new pod to run", timeoutMs: 4 * PATIENCE_MS });
  const dead = (): number =>
    [...fake.state.containers.values()].filter(({ status }) => status.state === ContainerState.CONTAINER_EXITED).length;
  const before = dead();
  // In the middle of the clean-up.
  await waitFor(
    async () => {
      await look();
      return dead() < before / 2 || dead() === 0;
    },
    { what: "half of the dead containers to go", timeoutMs: 4 * PATIENCE_MS, lastSeen: () => `${dead()} are left` },
  );
  assert.equal(await threadRestarts(node), 0);
  await node.kill9();
  await node.restart();
  await waitFor(
    async () => {
      await look();
      return dead() === 0;
    },
    { what: "the dead containers to go", timeoutMs: 4 * PATIENCE_MS, lastSeen: () => `${dead()} are left` },
  );
  await node.waitFor((pods) => runs(pods, "web"), { what: "the pod to run on", timeoutMs: PATIENCE_MS });
  assert.equal(await threadRestarts(node), 0);
  const failed = (await agentLog(node)).filter(({ msg }) => /relist failed|image garbage collection failed/.test(msg));
  assert.deepEqual(
    failed.map(({ msg }) => msg),
    [],
  );
  t.diagnostic(`main's longest delay: ${Math.round(slowest * 1000)} ms`);
  assert.ok(slowest < MOST_DELAY_SECONDS, `main was late by ${slowest} s`);
});
