import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import type { EffectiveConfig } from "../../../../src/main/command/config/effective.js";
import { originText } from "../../../../src/main/command/config/origin.js";
import type { FieldPath } from "../../../../src/main/command/fields/fields.js";
import { resolveSources } from "../../../support/config-kit.js";

async function of(file: string | undefined, flags: Record<string, unknown> = {}): Promise<EffectiveConfig> {
  return (await resolveSources({ file, flags })).config;
}

test("without --config some defaults are others", async () => {
  const fields = [
    "readOnlyPort",
    "authentication.anonymous.enabled",
    "authentication.webhook.enabled",
    "authorization.mode",
    "evictionHard",
    "maxPods",
  ] as const;
  const flagOnly = await of(undefined);
  deepEqual(
    fields.map((path) => flagOnly.get(path)),
    [10255, true, false, "AlwaysAllow", {}, 110],
  );
  const withFile = await of("");
  deepEqual(
    fields.slice(0, 4).map((path) => withFile.get(path)),
    [0, false, true, "Webhook"],
  );
  equal(withFile.get("evictionHard")?.["memory.available"], "100Mi");
});

describe("zero in a file stands for the default, a flag's zero is zero", () => {
  for (const [body, path, expected] of [
    ["maxPods: 0", "maxPods", 110],
    ["address: ''", "address", "0.0.0.0"],
    ["syncFrequency: 0s", "syncFrequency", 60_000],
    ["readOnlyPort: 0", "readOnlyPort", 0],
    ["kubeAPIQPS: 0", "kubeAPIQPS", 0],
    ["resolvConf: ''", "resolvConf", ""],
  ] as const) {
    test(body, async () => equal((await of(body)).get(path), expected));
  }
  test("--max-pods=0 keeps its zero", async () => equal((await of("", { "max-pods": 0 })).get("maxPods"), 0));
});

describe("derived", () => {
  test("nodeStatusReportFrequency follows a given nodeStatusUpdateFrequency", async () => {
    const config = await of("nodeStatusUpdateFrequency: 7s");
    equal(config.get("nodeStatusReportFrequency"), 7_000);
    equal(originText(config.origin("nodeStatusReportFrequency")), "derived from nodeStatusUpdateFrequency");
    equal(config.isSet("nodeStatusReportFrequency"), false);
    equal(
      (await of("nodeStatusUpdateFrequency: 7s\nnodeStatusReportFrequency: 9s")).get("nodeStatusReportFrequency"),
      9_000,
    );
    equal((await of("", { "node-status-update-frequency": 7_000 })).get("nodeStatusReportFrequency"), 300_000);
  });
  test("serializeImagePulls is off when several pulls at once are allowed", async () => {
    equal((await of("maxParallelImagePulls: 2")).get("serializeImagePulls"), false);
    equal((await of("maxParallelImagePulls: 1")).get("serializeImagePulls"), true);
    equal((await of("maxParallelImagePulls: 2\nserializeImagePulls: true")).get("serializeImagePulls"), true);
  });
  test("cgroupRoot is the root of a QoS tree, after the rules have seen it empty", async () => {
    equal((await of("")).get("cgroupRoot"), "/");
    equal((await of("cgroupsPerQOS: false\nenforceNodeAllocatable: []")).get("cgroupRoot"), "");
    equal((await of("cgroupRoot: /x")).get("cgroupRoot"), "/x");
    const { problems } = await resolveSources({ file: "systemCgroups: /system" });
    match(problems.join("\n"), /systemCgroups.*cgroupRoot|cgroupRoot.*systemCgroups/);
  });
  test("any negative podPidsLimit is -1, from its own place", async () => {
    const config = await of("podPidsLimit: -5");
    equal(config.get("podPidsLimit"), -1);
    equal(originText(config.origin("podPidsLimit")), "/etc/k/c.yaml:3:15");
  });
});

describe("defaults that wait for a gate", () => {
  test("crashLoopBackOff.maxContainerRestartPeriod has its default only with its gate", async () => {
    const path = "crashLoopBackOff.maxContainerRestartPeriod";
    equal((await of("featureGates: {KubeletCrashLoopBackOffMax: true}")).get(path), 300_000);
    equal((await of("featureGates: {KubeletCrashLoopBackOffMax: false}")).get(path), undefined);
    equal((await of("", { "feature-gates": { KubeletCrashLoopBackOffMax: true } })).get(path), 300_000);
  });
  test("imagePullCredentialsVerificationPolicy has its default only with its gate", async () => {
    const path = "imagePullCredentialsVerificationPolicy";
    equal((await of("featureGates: {KubeletEnsureSecretPulledImages: true}")).get(path), "NeverVerifyPreloadedImages");
    equal((await of("featureGates: {KubeletEnsureSecretPulledImages: false}")).get(path), undefined);
  });
});

describe("evictionHard", () => {
  test("replaces the default wholly", async () =>
    deepEqual((await of("evictionHard: {memory.available: 5%}")).get("evictionHard"), { "memory.available": "5%" }));
  test("an empty map turns the default off", async () =>
    deepEqual((await of("evictionHard: {}")).get("evictionHard"), {}));
  test("is filled up with defaults when mergeDefaultEvictionSettings is true", async () => {
    const config = await of("evictionHard: {memory.available: 5%}\nmergeDefaultEvictionSettings: true");
    deepEqual(config.get("evictionHard"), {
      "memory.available": "5%",
      "nodefs.available": "10%",
      "nodefs.inodesFree": "5%",
      "imagefs.available": "15%",
      "imagefs.inodesFree": "5%",
    });
    equal(originText(config.origin("evictionHard[memory.available]")), "/etc/k/c.yaml:3:34");
    equal(originText(config.origin("evictionHard[nodefs.available]")), "default");
  });
  test("a flag replaces it wholly", async () =>
    deepEqual((await of("", { "eviction-hard": { "pid.available": "1%" } })).get("evictionHard"), {
      "pid.available": "1%",
    }));
});

describe("defaults after the drop-ins are those of upstream 1.36", () => {
  const hard = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
  };
  const table: [file: string | undefined, dropIn: string, path: FieldPath, value: unknown][] = [
    ["evictionHard: {}", "", "evictionHard", {}],
    ["", "evictionHard: null", "evictionHard", {}],
    ["evictionHard: {memory.available: 5%}", "evictionHard: null", "evictionHard", {}],
    ["evictionHard: {memory.available: 5%}", "evictionHard: {memory.available: null}", "evictionHard", {}],
    ["", "evictionHard: {}", "evictionHard", hard],
    ["", "evictionHard: {memory.available: 5%}", "evictionHard", { ...hard, "memory.available": "5%" }],
    [undefined, "", "evictionHard", {}],
    [undefined, "evictionHard: null", "evictionHard", {}],
    [undefined, "evictionHard: {memory.available: 5%}", "evictionHard", { "memory.available": "5%" }],
    ["mergeDefaultEvictionSettings: true", "evictionHard: null", "evictionHard", {}],
    [
      "evictionHard: {memory.available: 5%}",
      "mergeDefaultEvictionSettings: true",
      "evictionHard",
      { "memory.available": "5%" },
    ],
    ["enforceNodeAllocatable: []", "", "enforceNodeAllocatable", ["pods"]],
    ["enforceNodeAllocatable: []", "enforceNodeAllocatable: []", "enforceNodeAllocatable", []],
    ["", "enforceNodeAllocatable: []", "enforceNodeAllocatable", []],
    ["", "enforceNodeAllocatable: null", "enforceNodeAllocatable", ["pods"]],
    ["", "nodeStatusReportFrequency: 0s", "nodeStatusReportFrequency", 10_000],
    ["", "nodeStatusUpdateFrequency: 20s", "nodeStatusReportFrequency", 300_000],
    ["nodeStatusUpdateFrequency: 20s", "nodeStatusReportFrequency: 0s", "nodeStatusReportFrequency", 20_000],
    [undefined, "nodeStatusReportFrequency: 0s", "nodeStatusReportFrequency", 10_000],
  ];
  for (const [file, dropIn, path, value] of table) {
    test(`${path} of ${JSON.stringify(file ?? "no file")} and the drop-in ${JSON.stringify(dropIn)}`, async () => {
      const { config } = await resolveSources({ file, dropIns: { "a.conf": dropIn } });
      deepEqual(config.get(path), value);
    });
  }
  test("an empty list of the file stays without --config-dir", async () =>
    deepEqual((await of("enforceNodeAllocatable: []")).get("enforceNodeAllocatable"), []));
});
