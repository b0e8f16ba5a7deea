// Text to static pod: Kubernetes' reading of YAML, positions, defaults, identity.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { stringify } from "yaml";
import type { DecodeManifestResult, ManifestOrigin } from "../../../src/shared/contracts/tasks.js";
import { defaultPullPolicy } from "../../../src/shared/kubernetes/api/image-name.js";
import { ManifestError } from "../../../src/shared/kubernetes/api/manifest/violation.js";
import type { Container, Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { decodeManifest } from "../../../src/workers/tasks/index.js";
import { fnv128 } from "../../../src/workers/tasks/manifest/fnv128.js";
import { manifest } from "../../support/sources-kit.js";

const FILE = { kind: "file", path: "/etc/kubernetes/manifests/web.yaml" } as ManifestOrigin;
const decode = (text: string | Uint8Array, origin = FILE, nodeName = "Node-1"): DecodeManifestResult =>
  decodeManifest({ origin, text, nodeName });
function podOf(text: string, origin = FILE): Pod {
  const { pods, error } = decode(text, origin);
  assert.deepEqual(error, undefined);
  assert.equal(pods.length, 1);
  return pods[0]!;
}
const containerOf = (extra: string): Container => podOf(manifest("web", extra)).spec.containers[0]!;

test("static pod identity of a file", () => {
  const pod = podOf(manifest("web"));
  assert.equal(pod.metadata.name, "web-node-1");
  assert.equal(pod.metadata.namespace, "default");
  assert.match(pod.metadata.uid, /^[0-9a-f]{32}$/);
  assert.deepEqual(pod.metadata.annotations, {
    "kubernetes.io/config.source": "file",
    "kubernetes.io/config.hash": pod.metadata.uid,
  });
  assert.equal(pod.spec.nodeName, "Node-1");
  assert.deepEqual(pod.spec.tolerations, [{ operator: "Exists", effect: "NoExecute" }]);
  assert.deepEqual(pod.status, { phase: "Pending" });
});

test("a toleration of all NoExecute taints with a time has none in a static pod, as upstream's", () => {
  const tolerations = (list: string): unknown =>
    podOf(manifest("web").replace("spec:\n", `spec:\n  tolerations: ${list}\n`)).spec.tolerations;
  const all = { operator: "Exists", effect: "NoExecute" };
  assert.deepEqual(tolerations("[{operator: Exists, effect: NoExecute, tolerationSeconds: 5}]"), [all]);
  assert.deepEqual(tolerations("[{operator: Exists, effect: NoExecute}, {key: a, operator: Exists}]"), [
    all,
    { key: "a", operator: "Exists" },
  ]);
  assert.deepEqual(tolerations("[{operator: Exists}]"), [{ operator: "Exists" }, all]);
});

test("identity of a URL: no toleration, other source, other UID; lists allowed", () => {
  const url: ManifestOrigin = { kind: "http", url: "http://127.0.0.1/pods" };
  const pod = podOf(manifest("web"), url);
  assert.equal(pod.spec.tolerations, undefined);
  assert.equal(pod.metadata.annotations?.["kubernetes.io/config.source"], "http");
  assert.notEqual(pod.metadata.uid, podOf(manifest("web")).metadata.uid);
  const item = { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } };
  const list = { apiVersion: "v1", kind: "PodList", items: [item, { ...item, metadata: { name: "b" } }] };
  const decoded = decode(JSON.stringify(list), url);
  assert.deepEqual(
    decoded.pods.map((one) => one.metadata.name),
    ["a-node-1", "b-node-1"],
  );
  const broken = { ...list, items: [item, { ...item, spec: { containers: [] } }] };
  assert.equal(decode(JSON.stringify(broken), url).error?.[0]?.field, "items[1].spec.containers");
});

test("kinds of a list's items: a PodList has pods, a List has what its items name, as upstream's", () => {
  const url: ManifestOrigin = { kind: "http", url: "http://127.0.0.1/pods" };
  const item = { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } };
  const found = (list: string, kind: object): string => {
    const { pods, error, warnings } = decode(
      JSON.stringify({ apiVersion: "v1", kind: list, items: [{ ...item, ...kind }] }),
      url,
    );
    const fields = [...(error ?? []), ...warnings].map(({ field }) => field);
    return [pods.map(({ metadata }) => metadata.name).join(), ...fields].join(" ");
  };
  const rows: [list: string, kind: object, found: string][] = [
    ["PodList", {}, "a-node-1"],
    ["PodList", { kind: null }, "a-node-1"],
    ["PodList", { kind: "" }, "a-node-1"],
    ["PodList", { kind: "Service" }, "a-node-1 items[0].kind"],
    ["PodList", { KIND: "Service" }, "a-node-1 items[0].kind items[0].KIND"],
    ["PodList", { kind: 5 }, " items[0].kind"],
    ["List", {}, "a-node-1"],
    ["List", { kind: "Service" }, " items[0].kind"],
    ["List", { kind: "" }, " items[0].kind"],
  ];
  for (const [list, kind, expected] of rows) assert.equal(found(list, kind), expected, JSON.stringify([list, kind]));
});

test("an explicit uid and namespace are kept; the kubelet's own annotations are no content", () => {
  const text = manifest("web").replace("  name: web", "  name: web\n  uid: abc\n  namespace: kube-system");
  const pod = podOf(text);
  assert.equal(pod.metadata.uid, "abc");
  assert.equal(pod.metadata.namespace, "kube-system");
  const seen = (value: string): string =>
    manifest("web").replace("  name: web", `  name: web\n  annotations: {kubernetes.io/config.seen: "${value}"}`);
  assert.equal(podOf(seen("1")).metadata.uid, podOf(seen("2")).metadata.uid);
  assert.equal(podOf(seen("1")).metadata.annotations?.["kubernetes.io/config.seen"], undefined);
});

test("FNV-1a 128 of known texts", () => {
  assert.equal(fnv128(""), "6c62272e07bb014262b821756295c58d");
  assert.equal(fnv128("a"), "d228cb696f1a8caf78912b704e4a8964");
  assert.equal(fnv128("foobar"), "343e1662793c64bf6f0d3597ba446f18");
  const plain = (text: string): string => {
    let hash = 0x6c62272e07bb014262b821756295c58dn;
    for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * ((1n << 88n) + 0x13bn)) & ((1n << 128n) - 1n);
    return hash.toString(16).padStart(32, "0");
  };
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => fnv128(text) === plain(text)));
});

test("YAML as Kubernetes reads it", () => {
  const yes = podOf(manifest("web").replace("spec:", "spec:\n  hostNetwork: yes\n  hostUsers: on\n  hostPID: off"));
  assert.equal(yes.spec.hostNetwork, true);
  assert.equal(yes.spec.hostUsers, true);
  // No pointer in Go: false is absent.
  assert.equal(yes.spec.hostPID, undefined);
  for (const [mode, value] of [
    ["0644", 420],
    ["0o644", 420],
    ["0x10", 16],
    ["420", 420],
  ] as const) {
    const text = manifest("web").replace("spec:", `spec:\n  volumes: [{name: v, downwardAPI: {defaultMode: ${mode}}}]`);
    assert.equal((podOf(text).spec.volumes?.[0]?.["downwardAPI"] as { defaultMode: number }).defaultMode, value);
  }
  assert.deepEqual(containerOf('args: [22:22, 2001-01-01, ~x, "0644"]').args, ["22:22", "2001-01-01", "~x", "0644"]);
  const merged = containerOf("env: [&a {name: A, value: x}, {<<: *a, name: B}]");
  assert.deepEqual(merged.env, [
    { name: "A", value: "x" },
    { name: "B", value: "x" },
  ]);
  assert.match(decode(manifest("web", "args: [yes]")).error?.[0]?.hint ?? "", /quotes/);
});

test("texts that upstream's reader takes and others refuse", () => {
  assert.deepEqual(containerOf("args: [cat, -, ., e7438573,\nnext]").args, ["cat", "-", ".", "e7438573", "next"]);
  const utf16 = Buffer.from(`\uFEFF${manifest("web").replaceAll("\n", "\r\n")}`, "utf16le");
  const origin = { kind: "file", path: "/m" } as const;
  assert.equal(decodeManifest({ origin, text: utf16, nodeName: "n" }).pods[0]?.metadata.name, "web-n");
  const grace = (seconds: string): number | undefined =>
    podOf(manifest("web").replace("spec:", `spec:\n  terminationGracePeriodSeconds: ${seconds}`)).spec
      .terminationGracePeriodSeconds;
  assert.deepEqual([grace("-1"), grace("9223372036854775807")], [1, Number.MAX_SAFE_INTEGER]);
  const { resources } = containerOf("resources: {limits: {cpu: 0.5, memory: 1.5Gi}}");
  assert.deepEqual(resources?.limits, { cpu: "500m", memory: "1536Mi" });
  assert.equal(containerOf('imagePullPolicy: ""').imagePullPolicy, "IfNotPresent");
});

test("key order, comments, quoting and JSON make the same UID; content and path another", () => {
  const uid = podOf(manifest("web")).metadata.uid;
  const reordered = `# a comment\nkind: Pod\nspec: {containers: [{"image": busybox:1.36, name: main}]}\nmetadata: {name: web}\napiVersion: v1\n`;
  assert.equal(podOf(reordered).metadata.uid, uid);
  assert.equal(podOf(`${manifest("web")}status: {}\n`).metadata.uid, uid);
  assert.notEqual(podOf(manifest("web", "tty: true")).metadata.uid, uid);
  assert.notEqual(podOf(manifest("web"), { kind: "file", path: "/other.yaml" }).metadata.uid, uid);
  assert.equal(uid, podOf(manifest("web")).metadata.uid);
});

test("unknown fields, equal keys and further documents: one warning each, with the line", () => {
  const { warnings, pods } = decode(
    `${manifest("web", "imagePulPolicy: Never\n    tty: false\n    tty: true")}---\nx: 1\n`,
  );
  assert.equal(pods.length, 1);
  assert.equal(pods[0]?.spec.containers[0]?.tty, true);
  assert.deepEqual(
    warnings.map((one) => one.line).sort((a, b) => a - b),
    [9, 11, 12],
  );
  const unknown = warnings.find((one) => one.field !== "");
  assert.deepEqual(unknown, {
    field: "spec.containers[0].imagePulPolicy",
    message: 'unknown field, ignored (did you mean "imagePullPolicy"?)',
    line: 9,
    column: 5,
  });
});

test("the error names file, line, column, field, value, the allowed values and the nearest name", () => {
  const { error } = decode(manifest("web", "imagePullPolicy: Alwayss"));
  assert.equal(
    new ManifestError("/m/x.yaml", error ?? []).message,
    'manifest /m/x.yaml:9:22: spec.containers[0].imagePullPolicy: unsupported value "Alwayss"; ' +
      'allowed: Always, IfNotPresent, Never (did you mean "Always"?)',
  );
});

const syntax: [string, string | Uint8Array, RegExp][] = [
  ["empty", "", /empty/],
  ["comment only", "# nothing\n", /the file is empty; expected one v1 Pod/],
  ["scalar", "hello", /a v1 Pod/],
  ["no UTF-8", new Uint8Array([0x61, 0xff]), /UTF-8/],
  ["half a flow", "{a: [1,", /syntax/],
  ["tabs", "a:\n\t- b", /syntax/],
  ["alias of nothing", "a: *b", /syntax/],
  [
    "alias bomb",
    `a: &a [${"x,".repeat(50)}]\nb: &b [${"*a,".repeat(50)}]\nc: [${"*b,".repeat(50)}]\n`,
    /most of the document comes from aliases/,
  ],
  ["deep JSON", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`, /levels of nesting/],
  ["deep YAML", "[".repeat(20_000), /nested more than 10000 levels deep/],
  ["too large", "#".repeat(10 * 1024 * 1024 + 1), /at most 10 MiB/],
];
for (const [what, text, sentence] of syntax) {
  test(`unreadable: ${what}`, () => {
    const { error, pods } = decode(text);
    assert.deepEqual(pods, []);
    assert.match(new ManifestError("/m", error ?? []).message, sentence);
  });
}

test("an alias of its own parent ends in an error, not in a loop", () => {
  const { error } = decode("&a\napiVersion: v1\nkind: Pod\nspec: *a\n");
  assert.ok((error ?? []).length > 0);
});

test("defaults of the pod", () => {
  const { spec } = podOf(manifest("web"));
  assert.deepEqual(
    { ...spec, containers: [], tolerations: [] },
    {
      containers: [],
      tolerations: [],
      nodeName: "Node-1",
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      enableServiceLinks: true,
      schedulerName: "default-scheduler",
    },
  );
});

const defaults: [string, string, Partial<Container>][] = [
  [
    "container",
    "tty: true",
    {
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "IfNotPresent",
      resources: {},
    },
  ],
  ["port", "ports: [{containerPort: 80}]", { ports: [{ protocol: "TCP", containerPort: 80 }] }],
  [
    "requests from limits",
    "resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 100m}}",
    { resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "100m", memory: "1Gi" } } },
  ],
  [
    "probe",
    "livenessProbe: {httpGet: {port: 80}, timeoutSeconds: 0}",
    {
      livenessProbe: {
        httpGet: { scheme: "HTTP", path: "/", port: 80 },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
    },
  ],
  [
    "grpc probe",
    "startupProbe: {grpc: {port: 1}, periodSeconds: 3}",
    {
      startupProbe: {
        grpc: { service: "", port: 1 },
        timeoutSeconds: 1,
        periodSeconds: 3,
        successThreshold: 1,
        failureThreshold: 3,
      },
    },
  ],
  [
    "hook",
    "lifecycle: {preStop: {httpGet: {port: 1}}}",
    { lifecycle: { preStop: { httpGet: { scheme: "HTTP", path: "/", port: 1 } } } },
  ],
  [
    "field reference",
    "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
    { env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }] },
  ],
  [
    "resource reference",
    "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]",
    { env: [{ name: "A", valueFrom: { resourceFieldRef: { divisor: "0", resource: "limits.cpu" } } }] },
  ],
  ["security context", "securityContext: {privileged: true}", { securityContext: { privileged: true } }],
];
for (const [what, extra, expected] of defaults) {
  test(`default: ${what}`, () => {
    const container = containerOf(extra);
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(container[key as keyof Container], value);
  });
}

test("default: host network gives every port its host port; volumes", () => {
  const text = manifest("web", "ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81}]").replace(
    "spec:",
    "spec:\n  hostNetwork: true\n  volumes: [{name: a}, {name: b, hostPath: {path: /b}}]",
  );
  const { spec } = podOf(text);
  assert.deepEqual(
    spec.containers[0]?.ports?.map((port) => port.hostPort),
    [80, 81],
  );
  assert.deepEqual(spec.volumes, [
    { name: "a", emptyDir: {} },
    { name: "b", hostPath: { type: "", path: "/b" } },
  ]);
});

test("default: pull policy by tag", () => {
  const cases: [string, string][] = [
    ["busybox", "Always"],
    ["busybox:latest", "Always"],
    ["busybox:1", "IfNotPresent"],
    ["localhost:5000/busybox", "Always"],
    ["localhost:5000/busybox:1", "IfNotPresent"],
    [`busybox@sha256:${"0".repeat(64)}`, "IfNotPresent"],
    [`busybox:latest@sha256:${"0".repeat(64)}`, "Always"],
    ["x y", "IfNotPresent"],
  ];
  for (const [image, policy] of cases) assert.equal(defaultPullPolicy(image), policy, image);
});

const word = fc.stringMatching(/^[a-z]([a-z0-9]{0,8}[a-z0-9])?$/);
/** The yaml package writes "0o7" without quotes; Kubernetes' YAML reads a number there. */
const text = fc.string().filter((value) => !/^[-+]?0o[0-7]+$/.test(value));
const container = fc.record(
  {
    name: word,
    image: word,
    command: fc.array(text),
    env: fc.array(fc.record({ name: word, value: text })),
    tty: fc.boolean(),
    workingDir: text,
    imagePullPolicy: fc.constantFrom("Always", "IfNotPresent", "Never"),
    ports: fc.array(fc.record({ containerPort: fc.integer({ min: 1, max: 65535 }) })),
    resources: fc.record({ requests: fc.record({ cpu: fc.integer({ min: 0, max: 64 }), memory: fc.constant("1Gi") }) }),
  },
  { requiredKeys: ["name", "image"] },
);
const podValue = fc.record({
  apiVersion: fc.constant("v1"),
  kind: fc.constant("Pod"),
  metadata: fc.record({ name: word, labels: fc.dictionary(word, word) }),
  spec: fc.record({
    containers: fc.uniqueArray(container, { minLength: 1, maxLength: 4, selector: (one) => one.name }),
  }),
});
/** "", false and empty lists are left out, but as items of a list. */
function withoutZeros(value: unknown): unknown {
  if (value === "" || value === false) return undefined;
  if (!Array.isArray(value)) return value;
  if (value.length === 0) return undefined;
  return value.map((item: unknown) => {
    if (typeof item !== "object" || item === null) return item;
    return Object.fromEntries(Object.entries(item).filter(([, member]) => withoutZeros(member) !== undefined));
  });
}
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

test("property: a pod reads the same from YAML, JSON and any key order, and nothing written is lost", () => {
  fc.assert(
    fc.property(podValue, (value) => {
      const yaml = podOf(stringify(value, { version: "1.1" }));
      assert.deepEqual(podOf(JSON.stringify(value)), yaml);
      assert.equal(podOf(JSON.stringify(reversed(value))).metadata.uid, yaml.metadata.uid);
      for (const [index, written] of value.spec.containers.entries()) {
        for (const [key, item] of Object.entries(written)) {
          if (key === "ports" || key === "resources") continue;
          assert.deepEqual(yaml.spec.containers[index]?.[key as keyof Container], withoutZeros(item));
        }
      }
    }),
    { numRuns: 60 },
  );
});
