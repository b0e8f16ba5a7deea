// The CNI client: choice of the network, input of plugins, addresses of results; and one run of real programs.

import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { PodSandboxConfig } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { createLogger } from "../../../src/shared/telemetry/log/logger.js";
import { loadNetwork, parseNetwork } from "../../../src/workers/dockershim/network/cni-config.js";
import { CniNetwork } from "../../../src/workers/dockershim/network/cni-network.js";
import { addressesOf, pluginInput } from "../../../src/workers/dockershim/network/cni-plugin.js";

let dir = "";
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "cni-"));
});
after(() => rm(dir, { recursive: true, force: true }));

test("the first valid file by name is the network; without one the message names each file", async () => {
  const conf = join(dir, "conf");
  await mkdir(conf);
  await assert.rejects(loadNetwork(conf), /no networks found in/);
  await writeFile(join(conf, "10-broken.conflist"), "{");
  await assert.rejects(loadNetwork(conf), /no valid networks found in .*10-broken\.conflist: /);
  await writeFile(join(conf, "20-one.conf"), JSON.stringify({ name: "one", cniVersion: "0.4.0", type: "bridge" }));
  await writeFile(join(conf, "30-two.conflist"), JSON.stringify({ name: "two", plugins: [{ type: "bridge" }] }));
  assert.equal((await loadNetwork(conf)).name, "one");
});

test("names and types that could be paths are refused", () => {
  assert.throws(() => parseNetwork({ name: "../x", plugins: [{ type: "a" }] }, true), /no valid name/);
  assert.throws(() => parseNetwork({ name: "x", plugins: [{ type: "../a" }] }, true), /no valid type/);
  assert.throws(() => parseNetwork({ name: "x", plugins: [] }, true), /no plugins/);
  assert.throws(() => parseNetwork([], true), /no JSON object/);
});

test("a plugin gets the values of the capabilities that it declares, and the result before it", () => {
  const network = { name: "n", cniVersion: "0.4.0", plugins: [] };
  const attachment = { containerId: "c", netns: "/n", args: "", capabilities: { portMappings: [1], dns: {} } };
  const plugin = { type: "portmap", snat: true, capabilities: { portMappings: true } };
  assert.deepEqual(pluginInput({ command: "ADD", network, plugin, attachment, prevResult: { ips: [] } }), {
    ...{ type: "portmap", snat: true, name: "n", cniVersion: "0.4.0" },
    runtimeConfig: { portMappings: [1] },
    prevResult: { ips: [] },
  });
});

test("addresses are read from results of all versions", () => {
  assert.deepEqual(addressesOf({ ips: [{ address: "10.0.0.2/24" }, { address: "fd00::2/64" }] }), [
    "10.0.0.2",
    "fd00::2",
  ]);
  assert.deepEqual(addressesOf({ ip4: { ip: "10.0.0.2/24" } }), ["10.0.0.2"]);
  for (const result of [undefined, null, [], "x", { ips: "x" }]) assert.deepEqual(addressesOf(result), []);
});

test("ADD runs the plugins in order, DEL in reverse order with the cached result; a plugin's error has its message", async () => {
  const [bin, conf, cache] = ["bin", "conf2", "cache"].map((name) => join(dir, name)) as [string, string, string];
  for (const path of [bin, conf]) await mkdir(path);
  const calls = join(dir, "calls");
  const program = `#!/bin/sh\necho "$CNI_COMMAND $(basename "$0") $CNI_IFNAME $CNI_ARGS $(cat)" >> ${calls}\n[ -e ${dir}/fail ] && { echo '{"code":11,"msg":"no address left","details":"pool"}'; exit 1; }\necho '{"cniVersion":"0.4.0","ips":[{"address":"10.1.0.5/16"}]}'\n`;
  for (const name of ["first", "second"]) {
    await writeFile(join(bin, name), program);
    await chmod(join(bin, name), 0o755);
  }
  await writeFile(
    join(conf, "a.conflist"),
    JSON.stringify({ name: "net", cniVersion: "0.4.0", plugins: [{ type: "first" }, { type: "second" }] }),
  );
  const network = new CniNetwork(
    { plugin: "cni", binDirs: [join(dir, "none"), bin], confDir: conf, cacheDir: cache },
    { clock: systemClock, log: createLogger({ level: "silent", thread: "test" }) },
  );
  const pod = {
    sandboxId: "a".repeat(64),
    metadata: { name: "p", namespace: "ns", uid: "u", attempt: 0 },
    pid: 7,
    ports: [],
  };
  const { signal } = new AbortController();
  assert.equal(await network.problem(), undefined);
  assert.deepEqual(await network.setUp(pod, PodSandboxConfig.fromPartial({}), signal), ["10.1.0.5"]);
  assert.equal((await readdir(join(cache, "results"))).length, 1);
  await network.tearDown(pod, signal);
  assert.deepEqual(await readdir(join(cache, "results")), []);
  const lines = (await readFile(calls, "utf8")).trim().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split(" ").slice(0, 3).join(" ")),
    ["ADD first eth0", "ADD second eth0", "DEL second eth0", "DEL first eth0"],
  );
  assert.match(lines[0] ?? "", /K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=a{64};K8S_POD_UID=u/);
  assert.match(lines[1] ?? "", /"prevResult":\{"cniVersion":"0.4.0"/);
  assert.match(lines[2] ?? "", /"prevResult":/);
  await writeFile(join(dir, "fail"), "");
  await assert.rejects(
    network.setUp(pod, PodSandboxConfig.fromPartial({}), signal),
    /CNI plugin first, ADD: no address left; pool/,
  );
});
