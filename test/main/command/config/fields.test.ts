// Every row of upstream's table of config fields: known, of its type, with its default and flag; one good value is
// taken with its place, one bad value is refused with its place. Rows of removed fields are answered by what replaces
// them.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { originText } from "../../../../src/main/command/config/origin.js";
import { FIELD_ROWS, isFieldPath } from "../../../../src/main/command/config/shape.js";
import { NOTHING, plain, treeOf, withNode } from "../../../../src/main/command/config/tree.js";
import { parseDuration } from "../../../../src/main/command/duration.js";
import { FIELDS, type Field, type FieldPath } from "../../../../src/main/command/fields/fields.js";
import type { ValueType } from "../../../../src/main/command/value-types.js";
import { CONFIG_FILE, resolveSources } from "../../../support/config-kit.js";
import { facts, type Row } from "../../../support/facts.js";

const cell = (row: Row, column: string): string => row[column] ?? "";
const ROWS = facts("config-fields").filter((row) => !["apiVersion", "kind"].includes(cell(row, "path")));
const REMOVED = ROWS.filter((row) => cell(row, "note").startsWith("REMOVED"));
const CURRENT = ROWS.filter((row) => !cell(row, "note").startsWith("REMOVED"));
/** Members of listed objects have rows of their own; here their list is one field. */
const fieldOf = (row: Row): string => cell(row, "path").replace(/\[\].*$/, "");
const WHOLE = CURRENT.filter((row) => !cell(row, "path").includes("[]"));
const MEMBERS = CURRENT.filter((row) => cell(row, "path").includes("[]"));

test("the table of fields is upstream's, in its order", () => {
  deepEqual([...new Set(CURRENT.map(fieldOf))], Object.keys(FIELDS));
});

/** Go's types as the facts write them. */
const TYPES: Record<string, ValueType> = {
  "[]string": "strings",
  "[]int32": "ints",
  "map[string]string": "stringMap",
  "map[string]bool": "boolMap",
  "map[string][]string": "headerMap",
  "duration or int64 ns": "durationOrNanos",
};

/** Defaults that the table has as nil; upstream's kubelet sets and shows them (test/facts/configz.jsonl). */
const OTHER_DEFAULTS: Partial<Record<FieldPath, unknown>> = { enableSystemLogQuery: false };

describe("type, default and flag", () => {
  for (const row of WHOLE) {
    const path = fieldOf(row);
    test(path, async () => {
      ok(isFieldPath(path));
      const field: Field = FIELDS[path];
      const goType = cell(row, "type").replace(/^\*/, "");
      equal(field.type, TYPES[goType] ?? goType);
      equal(field.flag, cell(row, "flag") || undefined);
      const { config } = await resolveSources({ file: "" });
      const expected = OTHER_DEFAULTS[path] ?? defaultOf(field.type, cell(row, "default"));
      // Values derived from defaults are not the default itself.
      deepEqual(path === "cgroupRoot" ? "" : config.get(path), expected);
      equal(config.isSet(path), false);
    });
  }
});

function defaultOf(type: ValueType, text: string): unknown {
  const word = text.replace(/ \(.*$/, "");
  if (word === "nil" || word === "") return undefined;
  switch (type) {
    case "bool":
      return word === "true";
    case "int32":
    case "int64":
    case "uint32":
    case "float64":
      return Number(word);
    case "duration":
    case "durationOrNanos":
      return parseDuration(word);
    case "strings":
      return word.replace(/^\[|\]$/g, "").split(" ");
    case "stringMap":
      return Object.fromEntries(word.split(",").map((pair) => pair.split("=")));
    default:
      return word.replaceAll('"', "");
  }
}

interface Good {
  /** As JSON. */
  value: unknown;
  /** Decoded, where that differs. */
  decoded?: unknown;
  /** Other fields it needs to be valid. */
  beside?: Record<string, unknown>;
}

const TEXT = { value: "x" };
const PATH: Good = { value: "/x" };
const STATIC_CPU = { cpuManagerPolicy: "static", reservedSystemCPUs: "0" };
const gates = (...names: string[]): Record<string, unknown> => ({
  featureGates: Object.fromEntries(names.map((name) => [name, true])),
});

/** A good value by type … */
const GOOD_BY_TYPE: Partial<Record<ValueType, Good>> = {
  string: TEXT,
  int32: { value: 17 },
  int64: { value: 4096 },
  uint32: { value: 3 },
  duration: { value: "90s", decoded: 90_000 },
  durationOrNanos: { value: 3_000_000_000, decoded: 3_000 },
  strings: { value: ["a", "b"] },
  stringMap: { value: { a: "b" } },
  headerMap: { value: { Accept: ["a", "b"] } },
};

/** … and where not any will do. */
const GOOD: Partial<Record<FieldPath, Good>> = {
  podLogsDir: PATH,
  staticPodURL: { value: "http://x/pods" },
  address: { value: "10.0.0.1" },
  tlsCertFile: { value: "/x", beside: { tlsPrivateKeyFile: "/y" } },
  tlsPrivateKeyFile: { value: "/x", beside: { tlsCertFile: "/y" } },
  tlsCipherSuites: { value: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"] },
  tlsCurvePreferences: { value: [29, 23] },
  tlsMinVersion: { value: "VersionTLS13" },
  staticPodPath: PATH,
  "authentication.x509.clientCAFile": PATH,
  "authorization.mode": { value: "AlwaysAllow" },
  imagePullCredentialsVerificationPolicy: { value: "AlwaysVerify", beside: gates("KubeletEnsureSecretPulledImages") },
  preloadedImagesVerificationAllowlist: {
    value: ["registry.k8s.io/pause", "docker.io/library/*"],
    beside: {
      ...gates("KubeletEnsureSecretPulledImages"),
      imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages",
    },
  },
  healthzBindAddress: { value: "::1" },
  clusterDNS: { value: ["10.0.0.10"] },
  imageMaximumGCAge: { value: "1h", decoded: 3_600_000 },
  imageGCHighThresholdPercent: { value: 90 },
  systemCgroups: { value: "/system", beside: { cgroupRoot: "/" } },
  cgroupRoot: PATH,
  cgroupDriver: { value: "systemd" },
  cpuManagerPolicy: { value: "static", beside: { reservedSystemCPUs: "0" } },
  cpuManagerPolicyOptions: { value: { "full-pcpus-only": "true" }, beside: STATIC_CPU },
  memoryManagerPolicy: {
    value: "Static",
    beside: {
      reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }],
      systemReserved: { memory: "924Mi" },
    },
  },
  topologyManagerPolicy: { value: "best-effort" },
  topologyManagerScope: { value: "pod" },
  topologyManagerPolicyOptions: { value: { "prefer-closest-numa-nodes": "true" } },
  qosReserved: { value: { memory: "50%" }, beside: gates("QOSReserved") },
  hairpinMode: { value: "none" },
  resolvConf: PATH,
  cpuCFSQuotaPeriod: { value: "50ms", decoded: 50, beside: gates("CustomCPUCFSQuotaPeriod") },
  maxParallelImagePulls: { value: 4 },
  evictionHard: { value: { "memory.available": "5%" } },
  evictionSoft: {
    value: { "memory.available": "10%" },
    beside: { evictionSoftGracePeriod: { "memory.available": "1m" } },
  },
  evictionSoftGracePeriod: {
    value: { "memory.available": "1m30s" },
    beside: { evictionSoft: { "memory.available": "10%" } },
  },
  evictionMinimumReclaim: { value: { "memory.available": "100Mi" } },
  featureGates: { value: { AllBeta: true } },
  "memorySwap.swapBehavior": { value: "LimitedSwap" },
  containerLogMaxSize: { value: "1Mi" },
  configMapAndSecretChangeDetectionStrategy: { value: "Cache" },
  systemReserved: { value: { cpu: "100m" } },
  kubeReserved: { value: { memory: "1Gi" } },
  reservedSystemCPUs: { value: "0-1" },
  showHiddenMetricsForVersion: { value: "1.35" },
  enforceNodeAllocatable: { value: ["none"] },
  allowedUnsafeSysctls: { value: ["net.core.*"] },
  volumePluginDir: PATH,
  "logging.format": { value: "json", beside: gates("LoggingBetaOptions") },
  "logging.vmodule": { value: [{ filePattern: "sync*", verbosity: 4 }] },
  "logging.options.text.splitStream": { value: true, beside: gates("LoggingAlphaOptions") },
  "logging.options.text.infoBufferSize": { value: "64Ki", beside: gates("LoggingAlphaOptions") },
  "logging.options.json.splitStream": { value: true, beside: gates("LoggingAlphaOptions") },
  "logging.options.json.infoBufferSize": { value: "64Ki", beside: gates("LoggingAlphaOptions") },
  enableSystemLogQuery: { value: true, beside: gates("NodeLogQuery") },
  shutdownGracePeriodCriticalPods: { value: "10s", decoded: 10_000, beside: { shutdownGracePeriod: "30s" } },
  shutdownGracePeriodByPodPriority: {
    value: [{ priority: 100, shutdownGracePeriodSeconds: 10 }],
    beside: gates("GracefulNodeShutdownBasedOnPodPriority"),
  },
  "crashLoopBackOff.maxContainerRestartPeriod": {
    value: "10s",
    decoded: 10_000,
    beside: gates("KubeletCrashLoopBackOffMax"),
  },
  reservedMemory: {
    value: [{ numaNode: 0, limits: { memory: "1Gi" } }],
    beside: { memoryManagerPolicy: "Static", systemReserved: { memory: "924Mi" } },
  },
  memoryThrottlingFactor: { value: 0.5 },
  memoryReservationPolicy: { value: "TieredReservation", beside: gates("MemoryQoS") },
  registerWithTaints: {
    value: [{ key: "a", effect: "NoSchedule" }],
    decoded: [{ key: "a", value: "", effect: "NoSchedule" }],
  },
  "tracing.endpoint": { value: "localhost:4317" },
  containerRuntimeEndpoint: { value: "unix:///run/crio/crio.sock" },
  imageServiceEndpoint: { value: "unix:///run/images.sock" },
  "userNamespaces.idsPerPod": { value: 131_072 },
  serverTLSBootstrap: { value: true, beside: gates("RotateKubeletServerCertificate") },
  // Without their cgroups the kubelet cannot distinguish pods.
  cgroupsPerQOS: { value: false, beside: { enforceNodeAllocatable: [] } },
  runOnce: { value: false },
  enableSystemLogHandler: { value: false },
};

function goodFor(path: FieldPath): Good {
  const field: Field = FIELDS[path];
  const good =
    GOOD[path] ?? GOOD_BY_TYPE[field.type] ?? (field.type === "bool" ? { value: field.default !== true } : undefined);
  if (good === undefined) throw new Error(`no good value for ${path}: write one into GOOD`);
  return good;
}

/** One field per line, the one in question first. */
function bodyOf(path: string, { value, beside = {} }: Good): string {
  const own = plain(withNode(NOTHING, path, treeOf(value, { kind: "default" }))) as Record<string, unknown>;
  const lines = Object.entries({ ...own, ...beside }).map(([name, field]) => `${name}: ${JSON.stringify(field)}\n`);
  return lines.join("");
}

describe("a good value is taken, with its place", () => {
  for (const [path] of FIELD_ROWS) {
    test(path, async () => {
      const good = goodFor(path);
      const { config, problems } = await resolveSources({ file: bodyOf(path, good) });
      deepEqual(problems, []);
      deepEqual(config.get(path), good.decoded ?? good.value);
      equal(config.isSet(path), true);
      match(originText(config.origin(path)), /^\/etc\/k\/c.yaml:3:\d+$/);
    });
  }
});

/** As JSON: never of the type. */
function badFor(type: ValueType): unknown {
  switch (type) {
    case "string":
    case "duration":
      return 7;
    case "quantity":
    case "durationOrNanos":
    case "bool":
    case "int32":
    case "int64":
    case "uint32":
    case "float64":
      return "nonsense";
    case "boolMap":
      return { AllBeta: "true" };
    case "stringMap":
    case "quantityMap":
      return { a: ["b"] };
    case "headerMap":
      return { a: "b" };
    case "strings":
      return "a,b";
    case "ints":
      return ["a"];
    default:
      return [{ nonsense: 1 }];
  }
}

describe("a value of another type is refused, with its place", () => {
  for (const [path, field] of FIELD_ROWS) {
    test(path, async () => {
      const { problems } = await resolveSources({ file: bodyOf(path, { value: badFor(field.type) }) });
      const pattern = new RegExp(
        `^${CONFIG_FILE}:3:\\d+: ${path.replaceAll(".", "\\.")}[^:]*: (expected .*, found |unknown)`,
      );
      const reported = problems.filter((problem) => pattern.test(problem));
      equal(reported.length, 1, problems.join("\n"));
      // A listed object with an unknown field alone is read: the rules miss its other fields.
      ok(problems.length === 1 || problems.every((problem) => problem.includes(`: ${path}[0].`)), problems.join("\n"));
    });
  }
});

describe("members of listed objects", () => {
  for (const row of MEMBERS) {
    const [list = "", member = ""] = cell(row, "path").split("[].");
    test(`${list}[].${member}`, async () => {
      ok(isFieldPath(list));
      if (cell(row, "flag") !== "") equal((FIELDS[list] as Field).flag, cell(row, "flag"));
      const known = { value: [{ [member]: true }] };
      const { problems } = await resolveSources({ file: bodyOf(list, known) });
      match(problems.join("\n"), new RegExp(`${list.replaceAll(".", "\\.")}\\[0\\]\\.${member}: expected `));
      const unknown = await resolveSources({ file: bodyOf(list, { value: [{ [`${member}s`]: true }] }) });
      match(unknown.problems.join("\n"), new RegExp(`\\[0\\]\\.${member}s: unknown field; did you mean ${member}\\?`));
    });
  }
});

describe("removed fields are refused with a remedy", () => {
  for (const row of REMOVED.filter((one) => !cell(one, "path").startsWith("Node."))) {
    const path = cell(row, "path");
    test(path, async () => {
      const { problems } = await resolveSources({ file: bodyOf(path, { value: "x" }) });
      equal(problems.length, 1);
      match(problems[0] ?? "", new RegExp(`^${CONFIG_FILE}:3:\\d+: ${path}: .*removed in Kubernetes 1\\.\\d+; `));
      const heir = /became (\w+)/.exec(cell(row, "note"))?.[1];
      if (heir !== undefined) match(problems[0] ?? "", new RegExp(`use ${heir}$`));
    });
  }
});
