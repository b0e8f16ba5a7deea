// Rules that upstream applies later than its validation, and warnings without a rejection.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { FIELDS, type FieldPath } from "../../../../src/main/command/fields/fields.js";
import { configWarnings, validateConfig } from "../../../../src/main/command/rules/index.js";
import type { ConfigView } from "../../../../src/main/command/rules/rule.js";
import { configView } from "../../../support/config-view.js";
import { violationsOf, type Situation } from "./example.js";

describe("refused at start", () => {
  test("a built-in cloud provider; none and external are accepted", () => {
    const messages = (cloudProvider: string) =>
      violationsOf({ flags: { nodeIP: "", cloudProvider } }).filter(({ path }) => path === "--cloud-provider");
    match(
      messages("aws")[0]?.message ?? "",
      /cloud provider "aws" was specified, but built-in cloud providers are disabled/,
    );
    deepEqual([messages(""), messages("external")], [[], []]);
  });

  const table: [Situation, string, RegExp][] = [
    [{ address: "localhost" }, "address", /"localhost" is not an IP address/],
    [{ healthzBindAddress: "" }, "healthzBindAddress", /"" is not an IP address/],
    [{ "authorization.mode": "RBAC" }, "authorization.mode", /"RBAC" is not AlwaysAllow or Webhook/],
    [{ cgroupDriver: "Systemd" }, "cgroupDriver", /is not cgroupfs or systemd/],
    [{ configMapAndSecretChangeDetectionStrategy: "watch" }, "configMapAndSecretChangeDetectionStrategy", /Get, Cache/],
    [{ cpuManagerPolicy: "dynamic" }, "cpuManagerPolicy", /is not none or static/],
    [{ memoryManagerPolicy: "static" }, "memoryManagerPolicy", /is not None or Static/],
    [{ cpuManagerPolicy: "static" }, "cpuManagerPolicy", /static requires reserved CPUs/],
    [{ cpuManagerPolicy: "static", kubeReserved: { cpu: "0" } }, "cpuManagerPolicy", /static requires reserved CPUs/],
    [{ memoryManagerPolicy: "Static" }, "memoryManagerPolicy", /requires reservedMemory/],
    [{ cpuManagerPolicyOptions: { "full-pcpus-only": "true" } }, "cpuManagerPolicyOptions", /cpuManagerPolicy: static/],
    [
      { cpuManagerPolicy: "static", reservedSystemCPUs: "0", cpuManagerPolicyOptions: { "full-pcpus-only": "yes" } },
      "cpuManagerPolicyOptions[full-pcpus-only]",
      /"yes" is not true or false/,
    ],
    [
      {
        cpuManagerPolicy: "static",
        reservedSystemCPUs: "0",
        cpuManagerPolicyOptions: { "full-pcpus-only": "true", "distribute-cpus-across-cores": "true" },
        gates: { CPUManagerPolicyAlphaOptions: true },
      },
      "cpuManagerPolicyOptions",
      /are mutually exclusive/,
    ],
    [
      {
        cpuManagerPolicy: "static",
        reservedSystemCPUs: "0",
        cpuManagerPolicyOptions: { "align-by-socket": "true" },
        topologyManagerPolicy: "single-numa-node",
        gates: { CPUManagerPolicyAlphaOptions: true },
      },
      "cpuManagerPolicyOptions",
      /single-numa-node are mutually exclusive/,
    ],
    [{ qosReserved: { memory: "50.0%" } }, "qosReserved[memory]", /whole percentage/],
    [{ qosReserved: { memory: "1.5%" } }, "qosReserved[memory]", /whole percentage/],
    [{ qosReserved: { cpu: "50%" } }, "qosReserved[cpu]", /"cpu" is not memory/],
    [{ qosReserved: { memory: "101%" } }, "qosReserved[memory]", /"101%" is not a whole percentage from 0% to 100%/],
    [{ qosReserved: { memory: "1Gi" } }, "qosReserved[memory]", /"1Gi" is not a whole percentage/],
    [{ imageServiceEndpoint: "http://x" }, "imageServiceEndpoint", /unsupported scheme "http"/],
    [{ reservedMemory: [{ numaNode: -1, limits: {} }] }, "reservedMemory[0].numaNode", /-1 is not a NUMA node/],
  ];
  for (const [given, at, message] of table) {
    test(`${at} ${JSON.stringify(given)}`, () => {
      const violations = violationsOf(given);
      deepEqual(
        violations.map(({ path }) => path),
        [at],
      );
      match(violations[0]?.message ?? "", message);
    });
  }
  const accepted: Situation[] = [
    { cpuManagerPolicy: "static", kubeReserved: { cpu: "500m" } },
    { cpuManagerPolicy: "static", systemReserved: { cpu: "1" } },
    { memoryManagerPolicy: "Static", reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }] },
    { address: "::", healthzBindAddress: "::1" },
    { qosReserved: { memory: "0%" } },
    { qosReserved: { memory: "100%" } },
    { qosReserved: { memory: "+007%%" } },
    { imageServiceEndpoint: "/run/images.sock" },
  ];
  for (const given of accepted) test(JSON.stringify(given), () => deepEqual(violationsOf(given), []));
});

test("all violations come in one report", () => {
  const paths = violationsOf({ port: 0, maxPods: -1, evictionHard: { swap: "1" }, podLogsDir: "" }).map(
    ({ path }) => path,
  );
  deepEqual(paths, ["port", "maxPods", "evictionHard[swap]", "podLogsDir"]);
});

describe("said without refusing", () => {
  const warningsOf = (given: Situation): string[] => configWarnings(configView(given, given.gates));
  test("nothing about the defaults", () => deepEqual(warningsOf({}), []));

  const prefix: [kubelet: string, reserved: string, warned: boolean][] = [
    ["/kube/kubelet", "/kube", false],
    ["/kube", "/kube", false],
    ["/kube/", "kube", false],
    ["/kubelet", "/kube", true],
    ["/system/kubelet", "/kube", true],
    ["/kubelet", "", false],
    ["", "/kube", false],
    ["/kubelet", "/", false],
  ];
  for (const [kubeletCgroups, kubeReservedCgroup, warned] of prefix) {
    test(`kubeletCgroups ${kubeletCgroups} in kubeReservedCgroup ${kubeReservedCgroup}`, () => {
      const warnings = warningsOf({ kubeletCgroups, kubeReservedCgroup });
      equal(warnings.length, warned ? 1 : 0);
      if (warned) match(warnings[0] ?? "", /is not within kubeReservedCgroup "\/kube"/);
    });
  }

  const table: [Situation, RegExp][] = [
    [{ iptablesDropBit: 15 }, /^iptablesDropBit has had no effect since/],
    [{ iptablesMasqueradeBit: 14 }, /^iptablesMasqueradeBit has had no effect since/],
    [{ streamingConnectionIdleTimeout: 1 }, /^streamingConnectionIdleTimeout is deprecated/],
    [{ tlsCipherSuites: ["TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_RC4_128_SHA"] }, /RC4_128_SHA is insecure/],
    [{ tlsCipherSuites: ["TLS_AES_128_GCM_SHA256"], tlsMinVersion: "VersionTLS13" }, /no effect with tlsMinVersion/],
    [{ tlsCurvePreferences: [4588, 29] }, /4588 \(X25519MLKEM768\) is not supported/],
    [{ qosReserved: { memory: "50%" } }, /qosReserved has no effect/],
    [{ evictionHard: { "nodefs.available": "100.0%" } }, /^evictionHard\[nodefs.available\]: "100.0%" is a threshold/],
    [{ clusterDNS: ["10.0.0.10", "dns"] }, /clusterDNS: "dns" is not an IP address; it is ignored/],
  ];
  for (const [given, message] of table) {
    test(JSON.stringify(given), () => {
      const warnings = warningsOf(given);
      equal(warnings.length, 1);
      match(warnings[0] ?? "", message);
    });
  }
  test("TLS 1.3 alone has nothing to say about ciphers", () =>
    deepEqual(warningsOf({ tlsCipherSuites: [], tlsMinVersion: "VersionTLS13" }), []));
  test("qosReserved is no matter with its gate on", () =>
    deepEqual(warningsOf({ qosReserved: { memory: "50%" }, gates: { QOSReserved: true } }), []));
});

test("no values crash the rules, and each violation is of a field", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom("0%", "-1", "1Ei9", "%", "a/*", "0-9", "unix://", "//", "1e999"));
  const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -1, 65536, Number.MAX_SAFE_INTEGER));
  const texts = fc.dictionary(fc.oneof(text, fc.constantFrom("memory.available", "cpu", "__proto__")), text);
  // Durations come bounded: 292 years are all that fit their 64 bits of nanoseconds.
  const duration = fc.double({ min: -9.2e12, max: 9.2e12, noNaN: true });
  const byType: Record<string, fc.Arbitrary<unknown>> = {
    duration,
    durationOrNanos: duration,
    string: text,
    quantity: text,
    bool: fc.boolean(),
    strings: fc.array(text),
    ints: fc.array(number),
    stringMap: texts,
    vmodule: fc.array(fc.record({ filePattern: text, verbosity: number })),
    taints: fc.array(fc.record({ key: text, value: text, effect: text })),
    reservedMemory: fc.array(fc.record({ numaNode: number, limits: texts })),
    shutdownPriorities: fc.array(fc.record({ priority: number, shutdownGracePeriodSeconds: number })),
  };
  const fields = Object.fromEntries(
    Object.entries(FIELDS)
      .filter(([, { type }]) => !type.endsWith("Map") || type === "stringMap")
      .map(([path, { type }]) => [path, byType[type] ?? number]),
  );
  const situation = fc.tuple(fc.record(fields, { requiredKeys: [] }), fc.boolean());
  fc.assert(
    fc.property(situation, ([given, on]) => {
      const base = configView(given);
      const view: ConfigView = { ...base, gate: () => on };
      const host = { cgroupVersion: on ? 1 : 2, onlineCpus: [0, 1] } as const;
      for (const { path, message } of validateConfig(view, host)) {
        const field = path.replace(/\[.*/s, "");
        equal(Object.hasOwn(FIELDS, field as FieldPath), true, path);
        equal(message === "" || message.includes("undefined"), false, message);
      }
      configWarnings(view);
    }),
    { numRuns: 300 },
  );
});
