import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test, type TestContext } from "node:test";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { PodResourcesLister, type PodResourcesPorts } from "../../../../src/main/node/pod-resources/lister.js";
import { podResourcesMetrics } from "../../../../src/main/node/pod-resources/metrics.js";
import { servePodResources } from "../../../../src/main/node/pod-resources/server.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { UnaryMethod } from "../../../../src/shared/kubernetes/plugins/connection.js";
import { PodResourcesListerService as V1 } from "../../../../src/shared/kubernetes/plugins/gen/podresources.v1.js";
import { PodResourcesListerService as Alpha } from "../../../../src/shared/kubernetes/plugins/gen/podresources.v1alpha1.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { container, pod, sidecar } from "../../resources/pods.js";

const running: Pod = pod([container("app")], { initContainers: [container("init"), sidecar("side")] }, "u-1");
const failed: Pod = {
  ...running,
  metadata: { ...running.metadata, name: "failed", uid: podUid("u-2") },
  status: { phase: "Failed" },
};
const ports: PodResourcesPorts = {
  pods: () => [running, failed],
  devices: {
    of: (uid, name) =>
      uid === "u-1" && name === "app"
        ? [
            { resource: "example.com/gpu", id: "a", nodes: [0, 1] },
            { resource: "example.com/gpu", id: "b", nodes: [] },
          ]
        : [],
    allocatable: () => [{ resource: "example.com/gpu", id: "c", nodes: [1] }],
  },
  exclusive: {
    exclusiveCpus: (_uid, name) => (name === "side" ? [2, 3] : []),
    allocatableCpus: () => [1, 2, 3],
    memoryBlocks: (_uid, name) => (name === "app" ? [{ type: "memory", size: 1024n, nodes: [0] }] : []),
    allocatableMemory: () => [{ type: "hugepages-2Mi", size: 2048n, nodes: [1] }],
  },
};
const near = (...nodes: bigint[]) => ({ nodes: nodes.map((ID) => ({ ID })) });
const gpu = (id: string, topology?: object) => ({ resourceName: "example.com/gpu", deviceIds: [id], topology });

describe("listed pods", () => {
  const lister = new PodResourcesLister(ports, true);
  const shown = {
    name: "web",
    namespace: "default",
    containers: [
      { name: "side", devices: [], cpuIds: [2n, 3n], memory: [], dynamicResources: [] },
      {
        name: "app",
        devices: [gpu("a", near(0n)), gpu("a", near(1n)), gpu("b")],
        cpuIds: [],
        memory: [{ memoryType: "memory", size: 1024n, topology: near(0n) }],
        dynamicResources: [],
      },
    ],
  };
  test("active pods: sidecars and app containers with their resources", () => {
    assert.deepEqual(lister.list(), [shown]);
    assert.deepEqual(lister.get("default", "web"), shown);
  });
  test("all pods, with the gate off", () => {
    assert.deepEqual(
      new PodResourcesLister(ports, false).list().map(({ name }) => name),
      ["web", "failed"],
    );
  });
  test("allocatable resources of the node", () => {
    assert.deepEqual(lister.allocatable(), {
      devices: [gpu("c", near(1n))],
      cpuIds: [1n, 2n, 3n],
      memory: [{ memoryType: "hugepages-2Mi", size: 2048n, topology: near(1n) }],
    });
  });
  test("v1alpha1 knows app containers and devices only", () => {
    assert.deepEqual(lister.listAlpha()[0]?.containers, [
      {
        name: "app",
        devices: ["a", "a", "b"].map((id) => ({ resourceName: "example.com/gpu", deviceIds: [id] })),
      },
    ]);
  });
  test("a node that hands out nothing lists empty", () => {
    const bare = new PodResourcesLister({ pods: () => [running] }, true);
    assert.deepEqual(bare.allocatable(), { devices: [], cpuIds: [], memory: [] });
    assert.deepEqual(bare.list()[0]?.containers[0]?.devices, []);
  });
});

async function served(t: TestContext) {
  const directory = await mkdtemp(`${tmpdir()}/nodelet-pr-`);
  const clock = new SteppedClock();
  const registry = new ThreadRegistry("main");
  const lister = new PodResourcesLister(ports, true);
  const server = await servePodResources({ directory, lister, metrics: podResourcesMetrics(registry), clock });
  assert.equal((await stat(`${directory}/kubelet.sock`)).mode & 0o777, 0o600);
  const client = new Client(`unix://${directory}/kubelet.sock`, credentials.createInsecure());
  t.after(async () => {
    client.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });
  const call = <Request, Response>(method: UnaryMethod<Request, Response>, request: Request): Promise<Response> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest<Request, Response>(
        method.path,
        (value) => method.requestSerialize(value),
        (bytes) => method.responseDeserialize(bytes),
        request,
        new Metadata(),
        (error: ServiceError | null, reply?: Response) =>
          error === null && reply !== undefined ? resolve(reply) : reject(error ?? new Error("no reply")),
      );
    });
  const count = async (name: string, version: string): Promise<number> => {
    const { families } = await registry.exportSnapshot();
    const samples = families.find((family) => family.name === `kubelet_pod_resources_endpoint_${name}`)?.samples ?? [];
    return samples.find(({ labels }) => labels["server_api_version"] === version)?.value ?? 0;
  };
  return { call, clock, count };
}

test("over the socket: both versions, an unknown pod, and the counts", async (t) => {
  const { call, count } = await served(t);
  assert.equal((await call(V1.list, {})).podResources[0]?.containers[1]?.devices.length, 3);
  assert.equal((await call(Alpha.list, {})).podResources.length, 2);
  assert.deepEqual((await call(V1.getAllocatableResources, {})).cpuIds, [1n, 2n, 3n]);
  await assert.rejects(call(V1.get, { podNamespace: "default", podName: "nobody" }), {
    code: 2,
    details: "pod nobody in namespace default not found",
  });
  assert.deepEqual(
    [
      await count("requests_total", "v1"),
      await count("requests_total", "v1alpha1"),
      await count("requests_list", "v1"),
      await count("requests_get", "v1"),
      await count("errors_get", "v1"),
      await count("requests_get_allocatable", "v1"),
    ],
    [3, 1, 1, 1, 1, 1],
  );
});

test("too many calls are refused until the bucket has filled again", async (t) => {
  const { call, clock } = await served(t);
  for (let n = 0; n < 10; n++) await call(V1.list, {});
  await assert.rejects(call(V1.list, {}), { code: 8, details: "rejected by rate limit" });
  clock.step(10);
  await call(V1.list, {});
  await assert.rejects(call(V1.list, {}), { code: 8 });
});
