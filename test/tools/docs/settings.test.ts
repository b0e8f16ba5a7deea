// The pure parts of the set-up: configuration texts, subnets, rules, options, selections.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cniConfig, containerdConfig } from "../../../tools/standalone/containerd-config.js";
import { parseContainerdVersion } from "../../../tools/standalone/host.js";
import { parseMountInfo } from "../../../tools/standalone/mounts.js";
import { ensurePackages } from "../../../tools/standalone/packages.js";
import { alignColumns } from "../../../tools/standalone/pods.js";
import { planRemoval, planSharedRemoval, words } from "../../../tools/standalone/portmap-rules.js";
import { withDescendants, type ProcessInfo } from "../../../tools/standalone/processes.js";
import { pickSubnet } from "../../../tools/standalone/subnet.js";
import { isWaitTimedOut, waitFor } from "../../../tools/standalone/wait.js";

const settings = {
  dir: "/own",
  socket: "/own/containerd.sock",
  sandboxImage: "nodelet.local/pause:1",
  snapshotter: "overlayfs" as const,
  cniBinDir: "/usr/lib/cni",
  restrictOomScoreAdj: true,
  disableAppArmor: false,
};

test("containerd versions as distributions print them", () => {
  const cases: [string, number, number, string][] = [
    ["containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3", 1, 6, "1.6.20~ds1"],
    ["containerd github.com/containerd/containerd v1.7.24 88bf19b", 1, 7, "v1.7.24"],
    ["containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7", 2, 1, "v2.1.4"],
  ];
  for (const [output, major, minor, text] of cases) {
    assert.deepEqual(parseContainerdVersion(output), { major, minor, text });
  }
  assert.throws(() => parseContainerdVersion("nothing"), /cannot read a version/);
});

test("containerd 1.x gets version 2, 2.x version 3 with the plugins' new names", () => {
  const old = containerdConfig({ ...settings, version: { major: 1, minor: 6 } });
  assert.match(old, /^version = 2$/m);
  assert.match(old, /^sandbox_image = "nodelet.local\/pause:1"$/m);
  assert.match(old, /^bin_dir = "\/usr\/lib\/cni"$/m);
  assert.doesNotMatch(old, /cri\.v1/);
  const modern = containerdConfig({ ...settings, version: { major: 2, minor: 0 } });
  assert.match(modern, /^version = 3$/m);
  assert.match(modern, /"pinned_images"\]\nsandbox = "nodelet.local\/pause:1"$/m);
  assert.match(modern, /^bin_dir = /m);
  assert.match(
    containerdConfig({ ...settings, version: { major: 2, minor: 1 } }),
    /^bin_dirs = \["\/usr\/lib\/cni"\]$/m,
  );
});

test("every folder and socket in the configuration is the instance's own", () => {
  for (const major of [1, 2]) {
    const text = containerdConfig({ ...settings, version: { major, minor: 0 } });
    const paths = [...text.matchAll(/"(\/[^"]*)"/g)].map((match) => match[1]).filter((path) => path !== "/usr/lib/cni");
    assert.ok(paths.length >= 6);
    for (const path of paths) assert.match(path ?? "", /^\/own\//);
  }
});

test("the CNI network has the bridge and subnet it was given", () => {
  const text = cniConfig({ dir: "/own", network: "n", bridge: "nl-1", subnet: "10.77.16.0/20" });
  const { name, plugins } = JSON.parse(text) as { name: string; plugins: Record<string, unknown>[] };
  assert.equal(name, "n");
  assert.deepEqual(
    plugins.map(({ type }) => type),
    ["bridge", "portmap"],
  );
  assert.equal(plugins[0]?.["bridge"], "nl-1");
});

test("a subnet overlaps no route, and there may be none", () => {
  const cases: [string[], number, string | undefined][] = [
    [[], 0, "10.64.0.0/20"],
    [["10.64.0.0/20"], 0, "10.64.16.0/20"],
    [["10.64.5.9"], 0, "10.64.16.0/20"],
    [["10.64.0.0/11"], 3, "10.96.0.0/20"],
    [["192.168.0.0/16"], 1023, "10.127.240.0/20"],
    [["10.127.240.0/24"], 1023, "10.64.0.0/20"],
    [["10.0.0.0/8"], 7, undefined],
  ];
  for (const [taken, seed, expected] of cases)
    assert.equal(pickSubnet(taken, seed), expected, `${taken.join()} ${seed}`);
});

test("port mappings of our network are removed, those of others stay", () => {
  const rule = (network: string, chain: string): string =>
    `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"${network}\\" id: \\"x\\"" -j ${chain}`;
  const rules = [rule("ours", "CNI-DN-1"), rule("theirs", "CNI-DN-2")];
  const plan = planRemoval(rules, "ours", []);
  assert.equal(plan.shared, true);
  assert.deepEqual(plan.removals.slice(1), [
    ["-F", "CNI-DN-1"],
    ["-X", "CNI-DN-1"],
  ]);
  assert.deepEqual(plan.removals[0]?.slice(0, 2), ["-D", "CNI-HOSTPORT-DNAT"]);
  assert.ok(plan.removals[0].includes('dnat name: "ours" id: "x"'));
  assert.equal(planRemoval([rule("ours", "CNI-DN-1")], "ours", []).shared, false);
});

test("the plugin's own chains go only if they came with us", () => {
  const rules = ["-N CNI-HOSTPORT-DNAT", "-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT"];
  assert.deepEqual(planSharedRemoval(rules, ["CNI-HOSTPORT-DNAT"]), []);
  assert.deepEqual(planSharedRemoval(rules, []), [
    ["-D", "OUTPUT", "-m", "addrtype", "--dst-type", "LOCAL", "-j", "CNI-HOSTPORT-DNAT"],
    ["-F", "CNI-HOSTPORT-DNAT"],
    ["-X", "CNI-HOSTPORT-DNAT"],
  ]);
  assert.deepEqual(words('-m comment --comment "a \\"b\\" c" -j X'), [
    "-m",
    "comment",
    "--comment",
    'a "b" c',
    "-j",
    "X",
  ]);
});

test("mount points with blanks are read as they are", () => {
  const text = "1 0 8:1 / /a\\040b rw - ext4 /dev/x rw\n2 1 0:5 / /proc rw - proc proc rw\n";
  assert.deepEqual(parseMountInfo(text), ["/a b", "/proc"]);
});

test("descendants are found through all generations, and no other process", () => {
  const one = (pid: number, parent: number): ProcessInfo => ({ pid, parent, startTicks: 0, state: "S", args: [] });
  const all = [one(30, 20), one(20, 10), one(10, 1), one(40, 1), one(1, 0)];
  assert.deepEqual(
    withDescendants(all, new Set([10]))
      .map(({ pid }) => pid)
      .sort(),
    [10, 20, 30],
  );
});

test("NODELET_NO_APT=1 lists missing packages and runs nothing; without apt-get the same", async () => {
  const steps: string[] = [];
  const dependencies = {
    say: () => undefined,
    step: <T>(name: string, work: (note: () => void) => Promise<T>): Promise<T> => {
      steps.push(name);
      return work(() => undefined);
    },
    findMissing: () => Promise.resolve(["runc", "iptables"]),
  };
  await assert.rejects(
    ensurePackages({ ...dependencies, env: { NODELET_NO_APT: "1" } }),
    /NODELET_NO_APT=1.*: runc iptables$/,
  );
  await assert.rejects(
    ensurePackages({ ...dependencies, env: {}, findAptGet: () => Promise.resolve(undefined) }),
    /no apt-get.*: runc iptables$/,
  );
  assert.deepEqual(steps, []);
});

test("a wait that times out names its condition and the last state", async () => {
  const wait = waitFor(() => Promise.reject(new Error("closed")), { what: "a sign", timeoutMs: 30, intervalMs: 5 });
  await assert.rejects(wait, (error) => isWaitTimedOut(error) && /for a sign — last seen: closed/.test(error.message));
});

test("a table's columns line up", () => {
  assert.equal(
    alignColumns([
      ["A", "B"],
      ["long", "x"],
    ]),
    "A     B\nlong  x",
  );
});
