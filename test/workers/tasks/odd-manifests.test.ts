// Odd but plausible texts of manifests, and what the kubelet makes of each: the value that it takes, or the fault with
// its place. Expected is what upstream's file source does (sigs.k8s.io/yaml, decoding, defaults, validation). The
// grammar of YAML and the values of single fields have recorded tables: yaml-reader.jsonl, pod-values.jsonl.

import { deepEqual, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { violationText, warningSentence } from "../../../src/shared/kubernetes/api/manifest/violation.js";
import { decodeManifest } from "../../../src/workers/tasks/manifest/decode.js";
import { manifest } from "../../support/sources-kit.js";

type Taken = readonly [
  title: string,
  text: string | Uint8Array,
  values: Readonly<Record<string, unknown>>,
  warning?: string,
];
type Refused = readonly [title: string, text: string | Uint8Array, ...faults: string[]];

/** A pod with more lines in metadata (after line 4), in spec (after its line 5), or in its container (line 9). */
const meta = (lines: string): string => manifest("web").replace("  name: web\n", `  name: web\n  ${lines}\n`);
const spec = (lines: string): string => manifest("web").replace("spec:\n", `spec:\n  ${lines}\n`);
const container = (lines: string): string => manifest("web", lines);
const named = (name: string): string => manifest(name);

const decode = (text: string | Uint8Array): ReturnType<typeof decodeManifest> =>
  decodeManifest({ origin: { kind: "file", path: "/m/web.yaml" }, text, nodeName: "node-1" });

function valueAt(value: unknown, path: string): unknown {
  return path.split(".").reduce((at, step) => (at as Record<string, unknown> | undefined)?.[step], value);
}

const C = "spec.containers.0";
const LABEL = 'a DNS label: lower-case letters, digits and "-", at most 63 characters, a letter or digit at both ends';
const NAME =
  'a DNS name: lower-case letters, digits, "-" and ".", at most 253 characters, a letter or digit at both ends of each part';
const QUOTES = "(write it in quotes to make it a string)";
const AMOUNT = 'a quantity such as "100m" or "128Mi"';

const TAKEN: readonly Taken[] = [
  // Scalars
  ["a name that looks like a number in quotes", named('"123"'), { "metadata.name": "123-node-1" }],
  ["a name with an exponent and letters", named("e7438573"), { "metadata.name": "e7438573-node-1" }],
  ["a name that is a date", named("2001-01-01"), { "metadata.name": "2001-01-01-node-1" }],
  ["a name with a tag of a string", named("!!str 123"), { "metadata.name": "123-node-1" }],
  ["a name of base 64", named("!!binary d2Vi"), { "metadata.name": "web-node-1" }],
  ["a name with a tag of its own", named("!name web"), { "metadata.name": "web-node-1" }],
  [
    "yes, on and off as booleans",
    container("stdin: yes\n    stdinOnce: On\n    tty: off"),
    { [`${C}.stdin`]: true, [`${C}.stdinOnce`]: true, [`${C}.tty`]: undefined },
  ],
  [
    "times of a day",
    container("args: [12:30, 12:30:45, 190:20:30]"),
    { [`${C}.args`]: ["12:30", "12:30:45", "190:20:30"] },
  ],
  ["a version with two dots", container("args: [1.2.3, 1.36.0-rc.1]"), { [`${C}.args`]: ["1.2.3", "1.36.0-rc.1"] }],
  [
    "a port as a float without a fraction",
    container("ports: [{containerPort: 80.0}]"),
    { [`${C}.ports.0.containerPort`]: 80 },
  ],
  ["a port with an exponent", container("ports: [{containerPort: 8.0e+1}]"), { [`${C}.ports.0.containerPort`]: 80 }],
  [
    "a port in octal, hexadecimal and binary digits",
    container("ports: [{containerPort: 0120}, {containerPort: 0x51}, {containerPort: 0b1010010}]"),
    { [`${C}.ports`]: [80, 81, 82].map((containerPort) => ({ protocol: "TCP", containerPort })) },
  ],
  ["a number with underscores", spec("activeDeadlineSeconds: 1_000"), { "spec.activeDeadlineSeconds": 1000 }],
  [
    "a user of the largest id",
    spec("securityContext: {runAsUser: 2147483647}"),
    { "spec.securityContext.runAsUser": 2147483647 },
  ],
  ["a grace period below zero", spec("terminationGracePeriodSeconds: -5"), { "spec.terminationGracePeriodSeconds": 1 }],
  ["no grace period at all", spec("terminationGracePeriodSeconds: 0"), { "spec.terminationGracePeriodSeconds": 0 }],
  [
    "a probe's port as a name",
    container("ports: [{name: http, containerPort: 80}]\n    livenessProbe: {httpGet: {port: http}}"),
    { [`${C}.livenessProbe.httpGet.port`]: "http" },
  ],
  // Null and zero values
  [
    "null maps and lists",
    meta("labels: null\n  annotations: ~\n  finalizers:"),
    { "metadata.labels": undefined, "metadata.finalizers": undefined },
  ],
  [
    "null for what has a default",
    spec("restartPolicy: null\n  dnsPolicy: ~\n  terminationGracePeriodSeconds:"),
    { "spec.restartPolicy": "Always", "spec.dnsPolicy": "ClusterFirst", "spec.terminationGracePeriodSeconds": 30 },
  ],
  [
    '"" for what has a default',
    spec('restartPolicy: ""\n  dnsPolicy: ""\n  schedulerName: ""\n  hostname: ""'),
    {
      "spec.restartPolicy": "Always",
      "spec.dnsPolicy": "ClusterFirst",
      "spec.schedulerName": "default-scheduler",
      "spec.hostname": undefined,
    },
  ],
  ["a label without a value", meta("labels: {a: , b: null, c: ''}"), { "metadata.labels": { a: "", b: "", c: "" } }],
  [
    "null in lists of texts",
    container("command: [sh, null, ~]\n    args: null"),
    { [`${C}.command`]: ["sh", "", ""], [`${C}.args`]: undefined },
  ],
  [
    "a variable without a value",
    container("env: [{name: A}, {name: B, value: null}, {name: C, value: ''}]"),
    { [`${C}.env`]: [{ name: "A" }, { name: "B" }, { name: "C" }] },
  ],
  [
    "empty maps and lists",
    container("resources: {}\n    ports: []\n    env: []\n    securityContext: {}"),
    { [`${C}.resources`]: {}, [`${C}.ports`]: undefined, [`${C}.securityContext`]: {} },
  ],
  ["a volume without a source", spec("volumes: [{name: v}]"), { "spec.volumes": [{ name: "v", emptyDir: {} }] }],
  [
    "a volume whose source is null",
    spec("volumes: [{name: v, hostPath: null}]"),
    { "spec.volumes": [{ name: "v", emptyDir: {} }] },
  ],
  ["a namespace of nothing", meta('namespace: ""'), { "metadata.namespace": "default" }],
  [
    "a creation time with an hour of one digit and a comma",
    meta('creationTimestamp: "2026-01-01T3:00:00,5Z"'),
    { "metadata.creationTimestamp": "2026-01-01T03:00:00Z" },
  ],
  [
    "a creation time of null, as kubectl writes it",
    meta("creationTimestamp: null"),
    { "metadata.creationTimestamp": undefined },
  ],
  [
    "a status, as kubectl writes it",
    `${manifest("web")}status: {phase: Running, nonsense: 1}\n`,
    { "status.phase": "Pending" },
  ],
  // Quantities
  [
    "amounts as numbers",
    container("resources: {limits: {cpu: 2, memory: 1e9}}"),
    { [`${C}.resources.limits`]: { cpu: "2", memory: "1G" } },
  ],
  [
    "amounts with fractions",
    container("resources: {limits: {cpu: 0.25, memory: 0.5Gi}}"),
    { [`${C}.resources.limits`]: { cpu: "250m", memory: "512Mi" } },
  ],
  [
    "amounts without a digit on one side of the point",
    container('resources: {limits: {cpu: ".5", memory: "5."}}'),
    { [`${C}.resources.limits`]: { cpu: "500m", memory: "5." } },
  ],
  [
    "amounts with signs and spaces",
    container('resources: {limits: {cpu: "+1", memory: " 64Mi "}}'),
    { [`${C}.resources.limits`]: { cpu: "+1", memory: "64Mi" } },
  ],
  [
    "exponents with a capital letter, and exa",
    container('resources: {limits: {cpu: "1E3", memory: "1E"}}'),
    { [`${C}.resources.limits`]: { cpu: "1E3", memory: "1E" } },
  ],
  [
    "amounts smaller than a thousandth",
    container("resources: {limits: {cpu: 100u, memory: 128Mi}}"),
    { [`${C}.resources.limits.cpu`]: "1m" },
  ],
  [
    "an amount of nothing",
    container("resources: {requests: {cpu: null, memory: 0}}"),
    { [`${C}.resources.requests`]: { cpu: "0", memory: "0" } },
  ],
  [
    "thousandths of a byte",
    spec("volumes: [{name: v, emptyDir: {sizeLimit: 1500m}}]"),
    { "spec.volumes.0.emptyDir.sizeLimit": "1500m" },
  ],
  // The form of the text
  ["a byte order mark", `\uFEFF${manifest("web")}`, { "metadata.name": "web-node-1" }],
  [
    "a byte order mark before JSON",
    `\uFEFF${JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec: { containers: [{ name: "c", image: "i" }] } })}`,
    { "metadata.name": "web-node-1" },
  ],
  [
    "line ends of Windows",
    manifest("web", "args: [a,\n      b]").replaceAll("\n", "\r\n"),
    { [`${C}.args`]: ["a", "b"] },
  ],
  ["line ends of old Macs", manifest("web").replaceAll("\n", "\r"), { "metadata.name": "web-node-1" }],
  ["UTF-16 with its mark", Buffer.from(`\uFEFF${manifest("web")}`, "utf16le"), { "metadata.name": "web-node-1" }],
  [
    "tabs in comments and after values",
    manifest("web").replace("kind: Pod\n", "kind: Pod\t\n#\tcomment\n").replace("name: web\n", "name:\tweb\t# web\n"),
    { "metadata.name": "web-node-1" },
  ],
  [
    "a directive, a document mark and its end",
    `%YAML 1.1\n---\n${manifest("web")}...\n`,
    { "metadata.name": "web-node-1" },
  ],
  [
    "a comment before the document mark",
    `# a comment\n\n--- # another\n${manifest("web")}`,
    { "metadata.name": "web-node-1" },
  ],
  [
    "a second document",
    `${manifest("web")}---\nkind: Service\n`,
    { "metadata.name": "web-node-1" },
    "more than one document: only the first one is read, one pod per file",
  ],
  ["an empty document at the end", `${manifest("web")}---\n`, { "metadata.name": "web-node-1" }],
  [
    "JSON with spaces before it",
    `\n\t ${JSON.stringify({ kind: "Pod", apiVersion: "v1", metadata: { name: "web" }, spec: { containers: [{ name: "c", image: "i" }] } }, null, "\t")}\n`,
    { "metadata.name": "web-node-1" },
  ],
  [
    "keys in quotes and braces over several lines",
    "{\"apiVersion\": v1, kind: 'Pod',\n metadata: {name: web},\n spec: {containers: [{name: c, image: i}]}}\n",
    { "metadata.name": "web-node-1" },
    'read as YAML: upstream\'s kubelet reads a text that begins with "{" as JSON, and refuses this one',
  ],
  [
    "a list at the column of its key",
    manifest(
      "web",
      "command:\n    - sh\n    - -c\n    - |\n      a\n       b\n\n    args:\n    - >-\n      x\n      y",
    ),
    { [`${C}.command`]: ["sh", "-c", "a\n b\n"], [`${C}.args`]: ["x y"] },
  ],
  [
    "a text of several lines without its last line end",
    manifest("web", "args:\n    - |+\n      a\n").trimEnd(),
    { [`${C}.args`]: ["a"] },
  ],
  [
    "escapes in double quotes",
    container('args: ["\\x41\\u00e4\\U0001F600\\t\\e"]'),
    { [`${C}.args`]: ["Aä😀\t\u001b"] },
  ],
  [
    "anchors and merge keys",
    spec(
      "securityContext: &a {runAsUser: 5, runAsGroup: 6}\n  initContainers: [{name: i, image: i, securityContext: {<<: *a, runAsGroup: 7}}]",
    ),
    { "spec.initContainers.0.securityContext": { runAsUser: 5, runAsGroup: 7 } },
  ],
  [
    "several merge keys",
    container("env: [&a {name: A, value: x}, &b {name: B, value: z}, {<<: [*a, *b], name: C}]"),
    { [`${C}.env.2`]: { name: "C", value: "x" } },
  ],
  [
    "a key given twice",
    manifest("web").replace("    image: busybox:1.36", "    image: a\n    image: b"),
    { [`${C}.image`]: "b" },
    "key given twice: the last one counts",
  ],
  [
    "a key of numbers in a map of texts",
    meta("labels: {1: a, true: b, 1.5: c}"),
    { "metadata.labels": { "1": "a", true: "b", "1.5": "c" } },
  ],
  // Fields
  [
    "an unknown field",
    container("comand: [x]"),
    { [`${C}.comand`]: undefined },
    `spec.containers[0].comand: unknown field, ignored (did you mean "command"?)`,
  ],
  [
    "a field in the wrong case",
    container("imagepullpolicy: Never"),
    { [`${C}.imagePullPolicy`]: "IfNotPresent" },
    `spec.containers[0].imagepullpolicy: unknown field, ignored (did you mean "imagePullPolicy"?)`,
  ],
  [
    "an unknown field at the top",
    `${manifest("web")}data: {a: b}\n`,
    { "metadata.name": "web-node-1" },
    "data: unknown field, ignored",
  ],
  [
    "a kind in another case, which Go reads before it knows the kind's fields",
    manifest("web").replace("kind: Pod", "Kind: Pod"),
    { kind: "Pod", "metadata.name": "web-node-1" },
    'Kind: unknown field, ignored (did you mean "kind"?)',
  ],
  [
    "the node's name by the field's name of the first releases",
    container("env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.host}}}]"),
    { [`${C}.env.0.valueFrom.fieldRef.fieldPath`]: "spec.host" },
  ],
  [
    "labels and annotations of odd names as variables",
    container(
      `env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a.b/C_d-1']"}}}, {name: B, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['A.B/c']"}}}]`,
    ),
    { [`${C}.env.1.name`]: "B" },
  ],
  [
    "two files of one path in a downwardAPI volume",
    spec(
      "volumes: [{name: v, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}, {path: a, fieldRef: {fieldPath: metadata.uid}}]}}]",
    ),
    { "spec.volumes.0.downwardAPI.items.1.path": "a" },
  ],
  [
    "a host port of an init container beside the node's network",
    spec("hostNetwork: true\n  initContainers: [{name: i, image: b, ports: [{containerPort: 1, hostPort: 2}]}]"),
    { "spec.initContainers.0.ports.0.hostPort": 2 },
  ],
  [
    "a hook that sleeps for no time, and a grace period below zero",
    spec("terminationGracePeriodSeconds: -5").replace(
      "    image: busybox:1.36\n",
      "    image: busybox:1.36\n    lifecycle: {preStop: {sleep: {seconds: 0}}}\n",
    ),
    { "spec.terminationGracePeriodSeconds": 1, [`${C}.lifecycle.preStop.sleep.seconds`]: 0 },
  ],
  [
    "huge pages of the pod as a whole, and processors of its container",
    spec("resources: {limits: {hugepages-2Mi: 4Mi}}").replace(
      "    image: busybox:1.36\n",
      "    image: busybox:1.36\n    resources: {requests: {cpu: 10m}}\n",
    ),
    { "spec.resources.requests": { cpu: "10m", "hugepages-2Mi": "4Mi" } },
  ],
  [
    "a variable of huge pages without a size",
    container("env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.hugepages-}}}]"),
    { [`${C}.env.0.valueFrom.resourceFieldRef`]: { resource: "limits.hugepages-", divisor: "0" } },
  ],
  [
    "a variable's name with spaces and dots",
    container('env: [{name: "A b.c-1", value: x}, {name: 1A, value: z}]'),
    { [`${C}.env.0.name`]: "A b.c-1" },
  ],
  [
    "letters of other scripts in values",
    container("args: [日本語, Straße, ‮]"),
    { [`${C}.args`]: ["日本語", "Straße", "\u202e"] },
  ],
  [
    "two containers with one container port",
    container("ports: [{containerPort: 80}, {containerPort: 80}]"),
    { [`${C}.ports.1.containerPort`]: 80 },
  ],
  [
    "a name of 63 characters for a container",
    container("").replace("name: main", `name: ${"a".repeat(63)}`),
    { [`${C}.name`]: "a".repeat(63) },
  ],
];

const REFUSED: readonly Refused[] = [
  [
    "an argument that is the letter y",
    container("args: [y]"),
    `9:12: spec.containers[0].args[0]: wrong type true; allowed: a string ${QUOTES}`,
  ],
  // Scalars
  ["a name that is a number", named("123"), `4:9: metadata.name: wrong type 123; allowed: a string ${QUOTES}`],
  ["a name that is a boolean", named("yes"), `4:9: metadata.name: wrong type true; allowed: a string ${QUOTES}`],
  ["a name with an exponent only", named("1e3"), `4:9: metadata.name: wrong type 1000; allowed: a string ${QUOTES}`],
  ["a name that is null", named("~"), "4:9: metadata.name: required value: it must be a string"],
  [
    "a label that is a boolean",
    meta("labels: {a: on}"),
    `5:15: metadata.labels.a: wrong type true; allowed: a string ${QUOTES}`,
  ],
  [
    "an argument that is a number",
    container("args: [sleep, 3600]"),
    `9:19: spec.containers[0].args[1]: wrong type 3600; allowed: a string ${QUOTES}`,
  ],
  [
    "a variable's value that is a number",
    container("env: [{name: A, value: 1}]"),
    `9:28: spec.containers[0].env[0].value: wrong type 1; allowed: a string ${QUOTES}`,
  ],
  [
    "a port that is a text",
    container('ports: [{containerPort: "80"}]'),
    '9:29: spec.containers[0].ports[0].containerPort: wrong type "80"; allowed: an integer',
  ],
  [
    "a port with a fraction",
    container("ports: [{containerPort: 80.5}]"),
    "9:29: spec.containers[0].ports[0].containerPort: wrong type 80.5; allowed: an integer",
  ],
  [
    "a port beyond 16 bits",
    container("ports: [{containerPort: 65536}]"),
    "9:29: spec.containers[0].ports[0].containerPort: invalid value 65536; allowed: 1 to 65535",
  ],
  [
    "a probe's port as a number in quotes",
    container('livenessProbe: {httpGet: {port: "80"}}'),
    '9:37: spec.containers[0].livenessProbe.httpGet.port: invalid value "80"; allowed: 1 to 65535, or a port name: at most 15 lower-case letters, digits and "-", with at least one letter, no "--", a letter or digit at both ends',
  ],
  [
    "a grace period that is a duration",
    spec("terminationGracePeriodSeconds: 30s"),
    '6:34: spec.terminationGracePeriodSeconds: wrong type "30s"; allowed: an integer',
  ],
  [
    "a number beyond 64 bits",
    spec("terminationGracePeriodSeconds: 9223372036854775808"),
    "6:34: spec.terminationGracePeriodSeconds: invalid value 9223372036854775808; allowed: an integer of 64 bits",
  ],
  [
    "a boolean that is a text",
    container('tty: "true"'),
    '9:10: spec.containers[0].tty: wrong type "true"; allowed: true or false',
  ],
  // Quantities
  [
    "an amount with two suffixes",
    container("resources: {limits: {cpu: 1e3m}}"),
    `9:31: spec.containers[0].resources.limits.cpu: invalid value "1e3m"; allowed: ${AMOUNT}`,
  ],
  [
    "an amount of no text",
    container('resources: {limits: {cpu: ""}}'),
    `9:31: spec.containers[0].resources.limits.cpu: invalid value ""; allowed: ${AMOUNT}`,
  ],
  [
    "an amount below zero",
    container("resources: {limits: {memory: -1Mi}}"),
    '9:34: spec.containers[0].resources.limits.memory: invalid value "-1Mi"; allowed: zero or more',
  ],
  [
    "an amount in a unit of its own",
    container("resources: {limits: {memory: 64MB}}"),
    `9:34: spec.containers[0].resources.limits.memory: invalid value "64MB"; allowed: ${AMOUNT}`,
  ],
  // Names
  ["a name in capital letters", named("Web"), `4:9: metadata.name: invalid value "Web"; allowed: ${NAME}`],
  ["a name with an underscore", named("my_pod"), `4:9: metadata.name: invalid value "my_pod"; allowed: ${NAME}`],
  ["a name with letters of another script", named("wäb"), `4:9: metadata.name: invalid value "wäb"; allowed: ${NAME}`],
  [
    "a name that is too long with the node's",
    named("a".repeat(250)),
    `4:9: metadata.name: invalid value "${"a".repeat(79)}…; allowed: at most 246 characters: "-node-1" is added to it`,
  ],
  [
    "a container's name of 64 characters",
    container("").replace("name: main", `name: ${"a".repeat(64)}`),
    `7:11: spec.containers[0].name: invalid value "${"a".repeat(64)}"; allowed: ${LABEL}`,
  ],
  [
    "a container's name with a dot",
    container("").replace("name: main", "name: a.b"),
    `7:11: spec.containers[0].name: invalid value "a.b"; allowed: ${LABEL}`,
  ],
  [
    "a variable's name with an equals sign",
    container('env: [{name: "A=B"}]'),
    '9:18: spec.containers[0].env[0].name: invalid value "A=B"; allowed: printable ASCII characters other than "="',
  ],
  [
    "annotations of more than 256 KiB in UTF-8",
    meta(`annotations: {a: ${"日".repeat(90_000)}}`),
    "5:16: metadata.annotations: limit: 256 KiB in all",
  ],
  [
    "a policy in the wrong case",
    container("imagePullPolicy: always"),
    '9:22: spec.containers[0].imagePullPolicy: unsupported value "always"; allowed: Always, IfNotPresent, Never (did you mean "Always"?)',
  ],
  // Kinds
  [
    "another kind",
    manifest("web").replace("kind: Pod", "kind: Deployment"),
    '2:7: kind: unsupported value "Deployment"; allowed: Pod',
  ],
  [
    "a kind in the wrong case",
    manifest("web").replace("kind: Pod", "kind: pod"),
    '2:7: kind: unsupported value "pod"; allowed: Pod (did you mean "Pod"?)',
  ],
  [
    "a list of pods in a file",
    "apiVersion: v1\nkind: List\nitems: []\n",
    '2:7: kind: unsupported value "List"; allowed: Pod',
  ],
  ["no version", manifest("web").replace("apiVersion: v1\n", ""), "1:1: apiVersion: required value: v1"],
  [
    "a version in the wrong form",
    manifest("web").replace("apiVersion: v1", "apiVersion: core/v1"),
    '1:13: apiVersion: unsupported value "core/v1"; allowed: v1',
  ],
  ["a list in place of a map", "- apiVersion: v1\n  kind: Pod\n", "1:1: wrong type a list; allowed: a v1 Pod"],
  [
    "a map in place of a list",
    manifest("web").replace("  - name: main\n    image: busybox:1.36\n", "    name: main\n    image: busybox:1.36\n"),
    "7:5: spec.containers: wrong type a mapping; allowed: a list",
  ],
  [
    "no containers",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: []}\n",
    "4:20: spec.containers: required value: at least one container",
  ],
  [
    "a container that is null",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  -\n",
    "6:4: spec.containers[0].name: required value: it must be a string",
    "6:4: spec.containers[0].image: required value: it must be a string",
  ],
  // Fields together
  [
    "a host port twice in one init container",
    spec(
      "initContainers: [{name: i, image: b, ports: [{containerPort: 1, hostPort: 2}, {containerPort: 3, hostPort: 2}]}]",
    ),
    "6:110: spec.initContainers[0].ports[1].hostPort: duplicate value 2; allowed: each host port once in the pod",
  ],
  [
    "a resource twice in resizePolicy",
    container(
      "resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: cpu, restartPolicy: NotRequired}]",
    ),
    '9:84: spec.containers[0].resizePolicy[1].resourceName: duplicate value "cpu"; allowed: each resource once',
  ],
  [
    "an init container that restarts at a resize",
    spec("initContainers: [{name: i, image: b, resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]"),
    '6:90: spec.initContainers[0].resizePolicy[0].restartPolicy: invalid value "RestartContainer"; allowed: NotRequired, in an init container that is no sidecar',
  ],
  [
    "an underscore in a header of a probe",
    container("livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: X_Y, value: z}]}}"),
    '9:62: spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name: invalid value "X_Y"; allowed: a header name of letters, digits and "-"',
  ],
  [
    "claims of the pod as a whole",
    spec("resources: {claims: [{name: x}]}"),
    "6:23: spec.resources.claims: forbidden: claims belong to containers",
  ],
  [
    "addresses with a zone",
    spec('hostAliases: [{ip: "fe80::1%eth0", hostnames: [a]}]\n  dnsConfig: {nameservers: ["fe80::1%eth0"]}'),
    '6:22: spec.hostAliases[0].ip: invalid value "fe80::1%eth0"; allowed: an IP address without a zone',
    '7:29: spec.dnsConfig.nameservers[0]: invalid value "fe80::1%eth0"; allowed: an IP address without a zone',
  ],
  [
    "a profile's name beyond a path of the kernel",
    container(`securityContext: {appArmorProfile: {type: Localhost, localhostProfile: ${"a".repeat(4096)}}}`),
    "9:76: spec.containers[0].securityContext.appArmorProfile.localhostProfile: invalid value: at most 4095 bytes",
  ],
  // The form of the text
  [
    "an empty document at the beginning",
    `---\n---\n${manifest("web")}`,
    "0:0: syntax: the file is empty; expected one v1 Pod",
  ],
  ["null", "null\n", "0:0: syntax: the file is empty; expected one v1 Pod"],
  ["spaces alone", " \n\n", "0:0: syntax: the file is empty; expected one v1 Pod"],
];

describe("taken", () => {
  for (const [title, text, values, warning] of TAKEN) {
    test(`a manifest with ${title}`, () => {
      const { pods, error, warnings } = decode(text);
      deepEqual(error, undefined);
      const found = Object.keys(values).map((path) => [path, valueAt(pods[0], path)]);
      deepEqual(Object.fromEntries(found), values);
      deepEqual(warnings.map(warningSentence), warning === undefined ? [] : [warning]);
      ok(warnings.every(({ line, column }) => line > 0 && column > 0));
    });
  }
});

describe("refused", () => {
  for (const [title, text, ...faults] of REFUSED) {
    test(`a manifest with ${title}`, () => {
      const { pods, error = [] } = decode(text);
      deepEqual(pods, []);
      deepEqual(
        error.map((one) => `${one.line}:${one.column}: ${violationText(one)}`),
        faults,
      );
    });
  }

  const SYNTAX: readonly (readonly [title: string, text: string | Uint8Array, fault: RegExp])[] = [
    ["a tab for indentation", manifest("web", "\ttty: true"), /^9:\d+: syntax/],
    [
      "half a sequence of UTF-8",
      Buffer.concat([Buffer.from(manifest("web", "args: [")), Buffer.from([0xe6])]),
      /UTF-8/,
    ],
    ["text of Latin-1", Buffer.from(manifest("web", "args: [Straße]"), "latin1"), /UTF-8/],
    ["a control character", manifest("web", "args: [\u0007]"), /^9:\d+: syntax/],
    ["an alias before its anchor", manifest("web", "args: [*a, &a x]"), /^9:\d+: syntax/],
    ["a merge key of a text", manifest("web", "<<: text"), /^9:\d+: syntax/],
    ["an unclosed quote", manifest("web", 'args: ["a'), /syntax/],
    ["a colon in a plain text", manifest("web", "workingDir: a: b"), /^9:\d+: syntax/],
    ["a list item between keys", manifest("web", "tty: true\n   - x"), /^10:\d+: syntax/],
    ["a tag that does not fit", manifest("web", "tty: !!int yes"), /^9:\d+: syntax/],
    // Fields of the pod as values
    [
      "a label of a name that no label has, as a variable",
      container(`env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a b']"}}}]`),
      /^9:\d+: spec\.containers\[0\]\.env\[0\]\.valueFrom\.fieldRef\.fieldPath: unsupported value "metadata\.labels\['a b'\]"/,
    ],
    [
      "a label of a label, as a variable",
      container(`env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['a']['b']"}}}]`),
      /fieldPath: unsupported value/,
    ],
    [
      "the node's name by its first name in a volume",
      spec("volumes: [{name: v, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: spec.host}}]}}]"),
      /fieldPath: invalid value "spec\.host"/,
    ],
    [
      "two files of one path in a projected volume",
      spec(
        "volumes: [{name: v, projected: {sources: [{downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}, {downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.uid}}]}}]}}]",
      ),
      /projected\.sources\[1\]\.downwardAPI\.items\[0\]\.path: duplicate value "a"; allowed: each path once in the volume/,
    ],
  ];
  for (const [title, text, fault] of SYNTAX) {
    test(`a text with ${title}`, () => {
      const { pods, error = [] } = decode(text);
      deepEqual(pods, []);
      match(error.map((one) => `${one.line}:${one.column}: ${violationText(one)}`).join("\n"), fault);
    });
  }
});
