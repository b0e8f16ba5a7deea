// The checks of doctor about manifests, the sandbox image, pod addresses, and a kubelet that does not answer.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { doctorText } from "../../../src/cli/commands/doctor.js";
import type { Result } from "../../../src/cli/doctor/check.js";
import { podAddresses } from "../../../src/cli/doctor/pod-addresses.js";
import { sandboxImage } from "../../../src/cli/doctor/sandbox-image.js";
import { silentKubelet } from "../../../src/cli/doctor/silent-kubelet.js";
import { staticPods } from "../../../src/cli/doctor/static-pods.js";
import { CliError, EXIT } from "../../../src/cli/errors.js";
import { addressOf, hostLocalOf } from "../../../src/cli/machine/address-ranges.js";
import type { ReadManifest } from "../../../src/cli/machine/manifests.js";
import { PLAIN } from "../kit.js";
import { HEALTHY } from "./healthy.js";

const severities = (results: readonly Result[]): string[] => results.map(({ severity }) => severity);

describe("the check of manifests", () => {
  const file = (path: string, fields: Partial<ReadManifest> = {}): ReadManifest => ({
    ...{ path, pods: [`default/${path}`], warnings: [], violations: [] },
    ...fields,
  });
  const violation = { field: "metadata.name", reason: "invalid value", got: '"X_"', allowed: "a name" } as const;

  test("a refused file is an error with its place, and the others are counted", () => {
    const bad = file("/m/bad.yaml", { pods: [], violations: [{ ...violation, line: 3, column: 18 }] });
    const results = staticPods("/m", { files: [file("/m/a.yaml"), bad], left: 0 });
    deepEqual(severities(results), ["error", "ok"]);
    match(results[0]?.found ?? "", /\/m\/bad\.yaml:3:18: metadata\.name: invalid value "X_"; allowed: a name/);
    equal(results[1]?.found, "1 of 2 in /m make pods");
  });
  test("an ignored field and a name in two files are warnings", () => {
    const warned = file("/m/a.yaml", {
      pods: ["default/web"],
      warnings: [{ field: "spec.x", message: "unknown field", line: 2, column: 1 }],
    });
    const results = staticPods("/m", { files: [warned, file("/m/b.yaml", { pods: ["default/web"] })], left: 0 });
    deepEqual(severities(results), ["warning", "warning", "ok"]);
    match(results[0]?.found ?? "", /b\.yaml has the pod default\/web, which \/m\/a\.yaml has, too/);
    match(results[1]?.found ?? "", /a\.yaml:2:1: spec\.x: unknown field/);
  });
  test("of many refused files some are shown, and the rest is counted", () => {
    const files = Array.from({ length: 40 }, (_, n) =>
      file(`/m/${n}`, { pods: [], violations: [{ ...violation, line: 1, column: 1 }] }),
    );
    const results = staticPods("/m", { files, left: 7 });
    equal(results.length, 12);
    match(results[10]?.found ?? "", /^30 more refused files$/);
    match(results[11]?.found ?? "", /7 more were not read/);
  });
  test("no folder and an empty folder are fine", () => {
    deepEqual(severities(staticPods("", { files: [], left: 0 })), ["ok"]);
    deepEqual(severities(staticPods("/m", { files: [], left: 0 })), ["ok"]);
  });
});

describe("the check of the sandbox image", () => {
  const rows: readonly (readonly [
    image: string,
    images: readonly string[] | undefined,
    severity: string,
    found: RegExp,
  ])[] = [
    ["registry.k8s.io/pause:3.10", ["registry.k8s.io/pause:3.10"], "ok", /is here$/],
    ["pause:3.10", ["docker.io/library/pause:3.10"], "ok", /is here$/],
    ["me/pause:1", ["docker.io/me/pause:1"], "ok", /is here$/],
    ["registry.k8s.io/pause:3.6", [], "ok", /not here yet/],
    ["registry.k8s.io/pause:3.6", undefined, "ok", /pause:3\.6$/],
    ["registry.k8s.io/pause:3.6", ["docker.io/library/busybox:1"], "ok", /not here yet/],
    [
      "registry.k8s.io/pause:3.6",
      ["registry.k8s.io/pause:3.10.1"],
      "warning",
      /with registry\.k8s\.io\/pause:3\.6, which is not here; registry\.k8s\.io\/pause:3\.10\.1 is/,
    ],
    ["localhost:5000/pause:3", ["localhost:5000/pause@sha256:" + "a".repeat(64)], "warning", /which is not here/],
    ["not a name", [], "error", /is no name of an image: invalid reference format/],
    ["[::1]:5000/pause:3.10", ["[::1]:5000/pause:3.10"], "ok", /is here/],
    ["Mirror/pause:3.10", ["Mirror/pause:3.10"], "ok", /is here/],
    ["Https://x/pause", [], "error", /is no name/],
  ];
  for (const [image, images, severity, found] of rows) {
    test(`${image} beside ${images?.join() ?? "unknown images"}`, () => {
      const result = sandboxImage(image, images);
      equal(result.severity, severity);
      match(result.found, found);
    });
  }
});

describe("the check of pod addresses", () => {
  const conflist = (ipam: object, more: object = {}): string =>
    JSON.stringify({ name: "net", plugins: [{ type: "bridge", ipam: { type: "host-local", ...ipam } }], ...more });
  const sizes = (text: string): unknown => {
    const found = hostLocalOf(text);
    return typeof found === "object" ? found.ranges.map(({ size }) => Number(size)) : found;
  };
  const rows: readonly (readonly [what: string, text: string, sizes: unknown])[] = [
    ["a /24 without its gateway", conflist({ ranges: [[{ subnet: "10.1.2.0/24" }]] }), [253]],
    ["an old subnet", conflist({ subnet: "10.1.0.0/16" }), [65533]],
    [
      "a range within a subnet",
      conflist({ ranges: [[{ subnet: "10.1.2.0/24", rangeStart: "10.1.2.10", rangeEnd: "10.1.2.19" }]] }),
      [10],
    ],
    ["a gateway within the range", conflist({ subnet: "10.1.2.0/24", gateway: "10.1.2.254" }), [253]],
    ["two families", conflist({ ranges: [[{ subnet: "10.1.2.0/30" }], [{ subnet: "fd00::/112" }]] }), [1, 65534]],
    [
      "a single plugin",
      JSON.stringify({ name: "n", type: "bridge", ipam: { type: "host-local", subnet: "10.0.0.0/29" } }),
      [5],
    ],
    ["another ipam", JSON.stringify({ name: "n", plugins: [{ type: "x", ipam: { type: "dhcp" } }] }), undefined],
    ["a subnet that comes from a daemon", conflist({}), []],
    ["a subnet that is none", conflist({ subnet: "10.0.0.0/99" }), []],
    ["no JSON", "{", "unreadable"],
    ["no object", "[]", "unreadable"],
  ];
  for (const [what, text, expected] of rows) test(`${what} has its size`, () => deepEqual(sizes(text), expected));

  test("addresses are numbers, and host-local's own files are none", () => {
    deepEqual(
      ["10.0.0.1", "::1", "fd00::1:2", "::ffff:10.0.0.1", "lock", "last_reserved_ip.0", ""].map(
        (text) => addressOf(text)?.value,
      ),
      [167772161n, 1n, 0xfd000000000000000000000000010002n, 0xffff0a000001n, undefined, undefined, undefined],
    );
  });

  for (const [taken, severity] of [
    [0, "ok"],
    [200, "ok"],
    [244, "warning"],
    [253, "error"],
    [300, "error"],
  ] as const) {
    test(`with ${taken} of 253 addresses taken the result is ${severity}`, () => {
      const range = { subnet: "10.1.2.0/24", first: 0n, last: 0n, size: 253n, family: 4, taken } as const;
      const result = podAddresses(range, "/leases", "/conf");
      equal(result.severity, severity);
      match(result.found, new RegExp(`^${Math.max(0, 253 - taken)} of 253 in 10\\.1\\.2\\.0/24 are free$`));
    });
  }
});

describe("a kubelet that does not answer", () => {
  const rows: readonly (readonly [message: string, severity: string, fix: RegExp])[] = [
    ["there is no socket /run/nodelet/kubelet.sock: the kubelet does not run", "warning", /enable --now kubelet/],
    ["the kubelet did not respond to /nodelet/status within 15 s", "error", /restart kubelet/],
    ["this user may not use the socket /x", "warning", /as root/],
  ];
  for (const [message, severity, fix] of rows) {
    test(message, () => {
      const result = silentKubelet(new CliError(EXIT.noKubelet, message, "run it as root"), HEALTHY);
      equal(result.severity, severity);
      match(result.fix ?? "", fix);
    });
  }

  test("a node before kubeadm join waits for it, and a hanging kubelet is still an error", () => {
    const before = { kubelet: { ...HEALTHY.kubelet, expected: true } };
    const of = (message: string): Result => silentKubelet(new CliError(EXIT.noKubelet, message), before);
    equal(of("there is no socket /x: the kubelet does not run").severity, "ok");
    equal(of("the kubelet did not respond to /nodelet/status within 15 s").severity, "error");
  });
});

test("the closing line of doctor agrees in number", () => {
  const result = (severity: Result["severity"]): Result => ({ severity, check: "c", found: "f" });
  const last = (...results: Result["severity"][]): string | undefined =>
    doctorText(PLAIN, results.map(result)).trimEnd().split("\n").at(-1);
  equal(last("error", "ok"), "1 error, 0 warnings, 1 check is fine");
  equal(last("error", "error", "warning", "ok", "ok"), "2 errors, 1 warning, 2 checks are fine");
});
