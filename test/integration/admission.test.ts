// Pods that this node rejects: their status, that nothing of them is created, and that a corrected one runs.
// @promise Resources of the node: A rejected pod is Failed with upstream's reason, and no container of it is created;
//   released resources are allocated again.
// @with test/main/pods/admission
// @promise Resources of the node: A pod or a change that needs a feature which the node does not declare:
//   PodFeatureUnsupported, FailedNodeDeclaredFeaturesCheck.
// @with test/main/model/declared-features.test.ts, test/main/pods/admission/resizes.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { appArmorProblem } from "../../src/main/pods/admission/app-armor.js";
import type { PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { waitFor } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import { IDLE, manifest, report, reporter, shell, statusOf, waitForPod, waitGone } from "../support/static-pods.js";

const { node, runtime } = await nodeForTests({
  config: {
    maxPods: 4,
    allowedUnsafeSysctls: ["net.core.somaxconn"],
    podCIDR: "10.99.0.0/24",
    featureGates: { PreventStaticPodAPIReferences: false, RestartAllContainersOnContainerExits: false },
  },
  flags: ["--node-labels=rack=r1"],
});

const idle = (name: string, spec: Partial<PodSpec> = {}) => manifest(name, [shell("app", IDLE)], { spec });
const sysctl = (name: string, value: string): Partial<PodSpec> => ({
  securityContext: { sysctls: [{ name, value }] },
});
const asking = (requests: Record<string, string | number>, limits = requests) =>
  manifest("refused", [shell("app", IDLE, { resources: { requests, limits } })]);

describe("a pod that is refused", () => {
  const refused = (...reasonAndMessage: [string, RegExp]) => reasonAndMessage;
  const rows: [what: string, pod: unknown, expected: [string, RegExp]][] = [
    [
      "an unsafe sysctl",
      idle("refused", sysctl("kernel.msgmax", "65536")),
      refused("SysctlForbidden", /^Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted$/),
    ],
    [
      "a node selector for another node",
      idle("refused", { nodeSelector: { rack: "r2" } }),
      refused(
        "NodeAffinity",
        /^Pod was rejected: Predicate NodeAffinity failed: node\(s\) didn't match Pod's node aff/,
      ),
    ],
    [
      "another operating system",
      idle("refused", { os: { name: "windows" } }),
      refused("PodOSNotSupported", /^Pod was rejected: Failed to admit pod as the OS field doesn't match node OS$/),
    ],
    [
      "more cpu than the node has",
      asking({ cpu: "5000" }),
      refused("OutOfcpu", /resource: cpu, requested: 5000000, used: 0, capacity: \d+$/),
    ],
    [
      "a feature that the node does not declare",
      manifest("refused", [
        shell("app", IDLE, {
          restartPolicy: "Never",
          restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [3] } }],
        }),
      ]),
      refused("PodFeatureUnsupported", /not available: RestartAllContainersOnContainerExits$/),
    ],
  ];
  for (const [what, pod, [reason, message]] of rows) {
    test(`${what}: Failed with the reason, and nothing is made`, async () => {
      await node.writeManifest("refused", pod);
      const shown = await waitForPod(node, "refused", ({ status }) => status?.reason === reason, `refused: ${reason}`);
      assert.equal(shown.status?.phase, "Failed");
      assert.match(shown.status.message ?? "", message);
      assert.deepEqual(await runtime.sandboxes(shown.metadata.uid), []);
      await node.removeManifest("refused");
      await waitGone(node, "refused");
    });
  }
});

test("the runtime gets the node's pod CIDR", async () => {
  // A call that failed is repeated.
  const succeeded = async (): Promise<boolean> => {
    const page = await (await fetch(`${node.kubelet.url}/metrics`)).text();
    const [calls, errors] = ["total", "errors_total"].map((name) =>
      Number(
        new RegExp(`^kubelet_runtime_operations_${name}\\{operation_type="update_runtime_config"\\} (\\d+)$`, "m").exec(
          page,
        )?.[1] ?? 0,
      ),
    );
    return (calls ?? 0) > (errors ?? 0);
  };
  await waitFor(succeeded, { what: "the call", timeoutMs: 60_000 });
});

test("without the gate PreventStaticPodAPIReferences a static pod may refer to API objects", async () => {
  const envFrom = [{ configMapRef: { name: "settings", optional: true } }];
  await node.writeManifest("referring", manifest("referring", [shell("app", IDLE, { envFrom })]));
  await waitForPod(node, "referring", ({ status }) => status !== undefined, "accepted");
  await node.removeManifest("referring");
  await waitGone(node, "referring");
});

describe("an AppArmor annotation of a static pod", () => {
  const annotated = (profile: string) => {
    const annotations = { "container.apparmor.security.beta.kubernetes.io/app": profile };
    return manifest("armored", [shell("app", IDLE)], { metadata: { annotations } });
  };
  test("counts as the field does: the pod is refused where its profile cannot be enforced", async () => {
    await node.writeManifest("armored", annotated("localhost/nodelet-no-such-profile"));
    // With AppArmor in the kernel the runtime refuses a profile that is not loaded.
    const shown = await waitForPod(
      node,
      "armored",
      (pod) => pod.status?.reason === "AppArmor" || statusOf(pod, "app")?.state.waiting?.message !== undefined,
      "refused",
    );
    const { reason, message = "" } = shown.status ?? {};
    const enforced = (await appArmorProblem()) === undefined;
    if (enforced) assert.match(statusOf(shown, "app")?.state.waiting?.message ?? "", /apparmor/i);
    else assert.deepEqual([reason, /AppArmor is not enabled/.test(message)], ["AppArmor", true]);
  });
  test("an unconfined pod runs with and without AppArmor", async () => {
    await node.writeManifest("armored", annotated("unconfined"));
    await waitForPod(node, "armored", ({ status }) => status?.phase === "Running", "Running");
    await node.removeManifest("armored");
    await waitGone(node, "armored");
  });
});

test("an extended resource that the node does not know keeps no pod from running", async () => {
  await node.writeManifest("refused", asking({ "example.com/of-the-cluster": 1 }));
  await waitForPod(node, "refused", ({ status }) => status?.phase === "Running", "Running");
  await node.removeManifest("refused");
  await waitGone(node, "refused");
});

test("safe and allowed sysctls are set, this node's labels select, and a mended manifest runs", async () => {
  const script = "cat /proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/net/core/somaxconn";
  const sysctls = [
    { name: "net.ipv4.ip_unprivileged_port_start", value: "79" },
    { name: "net.core.somaxconn", value: "321" },
  ];
  const spec: Partial<PodSpec> = { securityContext: { sysctls }, nodeSelector: { rack: "r1" } };
  await node.writeManifest("mended", idle("mended", { nodeSelector: { rack: "r2" } }));
  await waitForPod(node, "mended", ({ status }) => status?.reason === "NodeAffinity", "refused at first");
  await node.writeManifest("mended", manifest("mended", [reporter("app", script)], { spec }));
  await waitForPod(node, "mended", ({ status }) => status?.phase === "Running", "Running once mended");
  assert.deepEqual((await report(node, "mended", "app")).slice(0, 2), ["79", "321"]);
  await node.removeManifest("mended");
  await waitGone(node, "mended");
});

test("one pod more than the node takes is refused; a host port is given once; room that is freed can be used", async () => {
  const port = (name: string) =>
    manifest(name, [shell("app", IDLE, { ports: [{ containerPort: 80, hostPort: 18_088 }] })]);
  await node.writeManifest("p1", port("p1"));
  await waitForPod(node, "p1", ({ status }) => status?.phase === "Running", "Running");
  await node.writeManifest("p2", port("p2"));
  await waitForPod(node, "p2", ({ status }) => status?.reason === "NodePorts", "refused for its port");
  for (const name of ["p3", "p4", "p5"]) await node.writeManifest(name, idle(name));
  for (const name of ["p3", "p4", "p5"]) {
    await waitForPod(node, name, ({ status }) => status?.phase === "Running", "Running");
  }
  await node.writeManifest("p6", idle("p6"));
  const full = await waitForPod(node, "p6", ({ status }) => status?.phase === "Failed", "refused");
  // Static pods are critical: the kubelet looks for a pod to preempt and finds none.
  assert.equal(full.status?.reason, "UnexpectedAdmissionError");
  assert.match(full.status.message ?? "", /resource: pods, requested: 1, used: 4, capacity: 4$/);
  await node.removeManifest("p3");
  await waitGone(node, "p3");
  await node.writeManifest("p7", idle("p7"));
  await waitForPod(node, "p7", ({ status }) => status?.phase === "Running", "Running in the freed place");
});

test("a restarted kubelet admits the same pods and rejects the same one with the same reason", async () => {
  await node.kill9();
  await node.restart();
  for (const name of ["p1", "p4", "p5", "p7"]) {
    await waitForPod(node, name, ({ status }) => status?.phase === "Running", "Running after the restart");
  }
  await waitForPod(node, "p6", ({ status }) => status?.phase === "Failed", "still refused");
});
