// Texts of configuration values: CPU lists, percentages, image names, tracing endpoints, TLS names, node labels.

import { deepEqual, equal, ok } from "node:assert/strict";
import { getCurves } from "node:crypto";
import { describe, test } from "node:test";
import { createSecureContext, getCiphers } from "node:tls";
import fc from "fast-check";
import { parsePercentage } from "../../../../src/main/command/rules/parse-percentage.js";
import { mayLabelItself } from "../../../../src/main/command/rules/self-labels.js";
import { parseTracingEndpoint } from "../../../../src/main/command/rules/tracing-endpoint.js";
import { parseCpuList, printCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import { parseImageName } from "../../../../src/shared/kubernetes/api/image-name.js";
import { TLS_CIPHERS, TLS_CURVES, TLS_VERSIONS } from "../../../../src/shared/kubernetes/api/tls-names.js";

describe("CPU lists", () => {
  const table: [string, number[] | undefined][] = [
    ["", []],
    ["0", [0]],
    ["7,0-3,2", [0, 1, 2, 3, 7]],
    ["10,9", [9, 10]],
    ["65535", [65535]],
    ["65536", undefined],
    ["+1", [1]],
    ["1-+3", [1, 2, 3]],
    ["+-1", undefined],
    ["0-", undefined],
    ["2-1", undefined],
    ["0,", undefined],
    [" 0", undefined],
    ["0x1", undefined],
    ["1-2-3", undefined],
  ];
  for (const [text, cpus] of table) test(JSON.stringify(text), () => deepEqual(parseCpuList(text), cpus));
  test("a printed CPU list parses to itself", () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 300 })), (cpus) => {
        const text = printCpuList(cpus);
        deepEqual(
          parseCpuList(text),
          [...cpus].sort((a, b) => a - b),
        );
        equal(printCpuList(parseCpuList(text) ?? []), text);
      }),
    ));
});

test("a percentage is a number with a percent sign", () => {
  const table: [string, number | undefined][] = [
    ["10%", 10],
    ["7.5%", 7.5],
    [".5%", 0.5],
    ["-1%", -1],
    ["101%", 101],
    ["%", undefined],
    ["10", undefined],
    ["10 %", undefined],
    ["1e1%", 10],
    ["10%%", 10],
  ];
  for (const [text, percent] of table) equal(parsePercentage(text), percent, text);
});

describe("image names", () => {
  const digest = `sha256:${"0".repeat(64)}`;
  const table: [string, ReturnType<typeof parseImageName>][] = [
    ["busybox", { registry: "docker.io", repository: "library/busybox" }],
    ["docker.io/busybox", { registry: "docker.io", repository: "library/busybox" }],
    ["team/app:1.2", { registry: "docker.io", repository: "team/app", tag: "1.2" }],
    ["localhost/app", { registry: "localhost", repository: "app" }],
    ["host:5000/a/b:t", { registry: "host:5000", repository: "a/b", tag: "t" }],
    ["localhost:5000", { registry: "docker.io", repository: "library/localhost", tag: "5000" }],
    [`r.io/a:t@${digest}`, { registry: "r.io", repository: "a", tag: "t", digest }],
    ["[::1]:5000/a", { registry: "[::1]:5000", repository: "a" }],
    ["HOST/a", { registry: "HOST", repository: "a" }],
    ["", undefined],
    ["/a", undefined],
    ["a/", undefined],
    ["a:", undefined],
    ["A", undefined],
    ["a b", undefined],
    ["a@sha256:00", undefined],
    [`a@${digest}@${digest}`, undefined],
    ["a__b", { registry: "docker.io", repository: "library/a__b" }],
    ["a___b", undefined],
    ["-a", undefined],
    ["f".repeat(64), undefined],
    [`r.io/${"a".repeat(255)}`, { registry: "r.io", repository: "a".repeat(255) }],
    [`r.io/${"a".repeat(256)}`, undefined],
  ];
  for (const [text, name] of table) {
    test(JSON.stringify(text.slice(0, 30)), () => deepEqual(parseImageName(text), name));
  }
});

test("a tracing endpoint has a known scheme", () => {
  deepEqual(parseTracingEndpoint("localhost:4317"), { scheme: "dns", target: "localhost:4317" });
  deepEqual(parseTracingEndpoint("dns://otel:4317"), { scheme: "dns", target: "otel:4317" });
  deepEqual(parseTracingEndpoint("unix:///run/otel.sock"), { scheme: "unix", target: "/run/otel.sock" });
  deepEqual(parseTracingEndpoint("unix-abstract:///otel"), { scheme: "unix-abstract", target: "/otel" });
  equal(parseTracingEndpoint("https://otel:4317"), undefined);
  equal(parseTracingEndpoint("a b"), undefined);
});

describe("TLS names are those of the OpenSSL at hand", () => {
  const built = new Set(getCiphers());
  for (const [name, openssl] of TLS_CIPHERS) {
    test(name, () => {
      if (openssl === undefined) {
        ok(/RC4|3DES/.test(name));
        return;
      }
      ok(built.has(openssl.toLowerCase()), openssl);
      createSecureContext({ ciphers: openssl });
    });
  }
  test("OpenSSL knows every curve that has a name", () => {
    for (const { openssl } of TLS_CURVES.values()) {
      if (openssl !== undefined) createSecureContext({ ecdhCurve: openssl });
    }
    ok(getCurves().length > 0);
  });
  test("OpenSSL knows every version of TLS", () => {
    for (const minVersion of TLS_VERSIONS.values()) createSecureContext({ minVersion });
  });
});

test("labels a node may give itself", () => {
  const table: [string, boolean][] = [
    ["role", true],
    ["example.com/role", true],
    ["kubernetes.io/os", true],
    ["kubernetes.io/role", false],
    ["node-role.kubernetes.io/x", false],
    ["x.node.kubernetes.io/y", true],
    ["k8s.io/x", false],
    ["notk8s.io/x", true],
  ];
  for (const [key, allowed] of table) equal(mayLabelItself(key), allowed, key);
});
