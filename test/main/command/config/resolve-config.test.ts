import { deepEqual, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { dropInOrder } from "../../../../src/main/command/config/drop-in-order.js";
import { originText } from "../../../../src/main/command/config/origin.js";
import { resolveConfig } from "../../../../src/main/command/config/resolve-config.js";
import { CONFIG_DIR, HEAD, HOST, ioOf, resolveSources } from "../../../support/config-kit.js";

describe("which files, in which order", () => {
  const table: [string[], string[]][] = [
    [
      ["20-b.conf", "10-a.conf"],
      ["10-a.conf", "20-b.conf"],
    ],
    [["a.yaml", "a.conf.bak", "conf", "README"], []],
    // A folder's files come where the folder's name stands among its neighbours.
    [
      ["a.conf", "a/z.conf", "b/a.conf", "a-b.conf"],
      ["a/z.conf", "a-b.conf", "a.conf", "b/a.conf"],
    ],
    [
      ["Z.conf", "a.conf", "é.conf", "10.conf", "9.conf"],
      ["10.conf", "9.conf", "Z.conf", "a.conf", "é.conf"],
    ],
    [
      [".conf", "..data/x.conf"],
      ["..data/x.conf", ".conf"],
    ],
  ];
  for (const [files, expected] of table) test(files.join(" "), () => deepEqual(dropInOrder(files), expected));
});

test("later drop-ins win; maps merge, lists replace, null brings the default back", async () => {
  const { config, files, problems } = await resolveSources({
    file: "maxPods: 1\nport: 1\nclusterDNS: [10.0.0.1, 10.0.0.2]\nsystemReserved: {cpu: 100m}\nkubeAPIQPS: 7\n",
    dropIns: {
      "20.conf": "maxPods: 3\nclusterDNS: [10.0.0.3]\nsystemReserved: {memory: 1Gi}\n",
      "10.conf": "maxPods: 2\nport: 2\nkubeAPIQPS: null\n",
    },
  });
  deepEqual(problems, []);
  deepEqual(files, ["/etc/k/c.yaml", "/etc/k/d/10.conf", "/etc/k/d/20.conf"]);
  deepEqual(
    [config.get("maxPods"), config.get("port"), config.get("clusterDNS"), config.get("kubeAPIQPS")],
    [3, 2, ["10.0.0.3"], 50],
  );
  deepEqual(config.get("systemReserved"), { cpu: "100m", memory: "1Gi" });
  deepEqual(
    ["maxPods", "systemReserved[cpu]", "systemReserved[memory]", "kubeAPIQPS"].map((path) =>
      originText(config.origin(path)),
    ),
    ["/etc/k/d/20.conf:3:10", "/etc/k/c.yaml:6:23", "/etc/k/d/20.conf:5:26", "default"],
  );
});

test("a drop-in's thresholds merge with the default ones, as the file has its defaults by then", async () => {
  const dropIns = { "a.conf": "evictionHard: {memory.available: 1Gi}" };
  const { config } = await resolveSources({ file: "", dropIns });
  deepEqual(Object.keys(config.get("evictionHard") ?? {}).length, 5);
  deepEqual(config.get("evictionHard")?.["memory.available"], "1Gi");
  const given = await resolveSources({ file: "evictionHard: {pid.available: 5%}", dropIns });
  deepEqual(given.config.get("evictionHard"), { "pid.available": "5%", "memory.available": "1Gi" });
});

test("relative paths are beside the drop-in", async () => {
  const { config } = await resolveSources({ dropIns: { "sub/a.conf": "staticPodPath: m" } });
  deepEqual(config.get("staticPodPath"), "/etc/k/d/sub/m");
});

describe("refused", () => {
  const dir = new Map([["config-dir", { value: CONFIG_DIR }]]);
  const problemsOf = async (text: string): Promise<string> =>
    (await resolveConfig(dir, ioOf({ [`${CONFIG_DIR}/a.conf`]: text }), HOST)).problems.join("\n");
  test("an empty file is refused", async () =>
    match(await problemsOf(""), /^\/etc\/k\/d\/a.conf:1:1: the file is empty/));
  test("a file without kind is refused", async () =>
    match(await problemsOf("apiVersion: kubelet.config.k8s.io/v1beta1\n"), /a.conf:1:1: kind: is missing/));
  test("a file of another version is refused", async () =>
    match(await problemsOf(HEAD.replace("v1beta1", "v1")), /a.conf:1:13: apiVersion: is "kubelet.config.k8s.io\/v1"/));
  test("a missing directory is refused", async () => {
    const { problems } = await resolveConfig(dir, ioOf({}), HOST);
    match(problems.join("\n"), /^--config-dir: "\/etc\/k\/d" cannot be listed: ENOENT/);
  });
});
