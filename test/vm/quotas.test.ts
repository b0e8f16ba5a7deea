// Project quotas of real file systems, which the kernels of developers' machines may lack. XFS and ext4 hold the
// kubelet's root directory, on a machine with containerd 2, whose pods may have user namespaces. Only with
// NODELET_VM_QUOTAS=1: an emulated machine takes many minutes.
// @promise Packages and documents: On XFS and ext4 with project quotas each emptyDir of a pod in a user namespace is a
//   project. Its usage is the quota's, also after a restart, and a deleted but open file counts. Its removal removes
//   its lines of /etc/projects and /etc/projid. On other file systems the kubelet walks the volumes, and logs the
//   reason.
// @with test/main/volumes/quotas, test/main/pods/disk-usage

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { GuestNode, MANIFESTS } from "./guest-node.js";
import { makeNewestPayload, newestIn } from "./payload.js";
import { openWorld, type World } from "./world.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const PACKAGE = "/mnt/package";
const FIRST = 1_048_577;
/** The feature must be there when the file system is made, and quotas be on when it is mounted. */
const FILE_SYSTEMS = {
  xfs: "mkfs.xfs -q",
  ext4: "mke2fs -q -t ext4 -O project,quota -E quotatype=prjquota",
} as const;

/** Takes 8 MiB of its volume: `kept` in a file with a name, `hidden` in a file that is deleted but open. */
function writer(name: string, how: "kept" | "hidden", spec: object) {
  const write = "dd if=/dev/zero of=/data/file bs=1M count=8 2>/dev/null";
  const hide = "exec 3>/data/file; rm /data/file; dd if=/dev/zero bs=1M count=8 >&3 2>/dev/null";
  const command = ["sh", "-c", `${how === "kept" ? write : hide}; trap 'exit 0' TERM; sleep 3600 & wait`];
  const volumes = [{ name: "data", emptyDir: {} }];
  const container = {
    name: "app",
    image: BUSYBOX_IMAGE,
    command,
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { dnsPolicy: "Default", terminationGracePeriodSeconds: 2, volumes, containers: [container], ...spec },
  };
}

const skip = process.env["NODELET_VM_QUOTAS"] === "1" ? false : "only with NODELET_VM_QUOTAS=1";

describe("emptyDir volumes with project quotas", { skip, timeout: 20 * 60_000 * PATIENCE }, () => {
  let world: World;
  let node: GuestNode;

  before(async () => {
    world = await openWorld({ payload: makeNewestPayload });
    node = new GuestNode(world.vm);
    const newest = newestIn(ROOT);
    await node.vm.ok(
      `mkdir -p ${newest} && mount --bind /mnt/newest ${newest}
       mkdir -p /etc/systemd/system/containerd.service.d
       printf '[Service]\nEnvironment=PATH=${newest}/usr/bin:${newest}/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin\nExecStart=\nExecStart=${newest}/usr/bin/containerd\n' \
         >/etc/systemd/system/containerd.service.d/newest.conf
       systemctl daemon-reload && systemctl restart containerd
       make -C ${PACKAGE} install
       printf 'featureGates: {LocalStorageCapacityIsolationFSQuotaMonitoring: true}\nevictionHard: {memory.available: "0%%"}\n' >>/etc/nodelet/kubelet.yaml`,
      300_000,
    );
  });
  after(() => world.close());

  for (const [type, make] of Object.entries(FILE_SYSTEMS)) {
    test(`on ${type}: each volume of a pod in a user namespace is a project, and its usage the quota's, also after a restart`, async () => {
      await node.vm.ok(
        `truncate -s 400M /var/${type}.img && ${make} /var/${type}.img
         mkdir -p /var/lib/kubelet && mount -o loop,prjquota /var/${type}.img /var/lib/kubelet
         systemctl start kubelet`,
        180_000,
      );
      await node.waitHealthy();
      await node.putManifest("own", writer("own", "kept", { hostUsers: false }));
      await node.putManifest("node", writer("node", "kept", {}));
      await node.putManifest("hidden", writer("hidden", "hidden", { hostUsers: false }));
      const pod = await node.runningPod("own");
      await node.runningPod("node");

      // Only the quota counts a file without a name.
      await node.runningPod("hidden");
      await usageIs("hidden", 8);

      const directory = `/var/lib/kubelet/pods/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/data`;
      const lines = (await node.vm.ok("cat /etc/projects")).trim().split("\n");
      const project = lines.find((line) => line.endsWith(`:${directory}`))?.split(":")[0] ?? "";
      assert.ok(Number(project) >= FIRST, lines.join(" "));
      assert.ok(!lines.some((line) => /node-vm/.test(line)) && lines.length <= 2, lines.join(" "));
      assert.match(await node.vm.ok("cat /etc/projid"), new RegExp(`^volume${project}:${project}$`, "m"));
      assert.match(await node.vm.ok(`lsattr -pd ${directory}`), new RegExp(`^ *${project} `));

      await usageIs("own", 8);
      // A file that another kubelet process never walked, and that has no name.
      await node.vm.ok("systemctl restart kubelet", 120_000);
      await node.waitHealthy();
      await node.vm.ok(
        `exec 3>${directory}/more; rm ${directory}/more; dd if=/dev/zero bs=1M count=4 >&3
         sleep 600 >/dev/null 2>&1 & echo $! >/run/holder`,
      );
      await usageIs("own", 12);
      await node.vm.ok("kill $(cat /run/holder)");

      await node.removePods();
      assert.deepEqual((await node.vm.ok("cat /etc/projects /etc/projid")).trim(), "");
      await node.vm.ok("systemctl stop kubelet && umount /var/lib/kubelet", 120_000);
    });
  }

  test("without project quotas the log names the missing part, and volumes are walked", async () => {
    await node.vm.ok("systemctl start kubelet", 120_000);
    await node.waitHealthy();
    await node.putManifest("own", writer("own", "kept", { hostUsers: false }));
    await node.runningPod("own");
    await usageIs("own", 8);
    await node.waitForLog(
      "LocalStorageCapacityIsolationFSQuotaMonitoring is on, but the file system of .* has no project quotas",
    );
    await node.vm.ok(`rm ${MANIFESTS}/own.yaml`);
  });

  /**
   * The volume's usage in /stats/summary is at least so many MiB. XFS reserves up to as much again for a file that
   * grows.
   */
  async function usageIs(name: string, mebibytes: number): Promise<void> {
    const summary = "busybox wget -q -O - http://127.0.0.1:10255/stats/summary";
    const find = `p.podRef.name === "${name}-vm"`;
    const script = `${summary} | node -e '
      const { pods } = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const bytes = pods.find((p) => ${find})?.volume?.find((v) => v.name === "data")?.usedBytes;
      console.log(bytes);
      process.exit(bytes >= ${mebibytes} * 1048576 && bytes < ${2 * mebibytes + 1} * 1048576 ? 0 : 1);'`;
    await node.vm.until(script, { what: `${mebibytes} MiB in the volume of ${name}`, timeoutMs: 120_000 });
  }
});
