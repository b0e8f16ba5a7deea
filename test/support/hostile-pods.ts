// Pods whose names, states and messages are as long as Kubernetes permits, or longer: no layout may break on them.

import { examplePod, type ExampleNode, type ExamplePod } from "./example-node.js";

const LONG = "E".repeat(4096);
const SENTENCE = 'rpc error: code = Unknown desc = failed to pull and unpack image "registry.example/a/b:c": '.repeat(
  45,
);

/** Every state word of a pod or container that upstream has, and some that only a program or a signal makes. */
export const STATE_WORDS = [
  ...["ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff"],
  ...["InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "CreateContainerConfigError"],
  ...["CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError", "PostStartHookError"],
  ...["ImageInspectError", "SignatureValidationFailed", "ErrPreStartHook", "ContainerStatusUnknown"],
];

function hostilePods(now: number): ExamplePod[] {
  const name = `a${"x".repeat(251)}z`;
  const dashed = Array.from({ length: 42 }, () => "part1").join("-");
  const image = `registry.example/${"very-long-component/".repeat(10)}app@sha256:${"0123456789abcdef".repeat(4)}`;
  const ips = ["2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff", "255.255.255.255"];
  const waiting = (reason: string, message = SENTENCE) => ({ waiting: { reason, message } });
  return [
    examplePod(now, {
      ...{ name, namespace: "n".repeat(63), image, ips, ready: false, restarts: 123_456, usage: [12.345, 987_654] },
      state: waiting("CrashLoopBackOff", LONG),
      limits: { cpu: "128", memory: "1024Gi" },
      events: [["Failed", LONG, 3, "Warning"]],
      volumes: [{ name: "v".repeat(63), plugin: "kubernetes.io/nfs", mounted: false, lastError: LONG }],
      container: {
        env: [{ name: "V".repeat(200) }],
        volumeMounts: [{ name: "v".repeat(63), mountPath: `/${"m".repeat(250)}` }],
      },
      status: {
        conditions: [{ type: "Ready", status: "False", reason: "R".repeat(60), message: LONG }],
      },
    }),
    examplePod(now, { name: dashed, image, ips, usage: [0.001, 1] }),
    examplePod(now, {
      name: "reason",
      status: { phase: "Failed", reason: LONG, message: LONG, containerStatuses: [] },
    }),
    ...STATE_WORDS.map((word, index) =>
      examplePod(now, { name: `state-${index}`, ready: false, state: waiting(word) }),
    ),
    examplePod(now, {
      ...{ name: "killed", ready: false },
      state: { terminated: { exitCode: 137, reason: "OOMKilled", message: LONG } },
    }),
  ];
}

/** The rest of the node, equally long. */
export function hostileNode(node: ExampleNode, now: number): ExampleNode {
  const pods = [...node.pods, ...hostilePods(now)];
  const { facts } = node.status;
  return {
    ...node,
    status: {
      ...node.status,
      certificates: [{ use: "serving", file: `/${"f".repeat(300)}`, problem: LONG }],
      apiServer: { problem: LONG },
      ...(facts && {
        facts: {
          ...facts,
          addresses: ["2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff"],
          capacity: { ...facts.capacity, [`${"d".repeat(200)}.example/gpu`]: "8" },
          pressures: [{ type: "DiskPressure", since: now - 90_000 }],
        },
      }),
    },
    events: pods[8]?.timeline.events ?? [],
    images: {
      images: [
        {
          ...{ id: "sha256:3", names: [`registry.example/${"i".repeat(400)}:1`], sizeBytes: 2 ** 33, pinned: false },
          usedBy: pods.map(({ pod: { metadata } }) => `${metadata.namespace}/${metadata.name}`),
        },
      ],
    },
    pods,
    configz: JSON.stringify({
      kubeletconfig: { registerWithTaints: [{ key: "k".repeat(500) }] },
      origins: { registerWithTaints: { kind: "file", file: `/${"c".repeat(400)}`, line: 1, column: 2 } },
    }),
    log: `${LONG}\n${"word ".repeat(900)}\n`,
  };
}
