// Static pods keep the UID under which another kubelet started them, if the definition is certainly the same.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { containerHash } from "../../../../src/main/model/container-hash.js";
import { earlierUid, type RunningPods } from "../../../../src/main/pods/sources/earlier-uid.js";
import { StaticPodUids } from "../../../../src/main/pods/sources/static-pod-uids.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  PodSandboxState,
  type Container,
  type PodSandbox,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { type PodUid, podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod as makePod } from "../../../support/pods.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";

const EARLIER = "0123456789abcdef0123456789abcdef";
const CHANGED_AT = 1000n;

/** As the file source delivers it: the UID is this kubelet's. */
function staticPod(uid: PodUid, name = "etcd"): Pod {
  const { metadata, ...rest } = makePod({ containers: [{ name: "app", image: "etcd:1" }] });
  const annotations = { owner: "me", "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": uid };
  const own = { name, namespace: "kube-system", uid, labels: { tier: "control" }, annotations };
  return { ...rest, metadata: { ...metadata, ...own } };
}

function sandbox(change: Partial<PodSandbox> = {}, uid = EARLIER): PodSandbox {
  return {
    ...{ id: "s", state: PodSandboxState.SANDBOX_READY, createdAt: CHANGED_AT + 1n, runtimeHandler: "" },
    metadata: { name: "etcd", namespace: "kube-system", uid, attempt: 0 },
    labels: {
      tier: "control",
      "io.kubernetes.pod.name": "etcd",
      "io.kubernetes.pod.namespace": "kube-system",
      "io.kubernetes.pod.uid": uid,
    },
    annotations: {
      owner: "me",
      "kubernetes.io/config.source": "file",
      "kubernetes.io/config.hash": uid,
      "kubernetes.io/config.seen": "2026-01-01T00:00:00Z",
    },
    ...change,
  };
}

function container(change: Partial<Container> = {}, name = "app", image = "etcd:1"): Container {
  return {
    ...{ id: "c", podSandboxId: "s", image: undefined, imageRef: "", imageId: "", createdAt: 0n },
    metadata: { name, attempt: 0 },
    state: ContainerState.CONTAINER_RUNNING,
    labels: { "io.kubernetes.pod.uid": EARLIER, "io.kubernetes.container.name": name },
    annotations: { "io.kubernetes.container.hash": containerHash({ name, image }) },
    ...change,
  };
}

describe("the UID under which a static pod runs", () => {
  const { labels, annotations } = sandbox();
  const rows: readonly [string, RunningPods, string | undefined][] = [
    ["a PodSandbox and a container of it", { sandboxes: [sandbox()], containers: [container()] }, EARLIER],
    ["a PodSandbox alone", { sandboxes: [sandbox()], containers: [] }, EARLIER],
    [
      "an ended container of another image",
      {
        sandboxes: [sandbox()],
        containers: [container(), container({ state: ContainerState.CONTAINER_EXITED }, "app", "etcd:0")],
      },
      EARLIER,
    ],
    ["two PodSandboxes of one UID", { sandboxes: [sandbox(), sandbox({ id: "t" })], containers: [] }, EARLIER],
    ["nothing", { sandboxes: [], containers: [] }, undefined],
    ["a PodSandbox that is older than the manifest", one({ createdAt: CHANGED_AT - 1n }), undefined],
    ["a PodSandbox of the same instant", one({ createdAt: CHANGED_AT }), undefined],
    ["a PodSandbox that is not ready", one({ state: PodSandboxState.SANDBOX_NOTREADY }), undefined],
    ["another name", one({ labels: { ...labels, "io.kubernetes.pod.name": "other" } }), undefined],
    ["another namespace", one({ labels: { ...labels, "io.kubernetes.pod.namespace": "other" } }), undefined],
    ["another label", one({ labels: { ...labels, tier: "data" } }), undefined],
    ["one label more", one({ labels: { ...labels, more: "" } }), undefined],
    ["another annotation", one({ annotations: { ...annotations, owner: "you" } }), undefined],
    ["a pod of the API", one({ annotations: { ...annotations, "kubernetes.io/config.source": "api" } }), undefined],
    [
      "a hash that is not the UID",
      one({ annotations: { ...annotations, "kubernetes.io/config.hash": "x" } }),
      undefined,
    ],
    ["a UID that cannot name a directory", { sandboxes: [sandbox({}, "../x")], containers: [] }, undefined],
    ["two UIDs", { sandboxes: [sandbox(), sandbox({}, `${EARLIER}0`)], containers: [] }, undefined],
    [
      "a running container of another image",
      { sandboxes: [sandbox()], containers: [container({}, "app", "etcd:0")] },
      undefined,
    ],
    [
      "a running container that the definition lacks",
      { sandboxes: [sandbox()], containers: [container({}, "gone")] },
      undefined,
    ],
  ];
  for (const [what, running, expected] of rows) {
    test(`${expected === undefined ? "not taken over" : "taken over"}: ${what}`, () => {
      assert.equal(earlierUid(staticPod(podUid("own")), CHANGED_AT, running), expected);
    });
  }

  function one(change: Partial<PodSandbox>): RunningPods {
    return { sandboxes: [sandbox(change)], containers: [] };
  }
});

class Node {
  onDisk = [podUid(EARLIER)];
  running: RunningPods = { sandboxes: [sandbox()], containers: [container()] };
  changedAt: bigint | undefined = CHANGED_AT;
  asked = 0;
  failures = 0;
  readonly delivered: string[] = [];

  constructor(readonly folder: string) {}

  start(): StaticPodUids {
    return new StaticPodUids({
      path: join(this.folder, "static_pod_uids"),
      uidsOnDisk: () => Promise.resolve(this.onDisk),
      runningPods: () => {
        this.asked++;
        return this.failures-- > 0 ? Promise.reject(new Error("no runtime")) : Promise.resolve(this.running);
      },
      changedAt: () => Promise.resolve(this.changedAt),
      changes: {
        deliver: (_source, pods, complete) =>
          void this.delivered.push(
            `${pods.map(({ metadata: { uid, annotations } }) => `${uid}/${annotations?.["kubernetes.io/config.hash"]}`).join()} ${complete}`,
          ),
      },
      clock: systemClock,
      log: keptLog().log,
    });
  }

  settled(count: number): Promise<void> {
    return until("a delivery", () => this.delivered.length >= count);
  }
}

describe("static pods of another kubelet", () => {
  const build = async (t: TestContext) => new Node(await temporaryFolder(t));

  test("a pod is delivered under the UID and hash that it runs with, by the next kubelet too, for a manifest of any age", async (t) => {
    const node = await build(t);
    const uids = node.start();
    uids.deliver([staticPod(podUid("own"))], true);
    await node.settled(1);
    await uids.stop();
    assert.deepEqual(node.delivered, [`${EARLIER}/${EARLIER} true`]);

    node.changedAt = 10_000n;
    const next = node.start();
    next.deliver([staticPod(podUid("own"))], true);
    await node.settled(2);
    await next.stop();
    assert.deepEqual([node.delivered[1], node.asked], [`${EARLIER}/${EARLIER} true`, 1]);
  });

  test("a recorded UID without a directory is forgotten", async (t) => {
    const node = await build(t);
    const uids = node.start();
    uids.deliver([staticPod(podUid("own"))], true);
    await node.settled(1);
    await uids.stop();
    node.onDisk = [podUid("other")];
    node.running = { sandboxes: [], containers: [] };
    const next = node.start();
    next.deliver([staticPod(podUid("own"))], true);
    await node.settled(2);
    await next.stop();
    assert.equal(node.delivered[1], "own/own true");
    assert.deepEqual(JSON.parse(await readFile(join(node.folder, "static_pod_uids"), "utf8")), {
      version: 1,
      uids: {},
    });
  });

  for (const [what, onDisk] of [
    ["no pod has a directory", []],
    ["the pod has one under its own UID", [EARLIER, "own"]],
  ] as const) {
    test(`the runtime is not called when ${what}`, async (t) => {
      const node = await build(t);
      node.onDisk = onDisk.map(podUid);
      const uids = node.start();
      uids.deliver([staticPod(podUid("own"))], true);
      await node.settled(1);
      await uids.stop();
      assert.deepEqual([node.delivered, node.asked], [["own/own true"], 0]);
      await assert.rejects(readFile(join(node.folder, "static_pod_uids")), /ENOENT/);
    });
  }

  test("pods wait until the runtime responds, and the newest set counts", async (t) => {
    const node = await build(t);
    node.failures = 1;
    const uids = node.start();
    uids.deliver([staticPod(podUid("own"))], false);
    await until("the first question", () => node.asked === 1);
    uids.deliver([staticPod(podUid("own")), staticPod(podUid("another"), "apiserver")], true);
    assert.deepEqual(node.delivered, []);
    await node.settled(1);
    await uids.stop();
    assert.deepEqual(node.delivered, [`${EARLIER}/${EARLIER},another/another true`]);
  });

  test("a pod that comes after the first whole set keeps the computed UID, at once", async (t) => {
    const node = await build(t);
    node.running = { sandboxes: [], containers: [] };
    const uids = node.start();
    uids.deliver([], true);
    assert.deepEqual(node.delivered, [" true"]);
    node.running = { sandboxes: [sandbox()], containers: [] };
    uids.deliver([staticPod(podUid("own"))], true);
    assert.deepEqual(node.delivered, [" true", "own/own true"]);
    await uids.stop();
  });

  test("a removed manifest keeps the computed UID", async (t) => {
    const node = await build(t);
    node.changedAt = undefined;
    const uids = node.start();
    uids.deliver([staticPod(podUid("own"))], true);
    await node.settled(1);
    await uids.stop();
    assert.deepEqual(node.delivered, ["own/own true"]);
  });

  test("stop ends the wait for the runtime, and nothing is delivered", async (t) => {
    const node = await build(t);
    node.failures = Infinity;
    const uids = node.start();
    uids.deliver([staticPod(podUid("own"))], true);
    await until("the first question", () => node.asked === 1);
    await uids.stop();
    assert.deepEqual(node.delivered, []);
  });
});
