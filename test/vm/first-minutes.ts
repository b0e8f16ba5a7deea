// docs/quick-start.md to the letter, on a fresh machine: Debian's own containerd and CNI plugins, and no network
// configured. The images come from an archive, because the machine has no registry. Nothing else is prepared. Then the
// purge, and the package beside kubeadm.

import assert from "node:assert/strict";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../../tools/standalone/exec.js";
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from "../../tools/standalone/images.js";
import { PATIENCE, waitFor } from "../../tools/standalone/wait.js";
import { blocksOf, matchesShown, shownIn, type Block } from "../support/doc-blocks.js";
import type { CommandResult } from "./channel.js";
import { chosenReleases } from "./chosen-releases.js";
import { GuestNode, MANIFESTS } from "./guest-node.js";
import { makePackagesPayload } from "./payload.js";
import { LIMITS, limitedPod, portPod } from "./pods.js";
import type { Suite } from "./recipe.js";
import { makePackages, type Packages } from "./release.js";
import { openWorld, type World } from "./world.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const INSTALL_MS = 420_000;
const OUTPUT_MS = 120_000;
/** The name of the node in the documents. */
const NODE = "node1";
const CONFLIST = "/etc/cni/net.d/10-nodelet.conflist";
const HOST_PORT = 18_080;

/** The life of a package has Debian 13 where each release is taken once. */
export function firstMinutesOn(suite: Suite): void {
  const title = `the quick start on Debian ${suite === "bookworm" ? 12 : 13}`;
  if (!chosenReleases("bookworm").includes(suite)) test(title, { skip: "this run leaves the release out" });
  else describeFirstMinutes(title, suite);
}

function describeFirstMinutes(title: string, suite: Suite): void {
  describe(title, { timeout: 24 * 60_000 * PATIENCE }, () => {
    let packages: Packages;
    let kubeadm: string;
    let world: World;
    let node: GuestNode;
    let blocks: Block[];
    const files = async (): Promise<string[]> =>
      (await node.vm.ok("find /etc /usr /var/lib/kubelet /var/log/pods -xdev 2>/dev/null | sort || true")).split("\n");
    let filesBefore: string[];
    /** As a shell of the user has it: in the folder of the checkout. */
    const typed = (command: string, limitMs = OUTPUT_MS): Promise<CommandResult> =>
      node.vm.run(`cd /root && ${command} 2>&1`, limitMs);
    /** Which of the kubelet's ports are open; kubeadm's preflight refuses when one is taken. */
    const openPorts = async (): Promise<string[]> => {
      const { stdout } = await node.vm.run("busybox netstat -ltn | grep -oE ':(10248|10250|10255) '");
      return stdout.split("\n").filter((line) => line !== "");
    };
    const install = (): Promise<string> =>
      node.vm.ok("cd /root && apt install ./dist/packages/nodelet_*.deb 2>&1", INSTALL_MS);

    before(async () => {
      packages = await makePackages({ older: false });
      kubeadm = await makeKubeadm(packages.dir);
      blocks = blocksOf(await readFile(join(ROOT, "docs/quick-start.md"), "utf8"));
      const payload = (root: string, dir: string): Promise<string> =>
        makePackagesPayload(root, dir, { packages: [packages.deb, kubeadm], tests: [] });
      world = await openWorld({ suite, kind: "fresh", payload });
      node = new GuestNode(world.vm);
      // What a registry would deliver, and what `make packages` has made.
      await node.vm.ok(`
        pause="$(containerd config dump | sed -n 's/^ *sandbox_image = "\\(.*\\)"/\\1/p')" && test -n "$pause"
        ctr --namespace k8s.io images tag ${PAUSE_IMAGE} "$pause"
        ctr --namespace k8s.io images tag ${BUSYBOX_IMAGE} docker.io/library/busybox:1.36
        mkdir -p /root/dist/packages && cp /mnt/${basename(packages.deb)} /root/dist/packages/`);
      filesBefore = await files();
    });
    after(async () => {
      await world.close();
      await packages.remove();
    });

    test("the machine has no network for pods", async () => {
      assert.equal((await node.vm.run("ls -A /etc/cni/net.d 2>/dev/null")).stdout, "");
    });

    test("the page's command installs the package", async () => {
      const [block] = blocks.filter(({ text }) => text.includes("apt install"));
      const command = block?.text.split("\n").find((line) => line.includes("apt install"));
      assert.ok(command !== undefined);
      const { status, stdout } = await typed(command, INSTALL_MS);
      assert.equal(status, 0, stdout);
      assert.deepEqual(await node.unit("ActiveState", "UnitFileState"), {
        ActiveState: "active",
        UnitFileState: "enabled",
      });
    });

    test("each further command of the page works, and prints what the page shows", async () => {
      for (const { text, line, language } of blocks.filter(({ environment }) => environment?.kind === "node")) {
        if (language !== "console") {
          const { status, stdout } = await typed(`set -e\n${text}`);
          assert.equal(status, 0, `line ${line}: ${stdout}`);
          continue;
        }
        for (const { command, output } of shownIn(text)) {
          let seen: CommandResult | undefined;
          await waitFor(
            async () => {
              seen = await typed(command);
              return matchesShown(output, seen.stdout);
            },
            {
              what: `line ${line}: ${command} to print ${output.join("\n")}`,
              timeoutMs: OUTPUT_MS,
              lastSeen: async () => `${seen?.stdout ?? ""}${await node.vm.story()}`,
            },
          );
        }
      }
    });

    test("the network is that of the package, and doctor has nothing to say about it", async () => {
      const { stdout } = await node.vm.run("nodelet doctor");
      assert.match(stdout, /^ok +CNI configuration: 10-nodelet\.conflist in \/etc\/cni\/net\.d$/m);
      assert.match(stdout, /^ok +CNI programs: \d+ in \/usr\/lib\/cni$/m);
      assert.match(stdout, /^ok +cgroup driver: cgroupfs$/m);
      assert.match(stdout, /^ok +net\.ipv4\.ip_forward: /m);
      assert.match(await node.vm.ok("nodelet doctor --fix"), /^fine: .*10-nodelet\.conflist; it is left as it is$/m);
    });

    test("the limits of a pod are in its cgroups, which are of version 2", async () => {
      assert.equal((await node.vm.ok("stat --file-system --format %T /sys/fs/cgroup")).trim(), "cgroup2fs");
      await node.putManifest("limited", limitedPod("limited"));
      await node.vm.until(`nodelet pods | grep -q '^default *limited-${NODE} .* Running'`, {
        what: "the pod to run",
        timeoutMs: OUTPUT_MS,
      });
      const folder = "/sys/fs/cgroup/kubepods/burstable/pod*";
      assert.deepEqual(await node.cgroup(folder, Object.keys(LIMITS)), LIMITS);
      await node.vm.ok(`rm ${MANIFESTS}/limited.yaml`);
    });

    test("kubeadm that is installed later finds its ports free", async () => {
      await node.waitHealthy();
      await node.vm.until('test -z "$(ls /var/lib/kubelet/nodelet/pods)"', { what: "the page's pod to be removed" });
      await node.vm.ok(`dpkg --install /mnt/${basename(kubeadm)}`, INSTALL_MS);
      assert.deepEqual(await openPorts(), []);
      const unit = await node.unit("ActiveState", "UnitFileState");
      assert.deepEqual(unit, { ActiveState: "inactive", UnitFileState: "enabled" });
      assert.notEqual((await node.vm.run(`test -e ${CONFLIST}`)).status, 0, "a cluster has a network of its own");
      assert.equal((await node.vm.ok("ls -A /etc/kubernetes/manifests")).trim(), "");
    });

    test("a purge leaves nothing behind", async () => {
      await node.vm.ok("apt-get -y purge nodelet", INSTALL_MS);
      const known = new Set([...filesBefore, "/usr/bin/kubeadm", ...DROP_IN]);
      const left = (await files()).filter(
        (path) => !known.has(path) && !/^\/(usr\/share\/doc\/kubeadm|etc\/cni)/.test(path),
      );
      assert.deepEqual(left, []);
      assert.notEqual((await node.vm.run("ip link show nodelet0")).status, 0);
    });

    test("beside kubeadm, the package starts nothing and writes no network", async () => {
      assert.match(await install(), /this node is for a cluster: kubeadm starts the kubelet/);
      const unit = await node.unit("ActiveState", "UnitFileState");
      assert.deepEqual(unit, { ActiveState: "inactive", UnitFileState: "enabled" });
      assert.deepEqual(await openPorts(), []);
      assert.notEqual((await node.vm.run(`test -e ${CONFLIST}`)).status, 0);
    });

    test("after the join, the unit runs the kubelet with kubeadm's files", async () => {
      for (const [path, text] of Object.entries(JOINED)) await node.put(path, text);
      await node.vm.ok("systemctl start --no-block kubelet");
      // It speaks of the file, because the stand-in for kubeadm's kubeconfig has no cluster.
      await node.waitForLog("kubeconfig /etc/kubernetes/bootstrap-kubelet.conf.*current-context: is missing");
      await node.vm.ok("systemctl stop kubelet");
    });

    test("MODE=standalone runs the node alone in spite of kubeadm's drop-in, when systemd has read it", async () => {
      await node.vm.ok("echo MODE=standalone >>/etc/default/kubelet");
      assert.match((await node.vm.run("nodelet doctor")).stdout, /mode of the unit: .*systemctl daemon-reload/s);
      await node.vm.ok("systemctl daemon-reload && systemctl start kubelet", INSTALL_MS);
      await node.waitHealthy();
      assert.match(await node.vm.ok("nodelet status"), /stand-alone|static pods/);
      await node.vm.ok("rm /etc/default/kubelet && systemctl daemon-reload && systemctl stop kubelet");
    });

    test("without kubeadm, the node is a stand-alone one again, and a published port reaches its pod", async () => {
      await node.vm.ok(
        `rm ${Object.keys(JOINED).join(" ")} && dpkg --remove kubeadm && systemctl start kubelet`,
        INSTALL_MS,
      );
      await node.putManifest("ported", portPod("ported", HOST_PORT));
      await node.vm.until(`busybox wget -q -O - http://127.0.0.1:${HOST_PORT}/passwd | grep -q root`, {
        what: "the pod to answer on its host port",
        timeoutMs: OUTPUT_MS,
      });
    });

    test("kubeadm stops no kubelet that has pods", async () => {
      await node.vm.ok(`dpkg --install /mnt/${basename(kubeadm)}`, INSTALL_MS);
      assert.deepEqual(await node.unit("ActiveState"), { ActiveState: "active" });
    });

    test("a purge refuses while a pod without volumes runs, and names it", async () => {
      const { status, stdout } = await typed("apt-get -y purge nodelet", INSTALL_MS);
      assert.notEqual(status, 0);
      assert.match(stdout, new RegExp(`is kept, because pods still run: ported-${NODE}: stop these pods and repeat`));
      await node.vm.ok(`test -e ${CONFLIST} && test -d /var/lib/kubelet/nodelet`);
    });
  });
}

const DROP_IN = ["", "/10-kubeadm.conf"].map((name) => `/usr/lib/systemd/system/kubelet.service.d${name}`);
const JOINED: Readonly<Record<string, string>> = {
  "/etc/kubernetes/bootstrap-kubelet.conf": "apiVersion: v1\nkind: Config\n",
  "/var/lib/kubelet/config.yaml": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
};

/** A package with the program kubeadm and its drop-in, as far as a kubelet's package sees it. */
async function makeKubeadm(dir: string): Promise<string> {
  const stage = join(dir, "kubeadm");
  await mkdir(join(stage, "DEBIAN"), { recursive: true });
  await mkdir(join(stage, "usr/bin"), { recursive: true });
  const fields = ["Package: kubeadm", "Version: 1.36.2", "Architecture: all", "Maintainer: t <t@localhost>"];
  await writeFile(join(stage, "DEBIAN/control"), `${fields.join("\n")}\nDescription: stand-in\n`);
  await copyFile("/bin/true", join(stage, "usr/bin/kubeadm"));
  const dropIns = join(stage, "usr/lib/systemd/system/kubelet.service.d");
  await mkdir(dropIns, { recursive: true });
  await copyFile(join(ROOT, "tools/deploy/kubeadm/10-kubeadm.conf"), join(dropIns, "10-kubeadm.conf"));
  const file = join(dir, "kubeadm_1.36.2_all.deb");
  await run("dpkg-deb", ["--root-owner-group", "--build", stage, file]);
  return file;
}
