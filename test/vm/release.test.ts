// The packages on machines with systemd and without a Node of their own: Debian 12 and 13. One life of a package per
// machine: install, a pod, downgrade, upgrade, remove, a refused purge, install again, purge. With NODELET_VM_TESTS=1
// the integration tests of a pod's life under the systemd driver follow on Debian 13.
// @headline Packages and documents | An upgrade or downgrade restarts no container. | Debian 12, 13
// @promise Packages and documents: The .deb on Debian 12 and 13: install starts the unit; an upgrade or downgrade
//   restarts the kubelet and no container; removal leaves pods and data; a purge refuses while a pod uses its volumes;
//   a later install continues with the pod; a purge leaves nothing. The .rpm has the same files. V8 takes the packaged
//   code cache on another processor.
// @promise Packages and documents: The integration tests of a pod's life pass on Debian 13 (systemd 257, containerd
//   1.7), on cgroup v2 alone under the systemd driver.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/standalone/exec.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { globSync } from "../harness/glob.js";
import { blocksOf } from "../support/doc-blocks.js";
import { chosenReleases } from "./chosen-releases.js";
import { GuestNode, MANIFESTS, type RunningContainer } from "./guest-node.js";
import { makePackagesPayload, testIn } from "./payload.js";
import { memoryVolumePod } from "./pods.js";
import type { Suite } from "./recipe.js";
import { makePackages, OLDER, type Packages } from "./release.js";
import { openWorld, type World } from "./world.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const INSTALL_MS = 240_000;
const TESTS_MS = 420_000;
let packages: Packages;
before(async () => {
  packages = await makePackages();
});
after(() => packages.remove());

test("two packages of the same sources have the same code cache", async () => {
  const sums = async (file: string, to: string): Promise<string[]> => {
    await run("dpkg-deb", ["--control", file, to]);
    return (await readFile(join(to, "md5sums"), "utf8")).split("\n").filter((line) => line.endsWith(".cache"));
  };
  const now = await sums(packages.deb, join(packages.dir, "control-now"));
  assert.ok(now.length > 100);
  assert.deepEqual(await sums(packages.older, join(packages.dir, "control-older")), now);
});

test("the .rpm has the same files as the .deb, requires nothing of npm, and its kubelet runs", async () => {
  const query = async (...words: string[]): Promise<string[]> =>
    (await run("rpm", ["--query", "--package", ...words, packages.rpm])).trim().split("\n");
  assert.deepEqual(await query("--queryformat", "%{NAME} %{ARCH}\\n"), ["nodelet x86_64"]);
  assert.ok((await query("--provides")).includes("kubelet = 1.36.0"));
  assert.deepEqual(await query("--conflicts"), ["kubelet"]);
  assert.deepEqual(await query("--configfiles"), ["/etc/nodelet/kubelet.yaml"]);
  const required = (await query("--requires")).filter((line) => !/^(rpmlib\(|\/bin\/sh$)/.test(line));
  assert.deepEqual(required.sort(), ["bash", "glibc >= 2.28", "libgcc", "libstdc++", "util-linux"]);
  const [rpm, deb] = [join(packages.dir, "from-rpm"), join(packages.dir, "from-deb")];
  await mkdir(rpm);
  await run("sh", ["-c", `rpm2archive - <"$1" | tar -xz -C "$2"`, "sh", packages.rpm, rpm]);
  await run("dpkg-deb", ["--extract", packages.deb, deb]);
  await run("mv", [join(deb, "usr/share/zsh/vendor-completions"), join(deb, "usr/share/zsh/site-functions")]);
  // Only Debian has lintian.
  await run("rm", ["-r", join(deb, "usr/share/lintian")]);
  assert.equal(await run("diff", ["-r", deb, rpm]), "");
  const home = join(rpm, "usr/lib/nodelet");
  const version = await run(join(home, "node/node"), [join(home, "dist/agent/main/kubelet.js"), "--version"]);
  assert.match(version, /^Kubernetes v1\.36\./);
  const kib = Number(await run("dpkg-deb", ["--field", packages.deb, "Installed-Size"]));
  assert.ok(kib < 160_000, `${kib} KiB: Node's symbols or sources of native code are inside (docs/adr/0090)`);
});

/** Integration tests that run on Debian 13 if asked for: they take longer than CI has. */
const TESTS = process.env["NODELET_VM_TESTS"] === "1" ? ["pod-lifecycle"] : [];
/** Node of the tests, out of the path of the packages. */
const NODE = "/root/node-of-the-tests";
for (const suite of chosenReleases("trixie")) lifeOn(suite);

function lifeOn(suite: Suite): void {
  describe(`the .deb on Debian ${suite === "bookworm" ? 12 : 13}`, { timeout: 14 * 60_000 * PATIENCE }, () => {
    let world: World;
    let node: GuestNode;
    let filesBefore: string[];
    let container: RunningContainer;
    const installed = (file: string): Promise<string> =>
      node.vm.ok(`dpkg --install /mnt/${basename(file)} 2>&1`, INSTALL_MS);
    const observe = async (): Promise<RunningContainer> => node.container(await node.runningPod("kept"));
    const processes = async (): Promise<string> =>
      node.vm.ok(`ctr --namespace k8s.io tasks list | grep ${container.id} | grep RUNNING`);
    const listFiles = async (): Promise<string[]> =>
      (
        await node.vm.ok(`find /etc /usr /var/log/pods /var/log/containers /var/lib/kubelet -xdev \\
          -not -path '*/python3/*' 2>/dev/null | sort || true`)
      ).split("\n");

    before(async () => {
      const payload = (root: string, dir: string): Promise<string> =>
        makePackagesPayload(root, dir, {
          packages: [packages.older, packages.deb],
          tests: suite === "trixie" ? TESTS : [],
        });
      world = await openWorld({ suite, payload });
      node = new GuestNode(world.vm);
      await node.vm.ok(`mv /usr/bin/node ${NODE}`);
      filesBefore = await listFiles();
    });
    after(() => world.close());

    test("installation enables and starts the unit", async (t) => {
      const startedAt = performance.now();
      await installed(packages.deb);
      t.diagnostic(`dpkg --install took ${secondsSince(startedAt)}`);
      await node.waitHealthy();
      t.diagnostic(`from the package to /healthz: ${secondsSince(startedAt)}`);
      const unit = await node.unit("ActiveState", "UnitFileState", "NRestarts");
      assert.deepEqual(unit, { ActiveState: "active", UnitFileState: "enabled", NRestarts: "0" });
      assert.equal(await node.vm.ok("dpkg --verify nodelet"), "");
      assert.doesNotMatch(await node.vm.ok("systemd-analyze verify --man=no kubelet.service 2>&1"), /kubelet/);
    });

    test("a pod runs, and nodelet shows it", async (t) => {
      const startedAt = performance.now();
      await node.putManifest("kept", memoryVolumePod("kept"));
      await node.runningPod("kept");
      t.diagnostic(`from the manifest to the running pod: ${secondsSince(startedAt)}`);
      assert.match(await node.vm.ok("nodelet pods"), /kept-vm/);
      container = await observe();
    });

    test("the documentation's commands for a machine with systemd show the kubelet's warnings", async () => {
      await node.put(`${MANIFESTS}/broken.yaml`, "kind: Pod\nspec: [\n");
      await node.waitForLog("broken.yaml");
      const commands = packageCommands();
      assert.ok(commands.length > 0);
      for (const command of commands) assert.match(await node.vm.ok(command), /broken\.yaml/, command);
      await node.vm.ok(`rm ${MANIFESTS}/broken.yaml`);
    });

    test("V8 takes the code cache of the package on a processor other than the build's", async () => {
      await node.put("/tmp/check.js", CHECK_CACHES);
      const flags = "--max-semi-space-size=4";
      const said = await node.vm.ok(
        `/usr/lib/nodelet/node/node ${flags} /tmp/check.js /usr/lib/nodelet/dist/agent; rm /tmp/check.js`,
      );
      const { taken, rejected } = JSON.parse(said) as { taken: number; rejected: string[] };
      assert.deepEqual(rejected, []);
      assert.ok(taken > 5, `${taken} packs`);
    });

    test("a downgrade and an upgrade restart the kubelet and no container, and keep the configuration", async () => {
      await node.vm.ok("echo '# mine' >>/etc/nodelet/kubelet.yaml");
      for (const [file, isOlder] of [
        [packages.older, true],
        [packages.deb, false],
      ] as const) {
        const pid = await node.mainPid();
        await installed(file);
        await node.waitHealthy();
        assert.notEqual(await node.mainPid(), pid);
        const version = (await node.vm.ok("dpkg-query --show --showformat='${Version}' nodelet")).trim();
        assert.equal(version === OLDER, isOlder, version);
        assert.deepEqual(await observe(), container);
        await node.vm.ok("grep -qx '# mine' /etc/nodelet/kubelet.yaml");
      }
    });

    test("removal stops the unit and leaves the pod and its data", async () => {
      await node.vm.ok("dpkg --remove nodelet", INSTALL_MS);
      assert.notEqual((await node.vm.run("systemctl is-active kubelet")).status, 0);
      assert.notEqual((await node.vm.run("test -e /usr/lib/nodelet || command -v kubelet")).status, 0);
      assert.match(await processes(), /RUNNING/);
      await node.vm.ok("test -e /etc/nodelet/kubelet.yaml && grep -q ' /var/lib/kubelet/pods/' /proc/self/mountinfo");
    });

    test("a purge refuses while a pod uses its volumes", async () => {
      const { status, stdout } = await node.vm.run("dpkg --purge nodelet 2>&1", INSTALL_MS);
      assert.notEqual(status, 0);
      assert.match(stdout, /the state in \/var\/lib\/kubelet is kept, because pods still use it/);
      assert.match(await processes(), /RUNNING/);
    });

    test("a kubelet that is installed later continues with the running pod", async () => {
      await installed(packages.deb);
      await node.waitHealthy();
      assert.deepEqual(await observe(), container);
    });

    test("a purge leaves nothing behind", async () => {
      await node.removePods();
      await node.vm.ok("dpkg --purge nodelet", INSTALL_MS);
      const known = new Set(filesBefore);
      assert.deepEqual(
        (await listFiles()).filter((path) => !known.has(path)),
        [],
      );
      assert.notEqual((await node.vm.run("systemctl cat kubelet")).status, 0);
    });

    if (suite === "trixie")
      for (const name of TESTS)
        test(`${name} of the integration suite passes on cgroup v2 alone, under the systemd driver`, () =>
          underSystemd(node, name));
  });
}

/** Runs a file of the integration suite inside, on the machine's own containerd. */
async function underSystemd(node: GuestNode, name: string): Promise<void> {
  await node.vm.ok(`
    sed -i 's/SystemdCgroup = false/SystemdCgroup = true/' /etc/containerd/config.toml
    grep -q 'SystemdCgroup = true' /etc/containerd/config.toml && systemctl restart containerd && ctr version
    test "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs && mkdir -p /var/tmp/tests`);
  const environment = [
    "NODELET_TEST_DIR=/var/tmp/tests",
    "NODELET_CRI_ENDPOINT=unix:///run/containerd/containerd.sock",
    "NODELET_CGROUP_ROOT=/",
    "NODELET_TEST_CGROUP_DRIVER=systemd",
    `NODELET_TEST_IMAGE=${BUSYBOX_IMAGE}`,
    // Emulation takes its time.
    `NODELET_PATIENCE=${4 * PATIENCE}`,
  ];
  const { status, stdout } = await node.vm.run(
    `env ${environment.join(" ")} ${NODE} --test --test-reporter=tap /mnt/${testIn(name)} 2>&1`,
    TESTS_MS,
  );
  assert.equal(status, 0, stdout.slice(-8000));
  assert.match(stdout, /^# pass [1-9]/m);
  assert.match(stdout, /^# skipped 0$/m);
  await node.vm.ok("journalctl --no-pager --quiet | grep -q 'Created slice kubepods-besteffort-pod.*slice'");
}

/** The documentation's blocks for a machine with the installed package. */
function packageCommands(): string[] {
  return globSync(join(ROOT, "docs"), ".md")
    .flatMap((name) => blocksOf(readFileSync(join(ROOT, "docs", name), "utf8")))
    .filter(({ environment }) => environment?.kind === "package")
    .map(({ text }) => text);
}

/** Times under emulation; docs/packages.md has them. */
function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

/** Prints how many packs V8 takes with their caches, under the flags of the kubelet, and which it rejects. */
const CHECK_CACHES = `
  const { readdirSync, readFileSync } = require("node:fs"); const { join } = require("node:path");
  const { Script } = require("node:vm");
  const folder = join(process.argv[2], "packs"); const names = readdirSync(folder);
  const scripts = names.filter((name) => name.endsWith(".js"));
  const rejected = scripts.filter((name) => {
    const cache = names.find((one) => one.startsWith(name + ".") && one.endsWith(".cache"));
    if (cache === undefined) return true;
    const cachedData = readFileSync(join(folder, cache)).subarray(8);
    return new Script(readFileSync(join(folder, name), "latin1"), { cachedData }).cachedDataRejected !== false;
  });
  console.log(JSON.stringify({ taken: scripts.length - rejected.length, rejected }));
`;
