// Every admission rule that this node decides by itself.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { appArmorHandler } from "../../../../src/main/pods/admission/app-armor.js";
import { resourcesHandler } from "../../../../src/main/pods/admission/free-resources.js";
import type { AdmissionHandler, AdmissionNode } from "../../../../src/main/pods/admission/handler.js";
import {
  firstRefusal,
  declaredFeaturesHandler,
  podFeaturesHandler,
  shutdownHandler,
} from "../../../../src/main/pods/admission/handlers.js";
import { nodeAffinityHandler, nodeNameHandler } from "../../../../src/main/pods/admission/predicates.js";
import { nodePortsHandler } from "../../../../src/main/pods/admission/predicates/host-ports.js";
import { pressureHandler } from "../../../../src/main/pods/admission/predicates/node-pressure.js";
import {
  operatingSystemHandler,
  supplementalGroupsHandler,
} from "../../../../src/main/pods/admission/predicates/operating-system.js";
import { taintsHandler } from "../../../../src/main/pods/admission/predicates/taints.js";
import { sysctlHandler } from "../../../../src/main/pods/admission/sysctls.js";
import type { Container, Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { parseQuantity } from "../../../../src/shared/kubernetes/api/quantity.js";
import { container, pod } from "../../../support/pods.js";
import { admissionNode, apiPod, context, requesting } from "./kit.js";

interface Row {
  what: string;
  pod: Pod;
  node?: Partial<AdmissionNode>;
  others?: Pod[];
  /** undefined: admitted. */
  refusal?: [reason: string, message: string];
}

function table(name: string, handler: AdmissionHandler, rows: readonly Row[]): void {
  describe(name, () => {
    for (const { what, pod: given, node, others, refusal } of rows) {
      test(what, () => {
        const answer = handler(context(given, node, others));
        assert.deepEqual(answer && [answer.reason, answer.message], refusal);
      });
    }
  });
}

const sysctls = (...names: string[]): Partial<PodSpec> => ({
  securityContext: { sysctls: names.map((name) => ({ name, value: "1" })) },
});
const forbidden = (text: string): [string, string] => ["SysctlForbidden", `forbidden sysctl: ${text}`];

table("sysctls", sysctlHandler, [
  { what: "none", pod: apiPod() },
  { what: "safe", pod: apiPod(sysctls("kernel.shm_rmid_forced", "net.ipv4.tcp_syncookies")) },
  { what: "safe, written with slashes", pod: apiPod(sysctls("net/ipv4/tcp_syncookies")) },
  {
    what: "safe from a later kernel on",
    pod: apiPod(sysctls("net.ipv4.tcp_rmem")),
    node: { kernel: [4, 14] },
    refusal: forbidden('"net.ipv4.tcp_rmem" not allowlisted'),
  },
  { what: "safe from this kernel on", pod: apiPod(sysctls("net.ipv4.tcp_rmem")), node: { kernel: [4, 15] } },
  { what: "unsafe", pod: apiPod(sysctls("kernel.msgmax")), refusal: forbidden('"kernel.msgmax" not allowlisted') },
  {
    what: "unsafe but allowed",
    pod: apiPod(sysctls("kernel.msgmax")),
    node: { allowedUnsafeSysctls: ["kernel.msgmax"] },
  },
  {
    what: "unsafe but allowed by a pattern",
    pod: apiPod(sysctls("net.core.somaxconn")),
    node: { allowedUnsafeSysctls: ["net.*"] },
  },
  {
    what: "unsafe, written with slashes, is named with dots as upstream does",
    pod: apiPod(sysctls("net/core/somaxconn")),
    refusal: forbidden('"net.core.somaxconn" not allowlisted'),
  },
  {
    what: "allowed by a pattern of the host's IPC",
    pod: apiPod({ ...sysctls("kernel.shmother"), hostIPC: true }),
    node: { allowedUnsafeSysctls: ["kernel.shm*"] },
    refusal: forbidden('"kernel.shmother" not allowed with host IPC enabled'),
  },
  {
    what: "outside of the pattern",
    pod: apiPod(sysctls("net.core.somaxconn")),
    node: { allowedUnsafeSysctls: ["net.ipv4.*"] },
    refusal: forbidden('"net.core.somaxconn" not allowlisted'),
  },
  {
    what: "of the host's network",
    pod: apiPod({ ...sysctls("net.ipv4.tcp_syncookies"), hostNetwork: true }),
    refusal: forbidden('"net.ipv4.tcp_syncookies" not allowed with host Net enabled'),
  },
  {
    what: "of the host's IPC",
    pod: apiPod({ ...sysctls("kernel.shm_rmid_forced"), hostIPC: true }),
    refusal: forbidden('"kernel.shm_rmid_forced" not allowed with host IPC enabled'),
  },
  {
    what: "of the network, with the host's IPC",
    pod: apiPod({ ...sysctls("net.ipv4.tcp_syncookies"), hostIPC: true }),
  },
]);

const evicted = (conditions: string): [string, string] => ["Evicted", `The node had condition: [${conditions}]. `];
const memory = requesting({ memory: "1Mi" });

table("node pressure", pressureHandler, [
  { what: "no pressure", pod: apiPod() },
  {
    what: "memory, best effort",
    pod: apiPod(),
    node: { pressures: ["MemoryPressure"] },
    refusal: evicted("MemoryPressure"),
  },
  { what: "memory, burstable", pod: memory, node: { pressures: ["MemoryPressure"] } },
  {
    what: "memory, best effort that tolerates it",
    pod: apiPod({
      tolerations: [{ key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" }],
    }),
    node: { pressures: ["MemoryPressure"] },
  },
  { what: "disk, burstable", pod: memory, node: { pressures: ["DiskPressure"] }, refusal: evicted("DiskPressure") },
  {
    what: "memory and disk, burstable",
    pod: memory,
    node: { pressures: ["MemoryPressure", "DiskPressure"] },
    refusal: evicted("MemoryPressure, DiskPressure"),
  },
  { what: "disk, static pod", pod: pod(), node: { pressures: ["DiskPressure"] } },
  { what: "disk, critical", pod: apiPod({ priority: 2_000_000_000 }), node: { pressures: ["DiskPressure"] } },
]);

const labelled = (os: string): Pod => {
  const given = apiPod();
  return { ...given, metadata: { ...given.metadata, labels: { "kubernetes.io/os": os } } };
};

table("operating system", operatingSystemHandler, [
  { what: "nothing asked", pod: apiPod() },
  { what: "label linux", pod: labelled("linux") },
  {
    what: "label windows",
    pod: labelled("windows"),
    refusal: [
      "PodOSSelectorNodeLabelDoesNotMatch",
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
  },
  { what: "field linux", pod: apiPod({ os: { name: "linux" } }) },
  {
    what: "field windows",
    pod: apiPod({ os: { name: "windows" } }),
    refusal: ["PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"],
  },
]);

const strict = apiPod({ securityContext: { supplementalGroupsPolicy: "Strict" } });

table("supplemental groups", supplementalGroupsHandler, [
  { what: "strict, the runtime can", pod: strict, node: { supplementalGroupsPolicy: true } },
  {
    what: "strict, the runtime can't",
    pod: strict,
    node: { supplementalGroupsPolicy: false },
    refusal: ["SupplementalGroupsPolicyNotSupported", "SupplementalGroupsPolicy=Strict is not supported in this node"],
  },
  { what: "strict, the runtime has not said", pod: strict, node: { supplementalGroupsPolicy: undefined } },
  { what: "merge, the runtime can't", pod: apiPod(), node: { supplementalGroupsPolicy: false } },
]);

const short = (resource: string, requested: string, used: string, capacity: string): [string, string] => [
  `OutOf${resource}`,
  `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
];

table("resources", resourcesHandler, [
  { what: "nothing asked", pod: apiPod() },
  { what: "all of the node", pod: requesting({ cpu: "2", memory: "4Gi" }) },
  { what: "more cpu than there is", pod: requesting({ cpu: "2001m" }), refusal: short("cpu", "2001", "0", "2000") },
  {
    what: "more cpu than is left",
    pod: requesting({ cpu: "1500m" }),
    others: [requesting({ cpu: "600m" }, "other")],
    refusal: short("cpu", "1500", "600", "2000"),
  },
  {
    what: "memory",
    pod: requesting({ memory: "3Gi" }),
    others: [requesting({ memory: "2Gi" }, "other")],
    refusal: short("memory", "3221225472", "2147483648", "4294967296"),
  },
  {
    what: "cpu is reported before memory",
    pod: requesting({ memory: "9Gi", cpu: "9" }),
    refusal: short("cpu", "9000", "0", "2000"),
  },
  {
    what: "ephemeral storage",
    pod: requesting({ "ephemeral-storage": "200Gi" }),
    refusal: short("ephemeral-storage", "214748364800", "0", "107374182400"),
  },
  { what: "huge pages of the pool", pod: requesting({ "hugepages-2Mi": "64Mi" }) },
  {
    what: "huge pages beyond the pool",
    pod: requesting({ "hugepages-2Mi": "66Mi" }),
    refusal: short("hugepages-2Mi", "69206016", "0", "67108864"),
  },
  { what: "an extended resource that the node does not know", pod: requesting({ "example.com/gpu": 1 }) },
  {
    what: "an extended resource whose device plugin has no device left",
    pod: requesting({ "example.com/gpu": 1 }),
    node: { allocatable: new Map([...admissionNode().allocatable, ["example.com/gpu", parseQuantity(0)]]) },
    refusal: short("example.com/gpu", "1", "0", "0"),
  },
  {
    what: "other resources of a pod with an unknown extended resource still count",
    pod: requesting({ "example.com/gpu": 1, cpu: "3" }),
    refusal: short("cpu", "3000", "0", "2000"),
  },
  {
    what: "unknown names that Kubernetes owns are a shortage",
    pod: requesting({ "deviceclass.resource.kubernetes.io/gpu": 1 }),
    refusal: short("deviceclass.resource.kubernetes.io/gpu", "1", "0", "0"),
  },
  {
    what: "too many pods",
    pod: apiPod(),
    others: ["a", "b", "c", "d", "e"].map((name) => apiPod({}, name)),
    refusal: short("pods", "1", "5", "5"),
  },
  {
    what: "init containers count by their peak",
    pod: apiPod({
      initContainers: [container("big", { resources: { requests: { cpu: "3" } } })],
    }),
    refusal: short("cpu", "3000", "0", "2000"),
  },
  {
    what: "overhead counts",
    pod: requesting({ cpu: "2" }, "web", { overhead: { cpu: "100m" } }),
    refusal: short("cpu", "2100", "0", "2000"),
  },
]);

describe("extended resources of the scheduler's claim", () => {
  const allocatable = new Map([...admissionNode().allocatable, ["example.com/gpu", parseQuantity(1)]]);
  const mapping = (resourceName: string) => ({ containerName: "app", resourceName, requestName: "container-0" });
  const given = requesting({ "example.com/gpu": 2, "deviceclass.resource.kubernetes.io/nic": 1 });
  const claimed = (...resources: string[]) =>
    resourcesHandler({
      ...context(given, { allocatable }),
      extendedClaim: { resourceClaimName: "made", requestMappings: resources.map(mapping) },
    })?.reason;

  test("are left out of the fit test, also if a device plugin offers the same name", () => {
    assert.equal(claimed("example.com/gpu", "deviceclass.resource.kubernetes.io/nic"), undefined);
  });
  test("those that the claim does not name are tested", () => {
    assert.equal(claimed("deviceclass.resource.kubernetes.io/nic"), "OutOfexample.com/gpu");
    assert.equal(claimed("example.com/gpu"), "OutOfdeviceclass.resource.kubernetes.io/nic");
  });
});

test("the shortage is reported for every resource that is short", () => {
  const refusal = resourcesHandler(context(requesting({ cpu: "3", memory: "5Gi" })));
  assert.deepEqual(refusal?.missing, [
    { resource: "cpu", nanos: 1_000_000_000n },
    { resource: "memory", nanos: (1n << 30n) * 1_000_000_000n },
  ]);
});

const affinity = (key: string, operator: string, values?: string[]): Pod =>
  apiPod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values && { values }) }] }],
        },
      },
    },
  });
const notSelected: [string, string] = [
  "NodeAffinity",
  "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
];

table("node selector and affinity", nodeAffinityHandler, [
  { what: "a selector that matches", pod: apiPod({ nodeSelector: { zone: "a" } }) },
  { what: "another value", pod: apiPod({ nodeSelector: { zone: "b" } }), refusal: notSelected },
  { what: "a label that is not there", pod: apiPod({ nodeSelector: { disk: "ssd" } }), refusal: notSelected },
  { what: "In", pod: affinity("zone", "In", ["b", "a"]) },
  { what: "In, not", pod: affinity("zone", "In", ["b"]), refusal: notSelected },
  { what: "NotIn", pod: affinity("zone", "NotIn", ["b"]) },
  { what: "NotIn, no such label", pod: affinity("disk", "NotIn", ["b"]) },
  { what: "NotIn, not", pod: affinity("zone", "NotIn", ["a"]), refusal: notSelected },
  { what: "Exists", pod: affinity("zone", "Exists") },
  { what: "Exists, not", pod: affinity("constructor", "Exists"), refusal: notSelected },
  { what: "DoesNotExist", pod: affinity("disk", "DoesNotExist") },
  { what: "DoesNotExist, not", pod: affinity("zone", "DoesNotExist"), refusal: notSelected },
  { what: "Gt", pod: affinity("rank", "Gt", ["6"]) },
  { what: "Gt, not", pod: affinity("rank", "Gt", ["7"]), refusal: notSelected },
  { what: "Lt", pod: affinity("rank", "Lt", ["8"]) },
  { what: "Lt of no number", pod: affinity("zone", "Lt", ["8"]), refusal: notSelected },
  {
    what: "a field",
    pod: apiPod({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchFields: [{ key: "metadata.name", operator: "In", values: ["elsewhere"] }] },
              { matchFields: [{ key: "metadata.name", operator: "In", values: ["node-1"] }] },
            ],
          },
        },
      },
    }),
  },
  {
    what: "an empty term selects nothing",
    pod: apiPod({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } },
    }),
    refusal: notSelected,
  },
]);

table("node name", nodeNameHandler, [
  { what: "none", pod: apiPod() },
  { what: "this one", pod: apiPod({ nodeName: "node-1" }) },
  {
    what: "another",
    pod: apiPod({ nodeName: "node-2" }),
    refusal: ["NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name"],
  },
]);

const listening = (fields: Partial<NonNullable<Container["ports"]>[number]>, name = "web"): Pod =>
  apiPod({ containers: [container("app", { ports: [{ containerPort: 80, ...fields }] })] }, name);
const noPort: [string, string] = [
  "NodePorts",
  "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
];

table("host ports", nodePortsHandler, [
  { what: "no host port", pod: listening({}), others: [listening({}, "other")] },
  { what: "another port", pod: listening({ hostPort: 80 }), others: [listening({ hostPort: 81 }, "other")] },
  {
    what: "the same port",
    pod: listening({ hostPort: 80 }),
    others: [listening({ hostPort: 80 }, "other")],
    refusal: noPort,
  },
  {
    what: "the same port of another protocol",
    pod: listening({ hostPort: 80, protocol: "UDP" }),
    others: [listening({ hostPort: 80 }, "other")],
  },
  {
    what: "different addresses",
    pod: listening({ hostPort: 80, hostIP: "127.0.0.1" }),
    others: [listening({ hostPort: 80, hostIP: "127.0.0.2" }, "other")],
  },
  {
    what: "one address against all",
    pod: listening({ hostPort: 80, hostIP: "127.0.0.1" }),
    others: [listening({ hostPort: 80, hostIP: "0.0.0.0" }, "other")],
    refusal: noPort,
  },
  {
    what: "of an init container that has exited by then",
    pod: listening({ hostPort: 80 }),
    others: [apiPod({ initContainers: [container("init", { ports: [{ containerPort: 1, hostPort: 80 }] })] }, "other")],
  },
  {
    what: "of a sidecar",
    pod: listening({ hostPort: 80 }),
    others: [
      apiPod(
        {
          initContainers: [container("side", { restartPolicy: "Always", ports: [{ containerPort: 1, hostPort: 80 }] })],
        },
        "other",
      ),
    ],
    refusal: noPort,
  },
]);

const tainted = { taints: [{ key: "broken", value: "disk", effect: "NoExecute" }] };
const notTolerated: [string, string] = [
  "TaintToleration",
  "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
];

table("taints", taintsHandler, [
  { what: "untolerated", pod: apiPod(), node: tainted, refusal: notTolerated },
  { what: "static pods stay", pod: pod(), node: tainted },
  { what: "only NoExecute counts", pod: apiPod(), node: { taints: [{ key: "x", effect: "NoSchedule" }] } },
  {
    what: "tolerated by value",
    pod: apiPod({ tolerations: [{ key: "broken", operator: "Equal", value: "disk", effect: "NoExecute" }] }),
    node: tainted,
  },
  {
    what: "another value",
    pod: apiPod({ tolerations: [{ key: "broken", value: "fan" }] }),
    node: tainted,
    refusal: notTolerated,
  },
  { what: "tolerated whatever it is", pod: apiPod({ tolerations: [{ operator: "Exists" }] }), node: tainted },
]);

const profile = (type: "RuntimeDefault" | "Unconfined" | "Localhost", localhostProfile?: string): Pod =>
  apiPod({
    securityContext: { appArmorProfile: { type, ...(localhostProfile !== undefined && { localhostProfile }) } },
  });
const annotated = (value: string): Pod => {
  const made = apiPod({ containers: [container("app")] });
  const annotations = { "container.apparmor.security.beta.kubernetes.io/app": value };
  return { ...made, metadata: { ...made.metadata, annotations } };
};
const off = { appArmorProblem: "AppArmor is not enabled on the host" };

table("AppArmor", appArmorHandler, [
  { what: "not requested, absent", pod: apiPod(), node: off },
  { what: "unconfined, not there", pod: profile("Unconfined"), node: off },
  {
    what: "requested, absent",
    pod: profile("RuntimeDefault"),
    node: off,
    refusal: ["AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host"],
  },
  {
    what: "requested by annotation, absent",
    pod: annotated("localhost/mine"),
    node: off,
    refusal: ["AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host"],
  },
  { what: "unconfined by annotation, not there", pod: annotated("unconfined"), node: off },
  { what: "requested by annotation, present", pod: annotated("runtime/default") },
  {
    what: "by annotation without a name",
    pod: annotated("localhost/"),
    refusal: ["AppArmor", 'Cannot enforce AppArmor: invalid AppArmor profile name: "localhost/"'],
  },
  { what: "requested, present", pod: profile("Localhost", "mine") },
  {
    what: "without a name",
    pod: profile("Localhost"),
    refusal: ["AppArmor", 'Cannot enforce AppArmor: invalid AppArmor profile name: "localhost/"'],
  },
  { what: "a pod that runs already", pod: { ...profile("RuntimeDefault"), status: { phase: "Running" } }, node: off },
]);

table("features", podFeaturesHandler, [
  { what: "pod-level resources", pod: apiPod({ resources: { requests: { cpu: "1" } } }) },
  {
    what: "pod-level resources, turned off",
    pod: apiPod({ resources: { requests: { cpu: "1" } } }),
    node: { podLevelResources: false },
    refusal: ["PodLevelResourcesNotSupported", "PodLevelResources feature gate is disabled"],
  },
]);

const restartsAll: Partial<Container> = {
  restartPolicy: "Never",
  restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [3] } }],
};
const hostUsers: Partial<PodSpec> = { hostNetwork: true, hostUsers: false };
const unsupported = (features: string): [string, string] => [
  "PodFeatureUnsupported",
  `Pod requires node features that are not available: ${features}`,
];

table("declared features", declaredFeaturesHandler, [
  { what: "a pod that needs none", pod: apiPod() },
  {
    what: "RestartAllContainers of a node that declares it",
    pod: apiPod({ containers: [container("app", restartsAll)] }),
    node: { declaredFeatures: ["RestartAllContainersOnContainerExits"] },
  },
  {
    what: "RestartAllContainers of a node that does not",
    pod: apiPod({ containers: [container("app", restartsAll)] }),
    refusal: unsupported("RestartAllContainersOnContainerExits"),
  },
  {
    what: "RestartAllContainers of an init container, and a user namespace on the host's network",
    pod: apiPod({ initContainers: [container("init", restartsAll)], ...hostUsers }),
    refusal: unsupported("RestartAllContainersOnContainerExits, UserNamespacesHostNetworkSupport"),
  },
  { what: "the host's network alone", pod: apiPod({ hostNetwork: true }) },
  { what: "a user namespace alone", pod: apiPod({ hostUsers: false }) },
  { what: "without the gate NodeDeclaredFeatures", pod: apiPod(hostUsers), node: { declaredFeatures: undefined } },
]);

test("declared features are among the admit handlers", () => {
  assert.equal(firstRefusal(context(apiPod(hostUsers)))?.reason, "PodFeatureUnsupported");
});

table("shutdown", shutdownHandler, [
  {
    what: "on its way",
    pod: apiPod(),
    node: { shuttingDown: true },
    refusal: ["NodeShutdown", "Pod was rejected as the node is shutting down."],
  },
]);

test("the first handler that refuses is reported", () => {
  const given = requesting({ cpu: "9" }, "web", { ...sysctls("kernel.msgmax"), nodeSelector: { zone: "b" } });
  assert.equal(firstRefusal(context(given))?.reason, "SysctlForbidden");
  assert.equal(
    firstRefusal(context(requesting({ cpu: "9" }, "web", { nodeSelector: { zone: "b" } })))?.reason,
    "OutOfcpu",
  );
  assert.equal(firstRefusal(context(apiPod())), undefined);
});
