import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { configzBodies } from "../../../../src/main/command/config/configz.js";
import type { EffectiveConfig } from "../../../../src/main/command/config/effective.js";
import { originText } from "../../../../src/main/command/config/origin.js";
import { printJson, printYaml } from "../../../../src/main/command/config/print.js";
import { FIELD_ROWS } from "../../../../src/main/command/config/shape.js";
import { loadSettings } from "../../../../src/main/command/settings.js";
import { ioOf, resolveSources } from "../../../support/config-kit.js";

const RICH = `maxPods: 7
staticPodURL: https://x/pods
staticPodURLHeader: {Authorization: [hunter2], X-B: [hunter3, hunter4]}
syncFrequency: 90s
clusterDNS: [10.0.0.10, "fd00::a"]
enforceNodeAllocatable: []
evictionHard: {memory.available: 5%}
registerWithTaints:
- {key: a, effect: NoSchedule}
- {key: b, value: "yes", effect: NoExecute}
reservedMemory:
- {numaNode: 0, limits: {memory: 1Gi}}
kubeReserved: {cpu: 100m}
logging: {flushFrequency: 5000000000, verbosity: 2, vmodule: [{filePattern: sync*, verbosity: 4}]}
clusterDomain: "off"
`;

async function rich(): Promise<EffectiveConfig> {
  const { config, problems } = await resolveSources({ file: RICH, flags: { "max-pods": 8 } });
  deepEqual(problems, []);
  return config;
}

describe("origins", () => {
  const table: [string, string][] = [
    ["maxPods", "--max-pods"],
    ["port", "default"],
    ["evictionHard[memory.available]", "/etc/k/c.yaml:9:34"],
    ["evictionHard[nodefs.available]", "/etc/k/c.yaml:9:15"],
    ["registerWithTaints[1].value", "/etc/k/c.yaml:12:19"],
    ["registerWithTaints[0].value", "/etc/k/c.yaml:11:3"],
    ["registerWithTaints[7].key", "/etc/k/c.yaml:11:1"],
    ["reservedMemory[0].limits[memory]", "/etc/k/c.yaml:14:34"],
    ["logging.vmodule[0].verbosity", "/etc/k/c.yaml:16:95"],
    // The origin of an object is that of its first given field.
    ["logging", "/etc/k/c.yaml:16:27"],
    ["userNamespaces", "default"],
    ["tracing.endpoint", "default"],
    ["cgroupRoot", "derived from cgroupsPerQOS"],
    ["nonsense", "default"],
  ];
  for (const [path, expected] of table) {
    test(path, async () => equal(originText((await rich()).origin(path)), expected));
  }
});

test("values are decoded by type", async () => {
  const config = await rich();
  equal(config.get("syncFrequency"), 90_000);
  equal(config.get("logging.flushFrequency"), 5_000);
  deepEqual(config.get("registerWithTaints"), [
    { key: "a", value: "", effect: "NoSchedule" },
    { key: "b", value: "yes", effect: "NoExecute" },
  ]);
  deepEqual(config.get("reservedMemory"), [{ numaNode: 0, limits: { memory: "1Gi" } }]);
  equal(config.get("tracing.endpoint"), undefined);
});

test("isSet distinguishes given values from derived ones", async () => {
  const config = await rich();
  deepEqual(
    (["maxPods", "clusterDNS", "enforceNodeAllocatable", "port", "cgroupRoot", "tracing.endpoint"] as const).map(
      (path) => config.isSet(path),
    ),
    [true, true, true, false, false, false],
  );
});

test("the object is upstream's, durations written as upstream writes them", async () => {
  const object = (await rich()).toMaskedObject();
  equal(object["kind"], "KubeletConfiguration");
  equal(object["apiVersion"], "kubelet.config.k8s.io/v1beta1");
  equal(object["syncFrequency"], "1m30s");
  deepEqual(object["logging"], {
    format: "text",
    flushFrequency: 5_000_000_000,
    verbosity: 2,
    vmodule: [{ filePattern: "sync*", verbosity: 4 }],
    options: { text: { splitStream: false, infoBufferSize: "0" }, json: { splitStream: false, infoBufferSize: "0" } },
  });
  ok(!("tracing" in object));
});

test("leaves name every value once", async () => {
  const paths = [...(await rich()).leaves()].map(({ path }) => path);
  equal(new Set(paths).size, paths.length);
  for (const path of ["evictionHard[memory.available]", "registerWithTaints[1].value", "enforceNodeAllocatable"]) {
    ok(paths.includes(path), path);
  }
});

describe("print", () => {
  test("YAML reads back as the same configuration", async () => {
    const config = (await resolveSources({ file: RICH.replace(/^staticPodURLHeader.*\n/m, "") })).config;
    const text = printYaml(config);
    const again = await loadSettings(["--config=/p.yaml"], ioOf({ "/p.yaml": text }));
    ok(again.action === "run");
    deepEqual(again.settings.config.toMaskedObject(), config.toMaskedObject());
  });
  test("every value has its origin beside it", async () => {
    const lines = printYaml(await rich())
      .trimEnd()
      .split("\n");
    ok(lines.includes("maxPods: 8  # --max-pods"));
    ok(lines.includes('  memory.available: "5%"  # /etc/k/c.yaml:9:34'));
    ok(lines.includes('clusterDomain: "off"  # /etc/k/c.yaml:17:16'));
    ok(lines.includes("  - key: a  # /etc/k/c.yaml:11:9"));
    ok(lines.includes("enforceNodeAllocatable: []  # /etc/k/c.yaml:8:25"));
    for (const line of lines.slice(2)) match(line, /:$| {2}# /);
  });
  test("printJson lists fields and their origins", async () => {
    const { config, origins } = JSON.parse(printJson(await rich())) as {
      config: Record<string, unknown>;
      origins: Record<string, string>;
    };
    equal(config["maxPods"], 8);
    equal(origins["maxPods"], "--max-pods");
    equal(origins["evictionHard[memory.available]"], "/etc/k/c.yaml:9:34");
  });
});

test("secrets are shown by /configz alone, their names everywhere", async () => {
  const config = await rich();
  const { plain, withOrigins } = configzBodies(config, "/pki");
  const { kubeletconfig } = JSON.parse(plain) as { kubeletconfig: Record<string, unknown> };
  deepEqual(kubeletconfig["staticPodURLHeader"], { Authorization: ["hunter2"], "X-B": ["hunter3", "hunter4"] });
  const shown = [printYaml(config), printJson(config), withOrigins];
  for (const text of shown) {
    ok(!text.includes("hunter"), text);
    match(text, /Authorization/);
    match(text, /<masked>/);
  }
  deepEqual(config.get("staticPodURLHeader"), { Authorization: ["hunter2"], "X-B": ["hunter3", "hunter4"] });
});

test("/configz names the kubelet's own certificate where none is configured, as upstream's does", async () => {
  const shown = async (file: string): Promise<unknown[]> => {
    const { config } = await resolveSources({ file });
    const { kubeletconfig } = JSON.parse(configzBodies(config, "/pki").plain) as {
      kubeletconfig: Record<string, unknown>;
    };
    return [kubeletconfig["tlsCertFile"], kubeletconfig["tlsPrivateKeyFile"]];
  };
  deepEqual(await shown(""), ["/pki/kubelet.crt", "/pki/kubelet.key"]);
  deepEqual(await shown("tlsCertFile: /a\ntlsPrivateKeyFile: /b\n"), ["/a", "/b"]);
  deepEqual(await shown("serverTLSBootstrap: true\n"), [undefined, undefined]);
});

test("/configz has upstream's shape, and with origins, on request, also fields of zero value", async () => {
  const config = await rich();
  const { plain, withOrigins } = configzBodies(config, "/pki");
  const body = JSON.parse(plain) as { kubeletconfig: Record<string, unknown> };
  equal(body.kubeletconfig["maxPods"], 8);
  deepEqual(Object.keys(body), ["kubeletconfig"]);
  const { origins, ...rest } = JSON.parse(withOrigins) as typeof body & { origins: Record<string, unknown> };
  const shown = Object.keys(rest.kubeletconfig);
  deepEqual(
    Object.keys(body.kubeletconfig),
    shown.filter((name) => name in body.kubeletconfig),
  );
  deepEqual([body.kubeletconfig["runOnce"], rest.kubeletconfig["runOnce"]], [undefined, false]);
  deepEqual(origins["maxPods"], { kind: "flag", flag: "max-pods" });
  deepEqual(origins["port"], { kind: "default" });
});

test("a field that has a default has a value", async () => {
  const { config } = await resolveSources({ file: "" });
  for (const [path, field] of FIELD_ROWS) {
    if (field.default !== undefined) ok(config.get(path) !== undefined, path);
  }
});
