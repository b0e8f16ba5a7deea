// A node with little memory and disk, for tests of eviction. Its pods' cgroup has a memory limit, and all its files
// (root directory, logs, images, writable layers) are on one small file system in memory. It never uses up the
// machine's own memory or disk.

import { access, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cgroupTrees } from "../../tools/standalone/cgroups.js";
import { run } from "../../tools/standalone/exec.js";
import { waitFor } from "../../tools/standalone/wait.js";
import type { NodeOptions, TestNode } from "../harness/node.js";
import { testImage } from "../harness/node.js";
import type { Fields } from "./api-kit.js";
import { boundPod, startClusterNode, type ClusterNode } from "./cluster-node.js";

export const MIB = 2 ** 20;

export interface SmallNodeOptions {
  /** MiB; of memory what all pods may use together. */
  memoryMiB: number;
  /** MiB; of the file system. */
  diskMiB: number;
  node?: NodeOptions;
  /** Before the kubelet starts. */
  prepare?: (node: TestNode) => Promise<void>;
}

export async function startSmallNode({
  memoryMiB,
  diskMiB,
  node = {},
  prepare,
}: SmallNodeOptions): Promise<ClusterNode> {
  const parent = process.env["NODELET_TEST_DIR"] ?? "";
  const disk = await mkdtemp(join(parent, "d-"));
  await run("mount", ["-t", "tmpfs", "-o", `size=${diskMiB}m,mode=755`, "nodelet-test", disk]);
  const remove = async (): Promise<void> => {
    process.env["NODELET_TEST_DIR"] = parent;
    await run("umount", ["--lazy", disk]);
    await rm(disk, { recursive: true });
  };
  process.env["NODELET_TEST_DIR"] = disk;
  try {
    const bytes = memoryMiB * MIB;
    const config = { systemReserved: { memory: String((await machineMemory()) - bytes) }, ...node.config };
    const cluster = await startClusterNode({ ...node, containerd: "own", config, start: false });
    await prepare?.(cluster.node);
    await cluster.node.restart();
    await limitPods(cluster.node, bytes);
    return {
      ...cluster,
      async stop() {
        await cluster.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

export interface EaterOptions {
  /** A folder of the node: the pod eats once there is a file of its name. */
  ctl?: string;
  /** It has to be killed. */
  stubborn?: boolean;
}

/** A pod that has so much memory in use from the moment it eats, as long as it lives. */
export function memoryEater(name: string, mebibytes: number, { ctl, stubborn = false }: EaterOptions = {}): Fields {
  const script = [
    stubborn ? "trap '' TERM" : "trap 'exit 3' TERM",
    ...(ctl === undefined ? [] : [`until [ -e /ctl/${name} ]; do sleep 0.05; done`]),
    // dd fills its buffer, and then waits for a reader of the FIFO. Then it uses no processor time, so the shell gets
    // its signal at once.
    "mkfifo /unread && exec 3<>/unread",
    `dd if=/dev/zero bs=${mebibytes}M count=1 >&3 & wait $!`,
  ];
  const mounts = ctl === undefined ? {} : { volumeMounts: [{ name: "ctl", mountPath: "/ctl" }] };
  return boundPod(name, "", {
    containers: [
      {
        ...{ name: "app", image: testImage(), imagePullPolicy: "Never" },
        command: ["/bin/sh", "-c", script.join("\n")],
        resources: { requests: { memory: "1Mi" }, limits: { cpu: "200m" } },
        ...mounts,
      },
    ],
    ...(ctl !== undefined && { volumes: [{ name: "ctl", hostPath: { path: ctl, type: "Directory" } }] }),
  });
}

/** Path of a pod's emptyDir on the node. */
export function emptyDirOf(node: TestNode, uid: string, volume: string): string {
  return join(node.kubelet.rootDir, "pods", uid, "volumes", "kubernetes.io~empty-dir", volume);
}

/** Writes so much, or until nothing more fits. */
export async function fill(path: string, bytes: number): Promise<void> {
  const file = await open(path, "w");
  const block = Buffer.alloc(MIB, 1);
  try {
    for (let left = bytes; left > 0; left -= block.length) await file.write(block.subarray(0, Math.min(left, MIB)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    await file.close();
  }
}

/** The kubelet enforces the same, where it does; here it is there from the first pod on. */
async function limitPods({ containerd }: TestNode, bytes: number): Promise<void> {
  const trees = await cgroupTrees();
  const memory = trees.find((tree) => tree.endsWith("/memory")) ?? trees.find((tree) => tree.endsWith("/cgroup")) ?? "";
  const pods = join(memory, containerd?.cgroup ?? "", "kubepods");
  await waitFor(() => access(pods).then(() => true), { what: `${pods} to be there` });
  const file = memory.endsWith("/memory") ? "memory.limit_in_bytes" : "memory.max";
  await writeFile(join(pods, file), String(bytes));
}

async function machineMemory(): Promise<number> {
  const kibibytes = /^MemTotal:\s+(\d+) kB$/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1];
  return Number(kibibytes) * 1024;
}
