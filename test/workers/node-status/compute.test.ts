// The computed Node: resources, identity, runtime, and fields of other owners.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime, wallTime } from "../../../src/shared/base/clock/moments.js";
import type { Node, NodeStatus } from "../../../src/shared/kubernetes/api/node.js";
import { computeNode, type StatusInput } from "../../../src/workers/node-status/compute.js";
import { nodeChanged } from "../../../src/workers/node-status/patch.js";
import { newNode } from "../../../src/workers/node-status/registration.js";
import { runtimeVersion } from "../../../src/workers/node-status/runtime-version.js";
import { FACTS, INIT, MACHINE, statusInput } from "./node-status-kit.js";

const compute = (status: NodeStatus, input: Partial<StatusInput> = {}): Node =>
  computeNode({ metadata: { name: "n1" }, status }, statusInput(input)).node;

test("a new node, whole", () => {
  const facts = {
    ...FACTS,
    images: [{ names: ["a:1"], sizeBytes: 5 }],
    volumesInUse: ["b", "a"],
    runtime: {
      ...FACTS.runtime!,
      details: {
        ...FACTS.runtime!.details,
        handlers: [{ name: "runc", recursiveReadOnlyMounts: true, userNamespaces: false }],
        supplementalGroupsPolicy: true,
        userNamespacesHostNetwork: true,
      },
    },
  };
  const input = statusInput({
    facts,
    machine: { ...MACHINE, swapCapacity: 1024 },
    init: { ...INIT, declaredFeatures: ["F", "UserNamespacesHostNetworkSupport"] },
  });
  const { node, events, addressError } = computeNode(newNode(INIT), input);
  const { conditions, ...status } = node.status ?? {};
  deepEqual(status, {
    capacity: FACTS.capacity,
    allocatable: FACTS.allocatable,
    addresses: [
      { type: "InternalIP", address: "10.0.0.5" },
      { type: "Hostname", address: "n1" },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: "m1",
      systemUUID: "s1",
      bootID: "b1",
      kernelVersion: "6.1.0",
      osImage: "Debian GNU/Linux 12 (bookworm)",
      containerRuntimeVersion: "containerd://1.6.20",
      kubeletVersion: "v1.36.0",
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
      swap: { capacity: 1024 },
    },
    images: [{ names: ["a:1"], sizeBytes: 5 }],
    volumesInUse: ["a", "b"],
    runtimeHandlers: [{ name: "runc", features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
    features: { supplementalGroupsPolicy: true },
    declaredFeatures: ["F", "UserNamespacesHostNetworkSupport"],
  });
  equal(conditions?.at(-1)?.status, "True");
  deepEqual(
    events.map(({ reason }) => reason),
    ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"],
  );
  equal(addressError, undefined);
  equal(
    nodeChanged(node, computeNode(node, { ...input, wallMs: wallTime(60_000), nowMs: monotonicTime(60_000) }).node),
    false,
  );
});

test("extended resources stay; huge pages of a size that the kernel no longer has are removed", () => {
  const old = { capacity: { cpu: "1", "example.com/gpu": "4", "hugepages-1Gi": "2Gi" }, allocatable: { cpu: "1" } };
  const { capacity, allocatable } = compute(old).status ?? {};
  deepEqual(capacity, { ...FACTS.capacity, "example.com/gpu": "4" });
  deepEqual(allocatable, { ...FACTS.allocatable, "example.com/gpu": "4" });
});

test("fields that others write stay: attached volumes, their conditions, labels", () => {
  const conditions = [{ type: "NetworkUnavailable", status: "False" as const }];
  const volumesAttached = [{ name: "v", devicePath: "d" }];
  const { status } = compute({ conditions, volumesAttached });
  deepEqual([status?.volumesAttached, status?.conditions?.[0]], [volumesAttached, conditions[0]]);
});

test("while main has no facts, the Node's images, volumes, runtime and resources stay", () => {
  const old: NodeStatus = {
    capacity: { cpu: "8" },
    allocatable: { cpu: "7" },
    images: [{ names: ["x"] }],
    volumesInUse: ["v"],
    nodeInfo: { containerRuntimeVersion: "containerd://1.5" } as NonNullable<NodeStatus["nodeInfo"]>,
  };
  const { status } = compute(old, { facts: undefined });
  deepEqual(
    [
      status?.capacity,
      status?.allocatable,
      status?.images,
      status?.volumesInUse,
      status?.nodeInfo?.containerRuntimeVersion,
    ],
    [old.capacity, old.allocatable, old.images, old.volumesInUse, "containerd://1.5"],
  );
});

test("another boot id is reported; the first one, or none, is not", () => {
  const rebooted = (bootID: string): string[] =>
    computeNode(
      { metadata: {}, status: { nodeInfo: { bootID } as NonNullable<NodeStatus["nodeInfo"]> } },
      statusInput(),
    )
      .events.filter(({ reason }) => reason === "Rebooted")
      .map(({ type, message }) => `${type} ${message}`);
  deepEqual(rebooted("b0"), ["Warning Node n1 has been rebooted, boot id: b1"]);
  deepEqual([rebooted("b1"), rebooted("")], [[], []]);
});

test("capacity that is not known makes the node NotReady; ephemeral storage only where it is isolated", () => {
  const facts = { ...FACTS, capacity: { cpu: "1", pods: "1" } };
  const message = (isolated: boolean): string | undefined =>
    compute({}, { facts, init: { ...INIT, localStorageCapacityIsolation: isolated } }).status?.conditions?.at(-1)
      ?.message;
  equal(message(true), "missing node capacity for resources: memory, ephemeral-storage");
  equal(message(false), "missing node capacity for resources: memory");
});

test("labels of os and arch are always there; the provided node IP is for cloud providers only", () => {
  const annotations = { "alpha.kubernetes.io/provided-node-ip": "1.2.3.4", a: "b" };
  const metadata = (init: Partial<StatusInput["init"]>) =>
    computeNode({ metadata: { annotations } }, statusInput({ init: { ...INIT, ...init } })).node.metadata;
  deepEqual(metadata({}).labels, { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" });
  deepEqual(metadata({}).annotations, { a: "b" });
  deepEqual(metadata({ externalCloudProvider: true }).annotations, { a: "b" });
  deepEqual(metadata({ externalCloudProvider: true, nodeIPs: ["10.0.0.5", "fd00::5"] }).annotations, {
    a: "b",
    "alpha.kubernetes.io/provided-node-ip": "10.0.0.5,fd00::5",
  });
});

test("an address that can't be used leaves those that are there", () => {
  const addresses = [{ type: "InternalIP" as const, address: "10.0.0.1" }];
  const input = statusInput({ init: { ...INIT, nodeIPs: ["10.0.0.99"] } });
  const { node, addressError } = computeNode({ metadata: {}, status: { addresses } }, input);
  deepEqual(node.status?.addresses, addresses);
  equal(addressError?.name, "OperatorError");
});

for (const [version, shown] of [
  ["1.6.20", "1.6.20"],
  ["1.6.20~ds1", "1.6.20"],
  ["v2.0.0", "2.0.0"],
  ["v1.7.13-rc.1", "1.7.13-rc.1"],
  ["1.30.2+build.5", "1.30.2+build.5"],
  ["1.30", "1.30"],
  ["1.2.3.4-x", "1.2.3.4"],
  ["devel", "devel"],
] as const) {
  test(`a runtime of version ${version}`, () => equal(runtimeVersion(version), shown));
}
