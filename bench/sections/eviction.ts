// Time until a node under pressure evicts. Pods consume memory at about 1 GiB/s below a cgroup with its own limit
// (never the machine's), and fill a small file system. Measured from the crossed threshold to the kubelet's order, and
// to the end of the pod's process.

import { access, mkdir, open, readdir, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { ApiObject, Fields } from "../../test/support/api-kit.js";
import { cgroupFolders, cgroupTrees } from "../../tools/standalone/cgroups.js";
import { run } from "../../tools/standalone/exec.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { NAMESPACE, NODE_NAME, startCluster, type ClusterUnderTest } from "../lib/cluster-under-test.js";
import { startNodeUnderTest, type NodeUnderTest } from "../lib/node-under-test.js";
import { benchFolder } from "../lib/places.js";
import type { Section } from "../lib/section.js";
import { round, summarize, type Summary } from "../lib/stats.js";

const MIB = 2 ** 20;
/** Memory that all pods may use together; pods are evicted when less than half of it is left. */
const MEMORY_LIMIT = 4096 * MIB;
const MEMORY_THRESHOLD = 2048 * MIB;
/** All the node has on disk is on a file system of this size. */
const DISK_MIB = 1024;
const DISK_THRESHOLD = 300 * MIB;
const PORT = 21_250;
const PATIENCE_MS = 120_000;
const LOOK_MS = 2;

/** Milliseconds from the threshold crossed; MiB/s that were taken while it was. */
interface EvictionRow {
  what: "memory" | "disk";
  rounds: number;
  mibPerSecond: number;
  order: Summary;
  processDead: Summary;
}

interface Parts {
  node: NodeUnderTest;
  cluster: ClusterUnderTest;
}

interface Round {
  order: number;
  dead: number;
  mibPerSecond: number;
}

export const evictionSection: Section<EvictionRow[]> = {
  name: "eviction",
  run: () => benchEviction(5),
  report: (rows) => [
    {
      title: "Eviction: times from the crossed threshold (ms)",
      head: ["of", "rounds", "MiB/s", "to the order p50", "max", "to the process dead p50", "max"],
      rows: rows.map((row) => [
        row.what,
        row.rounds,
        row.mibPerSecond,
        row.order.p50,
        row.order.max,
        row.processDead.p50,
        row.processDead.max,
      ]),
    },
  ],
};

async function benchEviction(rounds: number): Promise<EvictionRow[]> {
  const base = benchFolder("eviction");
  await mkdir(base, { recursive: true });
  await run("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=755`, "nodelet-bench", base]);
  try {
    await using cluster = await startCluster();
    const config = {
      systemReserved: { memory: String(totalmem() - MEMORY_LIMIT) },
      evictionHard: { "memory.available": String(MEMORY_THRESHOLD), "nodefs.available": String(DISK_THRESHOLD) },
      evictionPressureTransitionPeriod: "1s",
    };
    const flags = ["--kubeconfig", cluster.nodeKubeconfig];
    const node = await startNodeUnderTest(join(base, "b"), config, { flags, port: PORT });
    try {
      const parts = { node, cluster };
      await limitPods(node);
      await mkdir(ctlOf(node), { recursive: true });
      return [
        rowOf("memory", await repeat(rounds, (turn) => eatMemory(parts, `memory-${turn}`))),
        rowOf("disk", await repeat(rounds, (turn) => fillDisk(parts, `disk-${turn}`))),
      ];
    } finally {
      await node.stop();
    }
  } finally {
    await run("umount", ["--lazy", base]);
    await rm(base, { recursive: true });
  }
}

/** Processes that hold 64 MiB each, one after the other, until they are ended. */
async function eatMemory(parts: Parts, name: string): Promise<Round> {
  const eat = "dd if=/dev/zero bs=64M count=1 >&3 2>/dev/null & sleep 0.05";
  const script = `mkfifo /fifo; exec 3<>/fifo; until [ -e /ctl/${name} ]; do sleep 0.01; done; while true; do ${eat}; done`;
  const { uid, pid } = await start(parts, name, script, {});
  const file = join(await podsCgroup(parts.node), "memory.usage_in_bytes");
  const used = async (): Promise<number> => Number(await readFile(file, "utf8").catch(() => "0"));
  const [begun, before] = [performance.now(), await used()];
  await writeFile(join(ctlOf(parts.node), name), "");
  let crossedAt = 0;
  let taken = 0;
  for (const deadline = begun + PATIENCE_MS; crossedAt === 0;) {
    await pause();
    const now = await used();
    if (MEMORY_LIMIT - now < MEMORY_THRESHOLD) [crossedAt, taken] = [Date.now(), now - before];
    if (performance.now() > deadline) throw new Error(`pod ${name} took ${now} bytes in ${PATIENCE_MS} ms`);
  }
  const mibPerSecond = taken / MIB / ((performance.now() - begun) / 1000);
  return await follow(parts, { name, uid, pid, crossedAt, mibPerSecond });
}

async function fillDisk(parts: Parts, name: string): Promise<Round> {
  const volumes = [{ name: "data", emptyDir: {} }];
  const { uid, pid } = await start(parts, name, "while true; do sleep 3600; done", { volumes });
  const { rootDir } = parts.node.kubelet;
  const directory = join(rootDir, "pods", uid, "volumes", "kubernetes.io~empty-dir", "data");
  const file = await open(join(directory, "filler"), "w");
  const block = Buffer.alloc(4 * MIB, 1);
  const begun = performance.now();
  let crossedAt = 0;
  let written = 0;
  try {
    while (crossedAt === 0) {
      await file.write(block);
      written += block.length;
      const { bavail, bsize } = await statfs(rootDir);
      if (bavail * bsize < DISK_THRESHOLD) crossedAt = Date.now();
    }
  } finally {
    await file.close();
  }
  const mibPerSecond = written / MIB / ((performance.now() - begun) / 1000);
  return await follow(parts, { name, uid, pid, crossedAt, mibPerSecond });
}

/** The pod runs; its first process. */
async function start(
  { node, cluster }: Parts,
  name: string,
  script: string,
  { volumes = [] }: { volumes?: Fields[] },
): Promise<{ uid: string; pid: number }> {
  const data = volumes.map(({ name: volume }) => ({ name: volume, mountPath: `/${String(volume)}` }));
  const made = await cluster.api.create("pods", {
    metadata: { name, namespace: NAMESPACE },
    spec: {
      nodeName: NODE_NAME,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 30,
      volumes: [...volumes, { name: "ctl", hostPath: { path: ctlOf(node), type: "Directory" } }],
      containers: [
        {
          ...{ name: "app", image: BUSYBOX_IMAGE, imagePullPolicy: "Never", command: ["sh", "-c", script] },
          volumeMounts: [{ name: "ctl", mountPath: "/ctl" }, ...data],
          resources: { requests: { memory: "1Mi" } },
        },
      ],
    },
  });
  await cluster.api.waitFor("pods", NAMESPACE, name, (pod) => phaseOf(pod) === "Running", {
    what: `${name} to run`,
    timeoutMs: PATIENCE_MS,
  });
  const uid = made.metadata.uid ?? "";
  return { uid, pid: await firstProcess(node, uid) };
}

interface Crossed {
  name: string;
  uid: string;
  pid: number;
  /** Milliseconds since the epoch. */
  crossedAt: number;
  mibPerSecond: number;
}

async function follow(parts: Parts, { name, uid, pid, crossedAt, mibPerSecond }: Crossed): Promise<Round> {
  const { cluster, node } = parts;
  for (const deadline = performance.now() + PATIENCE_MS; await lives(pid);) {
    await pause();
    if (performance.now() > deadline) throw new Error(`process ${pid} of pod ${name} lives on`);
  }
  const dead = Date.now() - crossedAt;
  const end = await cluster.api.waitFor("pods", NAMESPACE, name, (pod) => phaseOf(pod) === "Failed", {
    what: `${name} to be evicted`,
    timeoutMs: PATIENCE_MS,
  });
  if (end?.status?.["reason"] !== "Evicted")
    throw new Error(`pod ${name} ended without: ${JSON.stringify(end?.status)}`);
  const order = (await orderedAt(node, uid)) - crossedAt;
  await cluster.api.delete("pods", NAMESPACE, name);
  await cluster.api.waitFor("nodes", "", NODE_NAME, (one) => !isUnderPressure(one), {
    what: "the pressure to end",
    timeoutMs: PATIENCE_MS,
  });
  return { order, dead, mibPerSecond };
}

/** Milliseconds since the epoch, as the kubelet's log has it. */
async function orderedAt({ kubelet }: NodeUnderTest, uid: string): Promise<number> {
  for (const line of (await readFile(kubelet.log, "utf8")).split("\n")) {
    if (!line.includes("evicting pod ") || !line.includes(`(${uid}): `)) continue;
    return (JSON.parse(line) as { ts: number }).ts;
  }
  throw new Error(`the agent's log has no order to evict pod ${uid}`);
}

async function repeat(rounds: number, one: (turn: number) => Promise<Round>): Promise<Round[]> {
  const done: Round[] = [];
  for (let turn = 0; turn < rounds; turn++) done.push(await one(turn));
  return done;
}

function rowOf(what: EvictionRow["what"], rounds: readonly Round[]): EvictionRow {
  return {
    what,
    rounds: rounds.length,
    mibPerSecond: round(summarize(rounds.map((one) => one.mibPerSecond)).p50),
    order: summarize(rounds.map((one) => one.order)),
    processDead: summarize(rounds.map((one) => one.dead)),
  };
}

async function podsCgroup({ containerd }: NodeUnderTest): Promise<string> {
  const trees = await cgroupTrees();
  const tree = trees.find((one) => one.endsWith("/memory"));
  if (tree === undefined) throw new Error("this bench reads cgroup v1: there is no memory hierarchy");
  return join(tree, containerd.cgroup, "k", "kubepods");
}

/** The kubelet enforces the same, where it does. */
async function limitPods(node: NodeUnderTest): Promise<void> {
  const folder = await podsCgroup(node);
  for (const deadline = performance.now() + PATIENCE_MS; !(await there(folder));) {
    await pause();
    if (performance.now() > deadline) throw new Error(`${folder} is not there`);
  }
  await writeFile(join(folder, "memory.limit_in_bytes"), String(MEMORY_LIMIT));
}

/** Returns the pid of the pod's container; the pause process stands in a cgroup with another name. */
async function firstProcess({ containerd }: NodeUnderTest, uid: string): Promise<number> {
  const folders = await cgroupFolders(`${containerd.cgroup}/k`);
  for (const folder of folders.filter((one) => one.includes(`/memory/`) && one.includes(`/pod${uid}/`))) {
    const pids = (await readFile(join(folder, "cgroup.procs"), "utf8")).split("\n").filter((line) => line !== "");
    for (const pid of pids) {
      if ((await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).startsWith("sh\0")) return Number(pid);
    }
  }
  throw new Error(`no process of pod ${uid}: ${(await readdir("/proc")).length} processes in all`);
}

const ctlOf = ({ kubelet }: NodeUnderTest): string => join(kubelet.dir, "ctl");

const phaseOf = (pod: ApiObject | undefined): unknown => pod?.status?.["phase"];

function isUnderPressure(node: ApiObject | undefined): boolean {
  const conditions = (node?.status?.["conditions"] ?? []) as { type: string; status: string }[];
  return conditions.some(({ type, status }) => type.endsWith("Pressure") && status === "True");
}

/** A process that is dead and not yet waited for is dead. */
async function lives(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text !== "" && !/\) [ZX] /.test(text);
}

function there(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
