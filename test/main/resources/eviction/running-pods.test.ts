// A pod as main sends it to the eviction thread: its requests as a whole, its limits, its volumes on disk; and its
// generations.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evictionPodOf } from "../../../../src/main/resources/eviction/eviction-pod.js";
import { RunningPods } from "../../../../src/main/resources/eviction/running-pods.js";
import type { EvictionAmounts } from "../../../../src/shared/contracts/eviction.js";
import type { Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { parseQuantity, printQuantity, type ExactQuantity } from "../../../../src/shared/kubernetes/api/quantity.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";

function apiPod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  const made = pod(spec);
  return { ...made, metadata: { ...made.metadata, annotations: {}, ...metadata } };
}

const text = (amounts: EvictionAmounts): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([name, one]: [string, ExactQuantity]) => [name, printQuantity(one)]));

test("requests are summed as the pod's, with overhead and the greatest of its init containers", () => {
  const evictionPod = evictionPodOf(
    apiPod({
      priority: 7,
      initContainers: [
        container("setup", { resources: { requests: { memory: "1Gi" } } }),
        container("side", { restartPolicy: "Always", resources: { requests: { memory: "50Mi" } } }),
      ],
      containers: [
        container("a", { resources: { requests: { memory: "100Mi", "ephemeral-storage": "1G" } } }),
        container("b", { resources: { limits: { memory: "200Mi", "ephemeral-storage": "2Gi" } } }),
      ],
      overhead: { memory: "10Mi" },
    }),
    "/r",
  );
  assert.deepEqual(text(evictionPod.requests), { memory: "1034Mi", ephemeralStorage: "1G" });
  assert.equal(printQuantity(evictionPod.ephemeralStorageLimit ?? parseQuantity("0")), "2Gi");
  assert.deepEqual(
    evictionPod.containers.map(({ name, requests, limits }) => [name, text(requests), text(limits)]),
    [
      ["setup", { memory: "1Gi" }, {}],
      ["side", { memory: "50Mi" }, {}],
      ["a", { memory: "100Mi", ephemeralStorage: "1G" }, {}],
      ["b", {}, { memory: "200Mi", ephemeralStorage: "2Gi" }],
    ],
  );
  const { qosClass, priority, critical, graceSeconds, podLevelMemory } = evictionPod;
  assert.deepEqual([qosClass, priority, critical, graceSeconds], ["Burstable", 7, false, 30]);
  assert.equal(podLevelMemory, undefined);
});

test("the pod's own requests count in place of its containers'", () => {
  const evictionPod = evictionPodOf(
    apiPod({
      resources: { requests: { memory: "300Mi" } },
      containers: [container("a", { resources: { requests: { memory: "100Mi" } } })],
    }),
    "/r",
  );
  assert.deepEqual(text(evictionPod.requests), { memory: "300Mi" });
  assert.equal(printQuantity(evictionPod.podLevelMemory ?? parseQuantity("0")), "300Mi");
});

// As upstream ranks: GetResourceRequestQuantity.
for (const [what, spec, requests] of [
  ["overhead alone", { overhead: { memory: "10Mi" }, containers: [container("a")] }, {}],
  [
    "a request of zero and overhead",
    { overhead: { memory: "10Mi" }, containers: [container("a", { resources: { requests: { memory: "0" } } })] },
    { memory: "0" },
  ],
  [
    "memory of its own, a container with ephemeral storage, and overhead of both",
    {
      resources: { requests: { memory: "300Mi" } },
      overhead: { memory: "10Mi", "ephemeral-storage": "1Gi" },
      containers: [container("a", { resources: { requests: { memory: "100Mi", "ephemeral-storage": "1Gi" } } })],
    },
    { memory: "310Mi" },
  ],
  [
    "processors of its own, and a container with memory",
    {
      resources: { requests: { cpu: "1" } },
      containers: [container("a", { resources: { requests: { memory: "100Mi" } } })],
    },
    {},
  ],
] as const satisfies readonly (readonly [string, Parameters<typeof apiPod>[0], Record<string, string>])[]) {
  test(`a pod with ${what} is ranked by ${JSON.stringify(requests)}`, () => {
    assert.deepEqual(text(evictionPodOf(apiPod(spec), "/r").requests), requests);
  });
}

test("only the limits of app containers count: upstream holds no sidecar to its own", () => {
  const limits = { limits: { "ephemeral-storage": "1Gi" } };
  const { containers, ephemeralStorageLimit } = evictionPodOf(
    apiPod({
      initContainers: [container("side", { restartPolicy: "Always", resources: limits })],
      containers: [container("a", { resources: limits })],
    }),
    "/r",
  );
  assert.deepEqual(
    containers.map((each) => [each.name, text(each.limits)]),
    [
      ["side", {}],
      ["a", { ephemeralStorage: "1Gi" }],
    ],
  );
  assert.equal(printQuantity(ephemeralStorageLimit ?? parseQuantity("0")), "2Gi");
});

test("a pod without requests has no amounts", () => {
  const evictionPod = evictionPodOf(apiPod({ terminationGracePeriodSeconds: 5 }), "/r");
  assert.deepEqual(
    [evictionPod.requests, evictionPod.qosClass, evictionPod.graceSeconds, evictionPod.volumes],
    [{}, "BestEffort", 5, []],
  );
  assert.equal("ephemeralStorageLimit" in evictionPod, false);
});

for (const [what, spec, metadata] of [
  ["a static pod", {}, { annotations: { "kubernetes.io/config.source": "file" } }],
  ["a mirror pod", {}, { annotations: { "kubernetes.io/config.mirror": "x" } }],
  ["a pod of system priority", { priority: 2_000_000_000 }, {}],
] as const) {
  test(`${what} is critical`, () => assert.equal(evictionPodOf(apiPod(spec, metadata), "/r").critical, true));
}

test("only volumes with a limit are sent, on the node's disk and in memory", () => {
  const { volumes } = evictionPodOf(
    apiPod({
      volumes: [
        { name: "plain", emptyDir: {} },
        { name: "small", emptyDir: { sizeLimit: "10Mi" } },
        { name: "zero", emptyDir: { sizeLimit: "0" } },
        { name: "tmp", emptyDir: { medium: "Memory" } },
        { name: "tmp-small", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
        { name: "pages", emptyDir: { medium: "HugePages", sizeLimit: "2Mi" } },
        { name: "conf", configMap: { name: "c" } },
        { name: "key", secret: { secretName: "s" } },
        { name: "host", hostPath: { path: "/" } },
        { name: "claim", persistentVolumeClaim: { claimName: "c" } },
      ],
    }),
    "/r",
  );
  assert.deepEqual(
    volumes.map(({ name, path, memory, sizeLimit }) => [
      name,
      path.replace("/r/pods/uid-web/volumes/kubernetes.io~", ""),
      memory,
      printQuantity(sizeLimit),
    ]),
    [
      ["small", "empty-dir/small", false, "10Mi"],
      ["tmp-small", "empty-dir/tmp-small", true, "1Mi"],
    ],
  );
});

test("a change beside the spec reads none of the pod's containers", () => {
  const pods = new RunningPods("/r");
  let reads = 0;
  const containers = Array.from({ length: 100 }, (_, at) => ({
    get name(): string {
      reads++;
      return `c${at}`;
    },
  }));
  const first = apiPod({ containers });
  assert.equal(pods.set(first)?.containers.length, 100);
  const before = reads;
  assert.ok(before >= 100);
  const deleted = { ...first, metadata: { ...first.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.equal(pods.set(deleted), undefined);
  assert.equal(reads, before);
  assert.equal(pods.get(podUid("uid-web"))?.pod, deleted);
});

test("another definition is another generation; a label is none; no generation comes twice", () => {
  const pods = new RunningPods("/r");
  const first = pods.set(apiPod());
  assert.equal(first?.generation, 1);
  assert.equal(pods.set(apiPod({}, { labels: { a: "b" } })), undefined);
  assert.deepEqual(pods.get(podUid("uid-web"))?.pod.metadata.labels, { a: "b" });
  assert.equal(pods.set(apiPod({ priority: 1 }))?.generation, 2);
  assert.deepEqual(
    pods.all().map(({ priority }) => priority),
    [1],
  );
  assert.equal(pods.remove(podUid("uid-web")), true);
  assert.equal(pods.remove(podUid("uid-web")), false);
  assert.deepEqual(pods.all(), []);
  assert.equal(pods.set(apiPod())?.generation, 3, "an order for its earlier life is outdated");
});
