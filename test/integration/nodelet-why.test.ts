// `nodelet why` and `nodelet status` on real containerd: the real executable explains each kind of failure.
// @promise Command and status page: `nodelet why` and `nodelet status` explain a broken image, a probe, a crash loop,
//   an OOM kill and a hung volume. They also explain a full disk with and without an eviction threshold, a refusal, a
//   termination and a stopped runtime.
// @with test/cli/why

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { canHang, HungMounts } from "../support/hung-mounts.js";
import { nodelet } from "../support/nodelet-command.js";
import { fill, MIB } from "../support/small-node.js";
import { IDLE, manifest, PATIENCE_MS, shell, waitForPod } from "../support/static-pods.js";

/**
 * Repeats the command until all words are there, because the failure takes time. `before` runs before each question.
 */
async function explained(
  node: TestNode,
  args: readonly string[],
  words: readonly RegExp[],
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  let seen = "";
  await waitFor(
    async () => {
      await before();
      const { code, stdout, stderr } = await nodelet(node, ...args);
      seen = `exit code ${code}\n${stdout}${stderr}`;
      const text = stdout.replace(/\s+/g, " ");
      return code === 1 && words.every((word) => word.test(text));
    },
    {
      what: `${args.join(" ")} to explain ${words.join(", ")}`,
      timeoutMs: 2 * PATIENCE_MS,
      intervalMs: 1000,
      lastSeen: () => `\n${seen}`,
    },
  );
  return seen;
}

describe("nodelet why", { concurrency: 3 }, () => {
  let node: TestNode;
  let dir: string;
  const mounts = new HungMounts();

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-why-"));
    node = await startNode();
  });
  after(async () => {
    await mounts.releaseAll();
    await node.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test("a broken image name: the registry, its words, the next try", async () => {
    await node.writeManifest("image", manifest("image", [{ name: "app", image: "registry.invalid/none:1" }]));
    await explained(
      node,
      ["why", "image"],
      [
        /default\/image-testnode is not running: (ErrImagePull|ImagePullBackOff)/,
        /container app: its image "registry\.invalid\/none:1" cannot be pulled.*the name of its registry registry\.invalid does not resolve: .*lookup registry\.invalid/,
        /the kubelet tries again (in|now)/,
        /the name registry\.invalid does not resolve on this node/,
      ],
    );
  });

  test("a failing readiness probe: its last output and its count", async () => {
    const readinessProbe = {
      periodSeconds: 1,
      failureThreshold: 1,
      exec: { command: ["sh", "-c", "echo cold; exit 1"] },
    };
    await node.writeManifest("probe", manifest("probe", [shell("app", IDLE, { readinessProbe })]));
    await explained(
      node,
      ["why", "probe"],
      [
        /is running, 0 of 1 containers are ready/,
        /its readiness probe \(exec sh -c echo cold; exit 1\) has failed \d+ times?.*Its last output: cold/,
      ],
    );
  });

  test("a crash loop: exit code, restarts, the next start", async () => {
    await node.writeManifest("crash", manifest("crash", [shell("app", "echo broken; exit 3")]));
    await explained(
      node,
      ["why", "crash"],
      [
        /not running: CrashLoopBackOff/,
        /it exited with code 3.*restarts? so far/,
        /the kubelet tries again in \d+s/,
        /its last output: \| broken /,
        /nodelet logs crash-testnode -c app --previous/,
      ],
    );
  });

  test("an OOM kill: the limit that was too small", async () => {
    const resources = { limits: { memory: "24Mi" } };
    const eat = "x=a; while :; do x=$x$x; done";
    await node.writeManifest("oom", manifest("oom", [shell("app", eat, { resources })]));
    await explained(
      node,
      ["why", "oom"],
      [/killed it \(OOMKilled\): it needed more than its memory limit of 24\.0 MiB/, /raise the memory limit/],
    );
  });

  test("a rejected pod: the missing resource and the pods that hold it", async () => {
    const has = { requests: { cpu: "10m" } };
    await node.writeManifest("holder", manifest("holder", [shell("app", IDLE, { resources: has })]));
    await waitForPod(node, "holder", ({ status }) => status?.phase === "Running", "running");
    const wants = { requests: { cpu: "5000" }, limits: { cpu: "5000" } };
    await node.writeManifest("greedy", manifest("greedy", [shell("app", IDLE, { resources: wants })]));
    await explained(
      node,
      ["why", "greedy"],
      [
        /not running: OutOfcpu/,
        /the kubelet refused it: \d+(\.\d+)? CPUs are missing\. It requests 5000 CPUs/,
        /default\/holder-testnode \(10m CPU\)/,
        /this node never has so much/,
      ],
    );
  });

  test(
    "a volume that hangs: which mount, since when, how to mend it",
    { skip: canHang ? false : "needs root and /dev/fuse" },
    async () => {
      const path = join(dir, "silent");
      await mounts.hang(path);
      const volumes = [{ name: "data", hostPath: { path, type: "Directory" as const } }];
      const app = shell("app", IDLE, { volumeMounts: [{ name: "data", mountPath: "/data" }] });
      await node.writeManifest("volume", manifest("volume", [app], { spec: { volumes } }));
      await explained(
        node,
        ["why", "volume"],
        [
          /not running: ContainerCreating/,
          new RegExp(
            `volume data: it hangs: the file system at ${path} \\(fuse.* from silent-server\\) does not respond`,
          ),
          /since \d{4}-/,
          new RegExp(`umount -l ${path}`),
        ],
      );
      await explained(node, ["status"], [new RegExp(`error: the volume at ${path} .* does not respond`)]);
      await node.removeManifest("volume");
      await mounts.release(path);
    },
  );

  test("a pod that does not end at once: its running containers, and the deadline", async () => {
    const stubborn = shell("app", "trap '' TERM; while :; do sleep 1; done");
    await node.writeManifest("stays", manifest("stays", [stubborn], { spec: { terminationGracePeriodSeconds: 600 } }));
    await waitForPod(node, "stays", ({ status }) => status?.phase === "Running", "running");
    await node.removeManifest("stays");
    let seen = "";
    await waitFor(
      async () => {
        seen = (await nodelet(node, "why", "stays")).stdout.replace(/\s+/g, " ");
        return /it is terminating .*still running: app\. SIGKILL follows in [\dms]+, at/.test(seen);
      },
      { what: "the termination to be explained", timeoutMs: 2 * PATIENCE_MS, intervalMs: 200, lastSeen: () => seen },
    );
  });

  test("an unknown pod: exit code 1 and the nearest name", async () => {
    const { code, stderr } = await nodelet(node, "why", "no-such-pod-here");
    assert.equal(code, 1);
    assert.match(stderr, /this node has no pod no-such-pod-here/);
  });
});

test("a stopped runtime: status and why name it, since when, and the remedy", async (t) => {
  const node = await startNode({ containerd: "own" });
  t.after(() => node.stop());
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
  await waitForPod(node, "web", ({ status }) => status?.phase === "Running", "running");
  await node.containerd?.kill9();
  await explained(
    node,
    ["status"],
    [
      /error: the container runtime( containerd)? does not respond at unix:/,
      /for [\dhms]+, since/,
      /systemctl restart containerd/,
    ],
  );
  await node.writeManifest("late", manifest("late", [shell("app", IDLE)]));
  await explained(
    node,
    ["why", "late"],
    [/node: the container runtime( containerd)? does not respond/, /systemctl restart containerd/],
  );
});

/** A node whose root directory is on a disk of 64 MiB. Its containerd sees the same mounts. */
async function nodeOnSmallDisk(t: TestContext, evictionHard: Record<string, string>): Promise<TestNode> {
  const config = { evictionHard: { "memory.available": "100Mi", ...evictionHard } };
  const node = await startNode({ containerd: "own", start: false, config });
  t.after(() => node.stop());
  await run("mount", ["-t", "tmpfs", "-o", "size=64m,mode=755", "nodelet-test", node.kubelet.rootDir]);
  await node.restart();
  return node;
}

describe("a full disk", { concurrency: 2 }, () => {
  const volumes = [{ name: "data", emptyDir: {} }];
  const volumeMounts = [{ name: "data", mountPath: "/data" }];

  test("with an eviction threshold: the pressure, the disk and its room", async (t) => {
    const node = await nodeOnSmallDisk(t, { "nodefs.available": "20Mi" });
    const write = `dd if=/dev/zero of=/data/big bs=1M count=50; ${IDLE}`;
    const app = shell("app", write, { volumeMounts });
    await node.writeManifest("writer", manifest("writer", [app], { spec: { volumes } }));
    await explained(
      node,
      ["status"],
      [
        /the node is short of disk space or inodes \(DiskPressure\): .*except static.* MiB of 64\.0 MiB are free on the disk of \/\S+\/kubelet/,
        /for [\dhms]+, since/,
        /`nodelet top` the pods that use most/,
      ],
    );
  });

  test("without one: the disk, and the pod that cannot start", async (t) => {
    const node = await nodeOnSmallDisk(t, {});
    // The kubelet may remove a file of its own meanwhile: what that frees is filled, too.
    let files = 0;
    const fillDisk = (): Promise<void> => fill(join(node.kubelet.rootDir, `filler-${files++}`), 100 * MIB);
    await fillDisk();
    const full = /the disk of \/\S+\/kubelet is full: pods cannot start.* 0 B of 64\.0 MiB are free/;
    await explained(node, ["status"], [full, /`df -h \S+` names the disk/], fillDisk);
    await node.writeManifest("late", manifest("late", [shell("app", IDLE, { volumeMounts })], { spec: { volumes } }));
    await explained(
      node,
      ["why", "late"],
      [full, /it cannot be started .*: ENOSPC: no space left on device/, /a disk of this node is full: `df -h; df -i`/],
      fillDisk,
    );
  });
});
