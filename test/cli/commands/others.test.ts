// The other commands' texts: timeline, top, images, config, doctor, and the masking of secrets.
// @promise Docker Engine: On a node with `--container-runtime=docker` `nodelet doctor`, `status` and `why` name the
//   Engine's unit, log and CNI directories (`NODELET_TEST_RUNTIME=docker`).
// @with test/integration/dockershim.test.ts

import { deepEqual, doesNotMatch, equal, match, ok, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { maskText } from "../../../src/cli/bundle/mask-text.js";
import { maskLog, maskMessage, maskMessages, maskPod } from "../../../src/cli/bundle/mask.js";
import { tar } from "../../../src/cli/bundle/tar.js";
import { allocationsOf, devicesText } from "../../../src/cli/commands/devices.js";
import { doctorText } from "../../../src/cli/commands/doctor.js";
import { imagesText } from "../../../src/cli/commands/images.js";
import { timelineText } from "../../../src/cli/commands/timeline.js";
import { topText } from "../../../src/cli/commands/top.js";
import { volumesText } from "../../../src/cli/commands/volumes.js";
import { differences, otherConfig } from "../../../src/cli/config-diff.js";
import { configLines } from "../../../src/cli/config-lines.js";
import type { Machine } from "../../../src/cli/doctor/check.js";
import { judge } from "../../../src/cli/doctor/rules.js";
import { bytes, duration, durationMs } from "../../../src/cli/output/amounts.js";
import { wrap } from "../../../src/cli/output/table.js";
import type { DockerFacts } from "../../../src/shared/contracts/nodelet.js";
import { HEALTHY as healthy } from "../doctor/healthy.js";
import { containerStatus, node, NOW, PLAIN, pod, RUNTIME, timeline } from "../kit.js";

test("timeline: each bar begins and ends in proportion; a failed and an open step are marked", () => {
  const text = timelineText(
    { ...PLAIN, columns: 81 },
    timeline({
      runningAt: NOW + 400,
      phases: [{ at: NOW + 400, phase: "Running" }],
      stages: [
        { stage: "create-sandbox", startedAt: NOW, endedAt: NOW + 200 },
        { stage: "pull", container: "app", startedAt: NOW + 200, endedAt: NOW + 300, error: "no" },
        { stage: "start-container", container: "app", startedAt: NOW + 300 },
      ],
    }),
    NOW + 400,
  );
  match(text, /running after 400 ms/);
  match(text, /^create-sandbox {16} {3}200 ms █{20}/m);
  match(text, /^pull app {22} {3}100 ms {21}█{10} {10}\n  failed: no$/m);
  match(text, /^start-container app +100 ms {31}░{10}/m);
  match(text, /^phase Running after 400 ms$/m);
});

test("top: the node first, then pods by memory, containers on request", () => {
  const usage = (cpu: number, memory: number) => ({
    cpu: { usageNanoCores: cpu * 1e6 },
    memory: { workingSetBytes: memory },
  });
  const summary = {
    node: { nodeName: "n", ...usage(1000, 2 ** 30) },
    pods: [
      { podRef: { name: "small", namespace: "a" }, ...usage(1, 1024) },
      {
        podRef: { name: "big", namespace: "b" },
        ...usage(20, 2 ** 20),
        containers: [{ name: "app", ...usage(19, 1000) }],
      },
    ],
  };
  const names = (text: string): string[] =>
    text
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/ {2,}/)[0] ?? "");
  deepEqual(names(topText(PLAIN, summary, {})), ["node n", "b/big", "a/small"]);
  deepEqual(names(topText(PLAIN, summary, { containers: true, namespace: "b" })), ["node n", "b/big", "app"]);
  match(topText(PLAIN, summary, {}), /b\/big +20m +1\.0 MiB +-/);
});

test("images: users, the order of removal, and when collection begins", () => {
  const image = { id: "sha", sizeBytes: 10, pinned: false };
  const images = [
    { ...image, id: "a", names: ["a:1"], usedBy: ["default/web"] },
    { ...image, id: "b", names: ["b:1"], usedBy: [], removal: { order: 2, lastUsedAt: NOW - 3_600_000 } },
    { ...image, id: "c", names: ["c:1"], usedBy: [], removal: { order: 1 } },
    { ...image, id: "d", names: ["pause"], usedBy: [], pinned: true },
  ];
  const text = (availableBytes: number, settings: object = {}): string =>
    imagesText(
      PLAIN,
      { images, fileSystem: { usedBytes: 0, availableBytes, capacityBytes: 100 } },
      { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80, ...settings },
      NOW,
    );
  match(text(10), /^b:1 +10 B +unused +1h|^b:1 +10 B +unused +60m ago +number 2 +-$/m);
  match(text(10), /^c:1 +10 B +unused +not since the kubelet started +number 1 +-$/m);
  match(
    text(10),
    /2 unused images, 20 B\.\nThe disk of the images is 90 % full.*begins at 85 %.*until 80 %: with its next run/,
  );
  match(text(10), /^It would remove: c:1\.$/m);
  match(text(5), /^It would remove: c:1, b:1\.$/m);
  match(text(50), /until 80 %: when 35 B more are used\./);
  match(text(50, { imageGCHighThresholdPercent: 100 }), /Image garbage collection is off/);
  match(text(50, { imageMaximumGCAge: "3h0m0s" }), /^c:1 is removed with the next run.*\nb:1 is removed in 120m, as/m);
});

test("config --diff compares only the fields of a file, and all fields of a response of /configz", () => {
  const here = {
    maxPods: 110,
    syncFrequency: "1m0s",
    evictionHard: { "memory.available": "100Mi" },
    registerWithTaints: [],
    podsPerCore: 0,
    rotateCertificates: false,
    providerID: "",
  };
  const file = otherConfig("kind: KubeletConfiguration\nmaxPods: 50\nsyncFrequency: 60s\n", "k.yaml");
  deepEqual(differences(here, file.config, file.whole), [{ field: "maxPods", here: 110, there: 50 }]);
  const node = otherConfig(
    JSON.stringify({
      kubeletconfig: { maxPods: 110, evictionHard: { "memory.available": "1Gi" }, enableServer: true },
    }),
    "configz.json",
  );
  deepEqual(differences(here, node.config, node.whole), [
    { field: "enableServer", there: true },
    { field: "evictionHard[memory.available]", here: "100Mi", there: "1Gi" },
    { field: "syncFrequency", here: "1m0s" },
  ]);
  throws(() => otherConfig("kind: Pod", "p.yaml"), /p\.yaml is no KubeletConfiguration/);
  throws(() => otherConfig("a: [", "p.yaml"), /neither YAML nor JSON/);
});

test("config --diff compares names of staticPodURLHeader and shows no value", () => {
  const here = { staticPodURLHeader: { Authorization: ["<masked>"] } };
  const diff = (headers: string): unknown => {
    const { config, whole } = otherConfig(`kubeletconfig: { staticPodURLHeader: ${headers} }`, "configz.json");
    return differences(here, config, whole);
  };
  deepEqual(diff("{ Authorization: [secret] }"), []);
  deepEqual(diff("{ Authorization: [secret], X-B: [secret, two] }"), [
    { field: "staticPodURLHeader.X-B", there: ["<masked>"] },
  ]);
});

test("a duration is read as Go writes it, other text is none", () => {
  deepEqual(["1h0m0s", "90s", "500ms", "1.5s", "", "10", "-1s"].map(durationMs), [
    3_600_000,
    90_000,
    500,
    1500,
    undefined,
    undefined,
    undefined,
  ]);
});

test("volumes: state, usage, and the next try of a failed one", () => {
  const volumes = [
    { pod: "default/web", name: "data", plugin: "empty-dir", mounted: true, usedBytes: 2048 },
    { pod: "default/web", name: "share", plugin: "nfs", mounted: false, lastError: "no route", nextTryAt: NOW + 5000 },
  ];
  const text = volumesText({ ...PLAIN, format: "table" }, volumes, NOW);
  match(text, /^default\/web +data +empty-dir +set up +2\.0 KiB$/m);
  match(text, /^default\/web +share +nfs +no route; the kubelet tries again in 5s +-$/m);
});

test("devices: held and free ones, exclusive CPUs as ranges", () => {
  const topology = { nodes: [{ ID: 1n }] };
  const allocations = allocationsOf(
    [
      {
        namespace: "default",
        name: "web",
        containers: [
          {
            name: "app",
            devices: [{ resourceName: "example.com/gpu", deviceIds: ["g1"], topology }],
            cpuIds: [2n, 3n, 5n],
            memory: [{ memoryType: "memory", size: 1024n, topology }],
            dynamicResources: [],
          },
        ],
        cpuIds: [],
        memory: [],
      } as unknown as Parameters<typeof allocationsOf>[0][number],
    ],
    {
      devices: [{ resourceName: "example.com/gpu", deviceIds: ["g0", "g1"], topology }],
      cpuIds: [0n, 1n, 2n, 3n, 4n, 5n],
      memory: [],
    },
  );
  const text = devicesText(PLAIN, allocations);
  match(text, /^example\.com\/gpu +g0 +1 +free$/m);
  match(text, /^example\.com\/gpu +g1 +1 +default\/web app$/m);
  match(text, /exclusive CPUs: default\/web app \(2-3,5\); others may use 0-1,4/);
  match(text, /^memory +1\.0 KiB +1 +default\/web app$/m);
});

test("config: values by the path of their origin", () => {
  const config = { maxPods: 5, evictionHard: { "memory.available": "1Mi" }, list: [{ a: 1 }] };
  const origins = {
    maxPods: { kind: "flag", flag: "max-pods" },
    "evictionHard[memory.available]": { kind: "file", file: "/k.yaml", line: 3, column: 5 },
    "list[0].a": { kind: "default" },
    absent: { kind: "default" },
  };
  deepEqual(configLines(config, origins), [
    { field: "maxPods", value: 5, origin: "--max-pods" },
    { field: "evictionHard[memory.available]", value: "1Mi", origin: "/k.yaml:3:5" },
    { field: "list[0].a", value: 1, origin: "default" },
  ]);
});

describe("doctor", () => {
  test("a healthy machine has no finding", () => {
    deepEqual(
      judge(healthy, undefined).filter(({ severity }) => severity !== "ok"),
      [],
    );
  });
  const rows: readonly (readonly [check: string, severity: "warning" | "error", machine: Partial<Machine>])[] = [
    ["kernel", "warning", { kernel: "4.19.0" }],
    ["Node.js", "warning", { node: "v20.20.2" }],
    ["user", "warning", { uid: 1000 }],
    ["cgroups", "error", { cgroupVersion: undefined }],
    ["cgroups", "error", { cgroupVersion: 1 }],
    ["cgroups", "warning", { cgroupVersion: 1, nextStart: undefined }],
    ["cgroups", "warning", { cgroupVersion: 1, nextStart: { file: "/k", failCgroupV1: false, failSwapOn: true } }],
    ["cgroup controllers", "error", { controllers: ["cpu", "cpuset", "pids"] }],
    ["swap", "error", { swaps: ["/swapfile"] }],
    ["swap", "warning", { swaps: ["/swapfile"], nextStart: undefined }],
    ["disk /nfs", "error", { disks: [{ path: "/nfs", freePercent: 0, freeInodesPercent: 0, hangs: true }] }],
    ["overlay", "error", { modules: [] }],
    ["DNS", "warning", { nameServers: ["127.0.0.53"] }],
    ["DNS", "warning", { nameServers: [] }],
    ["clock", "warning", { clockSynchronised: false }],
    ["disk /", "error", { disks: [{ path: "/", freePercent: 3, freeInodesPercent: 90 }] }],
    ["ports", "warning", { ports: [10250] }],
    ["systemd", "warning", { systemd: false }],
  ];
  for (const [check, severity, machine] of rows) {
    test(`${check}: ${JSON.stringify(machine)}`, () => {
      const found = judge({ ...healthy, ...machine }, undefined).filter((one) => one.severity !== "ok");
      deepEqual(
        found.map((one) => [one.check, one.severity]),
        [[check, severity]],
      );
      match(doctorText(PLAIN, found), /why: [^]+\n +fix: .+/);
    });
  }
  test("on a Docker Engine the advice names docker, and CNI counts with --network-plugin=cni only", () => {
    const away = { ...RUNTIME, name: "docker", reachable: false };
    const endpoint = "unix:///var/run/docker.sock";
    const NONE = { names: [], broken: [] };
    const machine: Machine = { ...healthy, runtimes: [{ unit: "docker", endpoint, answers: false }], cniFiles: NONE };
    const faults = (docker: DockerFacts): readonly (readonly [check: string, fix: string | undefined])[] =>
      judge(machine, node({ runtime: away }, { runtimeEndpoint: "unix:///x/cri.sock", docker }))
        .filter(({ severity }) => severity !== "ok")
        .map(({ check, fix }) => [check, fix]);
    const restart =
      "pods keep running, but none is started or stopped. Start it again: systemctl restart docker; its log: journalctl -u docker";
    const none = [
      ["runtime", "systemctl enable --now docker"],
      ["kubelet", restart],
    ];
    deepEqual(faults({ endpoint, network: { plugin: "none" } }), none);
    const cni = { plugin: "cni" as const, binDirs: ["/b"], confDir: "/c", cacheDir: "/d" };
    deepEqual(faults({ endpoint, network: cni }), [["CNI configuration", "nodelet doctor --fix"], ...none]);
  });
  test("one of a kind is counted in the singular", () => {
    const counts = (machine: Partial<Machine>): string =>
      doctorText(PLAIN, judge({ ...healthy, ...machine }, undefined))
        .trim()
        .split("\n")
        .at(-1) ?? "";
    match(counts({}), /^0 errors, 0 warnings, \d+ checks are fine$/);
    match(counts({ modules: [], uid: 1 }), /^1 error, 1 warning, \d+ checks are fine$/);
    equal(
      doctorText(PLAIN, [{ severity: "ok", check: "x", found: "y" }])
        .trim()
        .split("\n")
        .at(-1),
      "0 errors, 0 warnings, 1 check is fine",
    );
  });
  test("a fix stays in one line, so that it can be pasted", () => {
    const text = doctorText(
      { ...PLAIN, columns: 40 },
      judge({ ...healthy, cgroupVersion: 1, nextStart: undefined }, undefined),
    );
    match(text, /^ +fix: sed -i .* && update-grub && reboot$/m);
  });
  test("problems of a running kubelet are findings", () => {
    const found = judge(healthy, node({}, { mainProblem: "late" }));
    ok(found.some(({ check, severity }) => check === "kubelet" && severity === "error"));
  });
});

describe("secrets in a support bundle", () => {
  const rows: readonly (readonly [text: string, masked: string])[] = [
    ["password=hunter2 x", "password=*** x"],
    ['"token": "abc.def"', '"token": "***"'],
    ["Authorization: Bearer abcdefgh", "Authorization: *** ***"],
    ["https://user:pass@host/x", "https://***@host/x"],
    ["a eyJhbGciOiJI.eyJzdWIiOiIx.sig b", "a *** b"],
    [
      "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\n",
      "-----PRIVATE KEY *** -----END RSA PRIVATE KEY-----\n",
    ],
    ["x -----BEGIN PRIVATE KEY-----\nMII", "x -----PRIVATE KEY ***"],
    ["an ordinary line", "an ordinary line"],
  ];
  for (const [text, masked] of rows) {
    test(text.split("\n")[0] ?? "", () => {
      const out = maskText(text);
      if (text.startsWith("Authorization")) doesNotMatch(out, /abcdefgh/);
      else equal(out, masked);
    });
  }
  test("a pod keeps names of variables, not their values, commands or annotations", () => {
    const given = pod(
      {},
      { containers: [{ name: "app", command: ["sh", "s3cret"], env: [{ name: "A", value: "s3cret" }] }] },
    );
    given.metadata.annotations = { note: "s3cret" };
    const text = JSON.stringify(maskPod(given));
    doesNotMatch(text, /s3cret/);
    match(text, /"name":"A","value":"\*\*\*"/);
  });
});

describe("what containers wrote in a support bundle", () => {
  const rows: readonly (readonly [message: string, masked: string])[] = [
    ["Readiness probe failed: s3cret\nand s3cret", "Readiness probe failed: ***"],
    [
      "Liveness probe errored and resulted in unknown state: s3cret",
      "Liveness probe errored and resulted in unknown state: ***",
    ],
    ["Startup probe warning: s3cret", "Startup probe warning: ***"],
    [
      "Readiness probe failed: HTTP probe failed with statuscode: 503",
      "Readiness probe failed: HTTP probe failed with statuscode: 503",
    ],
    ['Exec lifecycle hook ([sh -c s3cret]) for x failed - error: 1, message: "s3cret"', "Exec lifecycle hook ***"],
    [
      'Error: failed to create containerd task: runc create failed: exec: "s3cret-\\"s3cret": executable file not found in $PATH',
      'Error: failed to create containerd task: runc create failed: exec: "***": executable file not found in $PATH',
    ],
    [
      'manifest /m/a.yaml:4:9: metadata.name: invalid value "s3cret \\"_"; allowed: a DNS name; line 7: spec.x: wrong type {"a":"s3cret"}; allowed: text',
      "manifest /m/a.yaml:4:9: metadata.name: invalid value ***; allowed: a DNS name; line 7: spec.x: wrong type ***; allowed: text",
    ],
    ['spec.y: forbidden "s3cret" (use z)', "spec.y: forbidden *** (use z)"],
    ['x={"reason":"invalid value","got":"\\"s3cret\\""}', 'x={"reason":"invalid value","got":"***"}'],
    ["User x is forbidden: no; invalid value", "User x is forbidden: no; invalid value"],
    ['Back-off pulling image "nodelet.local/none:1"', 'Back-off pulling image "nodelet.local/none:1"'],
  ];
  for (const [message, masked] of rows) {
    test(`a message is masked: ${message.slice(0, 40)}`, () => equal(maskMessage(message), masked));
  }
  test("messages are masked in events, in states and in each line of the log", () => {
    const message = "Readiness probe failed: s3cret";
    doesNotMatch(JSON.stringify(maskMessages([{ reason: "Unhealthy", message }, { deep: [{ message }] }])), /s3cret/);
    equal(maskLog(`I ${message}\nfine\n`), "I Readiness probe failed: ***\nfine\n");
  });
});

const SOURCES: readonly Record<string, unknown>[] = [
  { flexVolume: { driver: "a/b", options: { password: "s3cret", user: "s3cret" }, secretRef: { name: "s3cret" } } },
  { csi: { driver: "csi.example", volumeAttributes: { note: "s3cret" }, nodePublishSecretRef: { name: "s3cret" } } },
  { nfs: { server: "s3cret", path: "/s3cret" } },
  { iscsi: { targetPortal: "s3cret", iqn: "s3cret", initiatorName: "s3cret", lun: 0 } },
  { fc: { targetWWNs: ["s3cret"] } },
  { cephfs: { monitors: ["s3cret"], user: "s3cret", secretFile: "s3cret" } },
  { ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "s3cret" } } } } },
  { aSourceOfTheFuture: { url: "s3cret" } },
];
for (const source of SOURCES) {
  test(`a support bundle has no text of the volume source ${Object.keys(source).join()}`, () => {
    const given = pod({}, { volumes: [{ name: "v", ...source }] });
    const text = JSON.stringify(maskPod(given));
    doesNotMatch(text, /s3cret/);
    match(text, new RegExp(`"name":"v","${Object.keys(source).join()}"`));
  });
}
test("a support bundle has no values of labels and selectors, and no termination message", () => {
  const terminated = { exitCode: 1, reason: "Error", message: "s3cret", startedAt: null, finishedAt: null };
  const given = pod({ containerStatuses: [containerStatus({ terminated })] });
  given.metadata.labels = { app: "s3cret" };
  Object.assign(given.spec, { affinity: { podAffinity: [{ matchLabels: { a: "s3cret" }, values: ["s3cret"] }] } });
  const text = JSON.stringify(maskPod(given));
  doesNotMatch(text, /s3cret/);
  match(text, /"labels":\{"app":"\*\*\*"\}/);
});

test("an archive has blocks of 512 bytes, with name, size and a right sum", () => {
  const archive = tar([{ name: "a/b.txt", content: "hello" }], NOW);
  equal(archive.length, 4 * 512);
  equal(archive.toString("latin1", 0, 7), "a/b.txt");
  equal(archive.toString("latin1", 512, 517), "hello");
});

test("durations and sizes have two units at most", () => {
  deepEqual([5000, 130_000, 720_000, 3_600_000 * 5, 86_400_000 * 3].map(duration), ["5s", "2m10s", "12m", "5h", "3d"]);
  deepEqual([100, 1536, 3 * 2 ** 30].map(bytes), ["100 B", "1.5 KiB", "3.0 GiB"]);
  equal(wrap("one two three four five six seven", 40, "  "), "  one two three four five six seven");
});
