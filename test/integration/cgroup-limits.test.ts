// Limits as pods meet them, proved from inside real containers by the kernel's own counters; node allocatable; a pod
// whose cgroup is taken from under it; and a thousand orphans at the start. All on one node, whose tree has one CPU.
// @promise Resources of the node: A CPU quota holds, shares divide 3 to 1, memory limits kill (OOMKilled, 137),
//   podPidsLimit stops forks: within 10 %, by the kernel's own counters.
// @promise Resources of the node: Node allocatable is enforced and reported; a missing reserved cgroup prevents the
//   start; a pod moved out of its cgroup restarts.
// @with test/main/resources/node-allocatable
// @promise Resources of the node: OOM kills are reported with process, pod and container, for the messages of kernels
//   3.10 to 6.18; without the kernel log, by counters.
// @with test/workers/eviction/oom, test/vm

import assert from "node:assert/strict";
import { mkdir, readFile, readdir, rmdir, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { after, before, describe, test } from "node:test";
import { cgroupFolders, cgroupTrees, removeCgroups } from "../../tools/standalone/cgroups.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { IDLE, idOf, manifest, PATIENCE_MS, RuntimeView, shell, statusOf, waitForPod } from "../support/static-pods.js";

const MIB = 1024 * 1024;
const ROOT = `${process.env["NODELET_CGROUP_ROOT"] ?? ""}/limits`;
const PIDS = 24;
const ORPHANS = 1000;
const BUSY = "trap 'exit 0' TERM; while true; do :; done";
let node: TestNode;
let runtime: RuntimeView;
let trees: string[];

/** The file of the cgroup below the test's root, from whichever tree has it; undefined when none does. */
async function value(path: string, file: string): Promise<string | undefined> {
  for (const tree of trees) {
    const text = await readFile(`${tree}${ROOT}/${path}/${file}`, "utf8").catch(() => undefined);
    if (text !== undefined) return text.trim();
  }
  return undefined;
}

/** A number of a file of v1, else of v2; the latter may be a row of several. */
async function figure(path: string, v1: string, v2: string, row?: string): Promise<number> {
  const text = (await value(path, v1)) ?? (await value(path, v2)) ?? "";
  const found = row === undefined ? text : (new RegExp(`^${row} (\\d+)$`, "m").exec(text)?.[1] ?? "");
  assert.match(found, /^\d+$/, `${path}: ${v1} or ${v2}: ${text}`);
  return Number(found);
}

/** CPU time the cgroup has had, ns. */
async function cpuTime(path: string): Promise<number> {
  const v1 = await value(path, "cpuacct.usage");
  return v1 === undefined ? 1000 * (await figure(path, "-", "cpu.stat", "usage_usec")) : Number(v1);
}

async function running(name: string): Promise<PodView> {
  return await waitForPod(node, name, (pod) => statusOf(pod, "app")?.state.running !== undefined, "running");
}

async function log(): Promise<string> {
  return await readFile(node.kubelet.log, "utf8");
}

before(async () => {
  trees = await cgroupTrees();
  // The set-up of the tree keeps existing values: everything below runs on one CPU.
  for (const tree of trees) await mkdir(`${tree}${ROOT}`, { recursive: true });
  // Before there is a child: one that has been given all CPUs already keeps its parent from giving one back.
  for (const tree of trees.filter((each) => each.endsWith("/cpuset"))) {
    const home = `${tree}${ROOT.slice(0, ROOT.lastIndexOf("/"))}`;
    const mems = (await readFile(`${tree}/cpuset.mems`, "utf8")).trim();
    const cpus = (await readFile(`${tree}/cpuset.cpus`, "utf8")).trim();
    await writeFile(`${home}/cpuset.mems`, mems);
    await writeFile(`${home}/cpuset.cpus`, cpus);
    await writeFile(`${tree}${ROOT}/cpuset.mems`, mems);
    await writeFile(`${tree}${ROOT}/cgroup.clone_children`, "1");
    await writeFile(`${tree}${ROOT}/cpuset.cpus`, /^\d+/.exec(cpus)?.[0] ?? "0");
  }
  for (const tree of trees) {
    await mkdir(`${tree}${ROOT}/system`);
    for (let n = 0; n < ORPHANS; n++)
      await mkdir(`${tree}${ROOT}/kubepods/besteffort/podorphan-${n}`, { recursive: true });
  }
  node = await startNode({
    start: false,
    config: {
      cgroupRoot: ROOT,
      podPidsLimit: PIDS,
      enforceNodeAllocatable: ["pods", "system-reserved"],
      systemReservedCgroup: `${ROOT}/system`,
      systemReserved: { cpu: "500m", memory: "200Mi", pid: "300" },
      kubeReserved: { memory: "100Mi" },
    },
  });
  runtime = new RuntimeView(node.endpoint);
});
after(async () => {
  runtime.close();
  await node.stop();
  // The node's last pods among them: it may have ended before it could remove them.
  await removeCgroups(ROOT);
});

describe("limits of real containers", () => {
  test("a thousand orphaned cgroups at the start: the pod runs, and they go", async () => {
    await node.writeManifest(
      "busy",
      manifest("busy", [shell("app", BUSY, { resources: { limits: { cpu: "200m" } } })]),
    );
    await node.restart();
    await running("busy");
    const orphans = async (): Promise<number> => {
      const names = await Promise.all(
        trees.map((tree) => readdir(`${tree}${ROOT}/kubepods/besteffort`).catch(() => [] as string[])),
      );
      return names.flat().filter((entry) => entry.startsWith("podorphan-")).length;
    };
    await waitFor(async () => (await orphans()) === 0, { what: "the orphans to go", timeoutMs: 3 * PATIENCE_MS });
  });

  test("node allocatable is enforced and reported, on v1 with a warning about cgroup v1", async () => {
    const text = await log();
    assert.equal(await figure("kubepods", "memory.limit_in_bytes", "memory.max"), alignedTotal() - 300 * MIB);
    assert.equal(await figure("system", "memory.limit_in_bytes", "memory.max"), 200 * MIB);
    assert.equal(await figure("system", "pids.max", "pids.max"), 300);
    if ((await value("system", "cpu.shares")) !== undefined) assert.equal(await value("system", "cpu.shares"), "512");
    assert.match(text, /NodeAllocatableEnforced.*Updated Node Allocatable limit across pods/);
    assert.ok(text.includes(`Updated limits on system reserved cgroup ${ROOT}/system`));
    const v1 = (await value("kubepods", "cgroup.controllers")) === undefined || trees.length > 1;
    assert.equal(/CgroupV1.*cgroup v1 detected/.test(text), v1);
  });

  test("a CPU quota holds: no more than it over all periods, all of it in each that was throttled", async () => {
    const pod = await running("busy");
    const path = `kubepods/burstable/pod${pod.metadata.uid}/${idOf(statusOf(pod, "app"))}`;
    const counts = async () => ({
      periods: await figure(path, "cpu.stat", "cpu.stat", "nr_periods"),
      throttled: await figure(path, "cpu.stat", "cpu.stat", "nr_throttled"),
    });
    // Time passes between two reads: the counts before and after that of the CPU time bound those of its moment.
    const look = async () => {
      const before = await counts();
      const time = await cpuTime(path);
      return { before, time, after: await counts() };
    };
    const first = await look();
    const last = await waitFor(
      async () => {
        const seen = await look();
        return seen.before.throttled - first.after.throttled >= 20 ? seen : undefined;
      },
      { what: "20 throttled periods", timeoutMs: 2 * PATIENCE_MS, intervalMs: 100 },
    );
    const quota = 20_000_000;
    const used = last.time - first.time;
    const periods = last.after.periods - first.before.periods;
    const throttled = last.before.throttled - first.after.throttled;
    assert.ok(used <= 1.1 * quota * (periods + 1), `${used} ns in ${periods} periods`);
    assert.ok(used >= 0.9 * quota * (throttled - 1), `${used} ns in ${throttled} throttled periods`);
  });

  test("shares hold under contention, 3 to 1", async () => {
    await node.removeManifest("busy");
    const pods = await Promise.all(
      (
        [
          ["three", "600m"],
          ["one", "200m"],
        ] as const
      ).map(async ([name, cpu]) => {
        await node.writeManifest(name, manifest(name, [shell("app", BUSY, { resources: { requests: { cpu } } })]));
        return `kubepods/burstable/pod${(await running(name)).metadata.uid}`;
      }),
    );
    const [three = "", one = ""] = pods;
    await waitForTier(Math.floor(0.8 * 1024));
    // Both of one moment: neither has had much of the CPU while they were read.
    const times = (): Promise<[number, number]> =>
      waitFor(
        async () => {
          const before = await cpuTime(one);
          const seen: [number, number] = [await cpuTime(three), await cpuTime(one)];
          const after = await cpuTime(three);
          return seen[1] - before < 4e6 && after - seen[0] < 12e6 ? seen : undefined;
        },
        { what: "two readings of one moment", timeoutMs: PATIENCE_MS },
      );
    const first = await times();
    const last = await waitFor(
      async () => {
        const seen = await times();
        return seen[1] - first[1] >= 1e9 ? seen : undefined;
      },
      { what: "the smaller one to get a second of the CPU", timeoutMs: 2 * PATIENCE_MS, intervalMs: 100 },
    );
    const ratio = (last[0] - first[0]) / (last[1] - first[1]);
    assert.ok(ratio > 2.7 && ratio < 3.3, `${ratio} to 1`);
    for (const name of ["three", "one"]) await node.removeManifest(name);
  });

  test("a process over the memory limit is killed, reported as OOMKilled with 137, and the container restarts", async () => {
    // Process 1 outlives its child. The runtime may see an end before it sees the lack of memory that caused it.
    const greed = "tail /dev/zero; code=$?; sleep 1; exit $code";
    const greedy = shell("app", `if [ -e /kept/ran ]; then ${IDLE}; fi; touch /kept/ran; ${greed}`, {
      resources: { limits: { memory: "48Mi" } },
      volumeMounts: [{ name: "kept", mountPath: "/kept" }],
    });
    const spec = { volumes: [{ name: "kept", emptyDir: {} }] };
    await node.writeManifest("greedy", manifest("greedy", [greedy], { spec }));
    const again = (pod: PodView): boolean => {
      const status = statusOf(pod, "app");
      return status?.restartCount === 1 && status.state.running !== undefined;
    };
    const pod = await waitForPod(node, "greedy", again, "running again");
    const { terminated } = statusOf(pod, "app")?.lastState ?? {};
    assert.deepEqual([terminated?.reason, terminated?.exitCode], ["OOMKilled", 137]);
    await node.removeManifest("greedy");
  });

  test("a child over the memory limit is named in the log, with pod and container, and counted; on v1 the container lives", async () => {
    const limits = { memory: "48Mi" };
    const parent = shell("app", `tail /dev/zero; ${IDLE}`, { resources: { limits } });
    await node.writeManifest("parent", manifest("parent", [parent, shell("beside", IDLE)]));
    const { metadata } = await running("parent");
    const { uid, name } = metadata;
    const who = `process tail \\(pid \\d+\\) of pod ${name}_default\\(${uid}\\), container app`;
    const line = new RegExp(`the kernel killed ${who}: cgroup ${ROOT}/kubepods/burstable/pod${uid}\\S* is at its`);
    await waitFor(async () => line.test(await log()), {
      what: "the kill in the log",
      timeoutMs: PATIENCE_MS,
      lastSeen: log,
    });
    if (trees.length === 1) return;
    const status = statusOf(await running("parent"), "app");
    assert.equal(status?.restartCount, 0);
    let rows: string[] = [];
    const counted = async (): Promise<string> => {
      const page = await (await fetch(`${node.kubelet.url}/metrics/cadvisor`)).text();
      rows = page.split("\n").filter((row) => row.startsWith("container_oom_events_total{") && row.includes(name));
      const countOf = (each: string) =>
        / (\d+) \d+$/.exec(rows.find((row) => row.includes(`container="${each}"`)) ?? "")?.[1];
      return ["app", "beside"].map(countOf).join();
    };
    await waitFor(async () => (await counted()) === "1,0", {
      what: "one event of app and none of beside to be counted",
      timeoutMs: PATIENCE_MS,
      lastSeen: () => rows.join("\n"),
    });
    await node.removeManifest("parent");
  });

  test("a process that forks without end stops at podPidsLimit", async () => {
    // The shell that meets the limit dies; the first one forks no more, so that the container lives.
    const forks = "for n in $(seq 100); do sleep 1000 & done";
    const script = `mkfifo /tmp/wait; exec 3<>/tmp/wait; sh -c '${forks}' & read -r never <&3`;
    await node.writeManifest("forks", manifest("forks", [shell("app", script)]));
    const pod = await running("forks");
    const path = `kubepods/besteffort/pod${pod.metadata.uid}`;
    // Refusals are counted where the fork was asked for, or where the limit is, by the kernel's version.
    const places = [path, `${path}/${idOf(statusOf(pod, "app"))}`];
    await waitFor(
      async () => {
        const refused = places.map((place) => figure(place, "pids.events", "pids.events", "max"));
        return (await Promise.all(refused)).some((count) => count > 0);
      },
      { what: "the kernel to refuse a fork", timeoutMs: PATIENCE_MS },
    );
    const current = await figure(path, "pids.current", "pids.current");
    assert.ok(current > PIDS / 2 && current <= PIDS, `${current} processes`);
    assert.equal(statusOf(await running("forks"), "app")?.restartCount, 0);
    await node.removeManifest("forks");
  });

  test("a pod that was moved out of its cgroup is killed and runs again under the tree", async () => {
    await node.writeManifest("moved", manifest("moved", [shell("app", IDLE)]));
    const pod = await running("moved");
    const { uid } = pod.metadata;
    await node.kubelet.end("SIGKILL");
    await moveAway(`kubepods/besteffort/pod${uid}`);
    await node.restart();
    const before = idOf(statusOf(pod, "app"));
    const again = await waitForPod(
      node,
      "moved",
      (seen) => {
        const status = statusOf(seen, "app");
        return status?.state.running !== undefined && idOf(status) !== before;
      },
      "running anew",
    );
    const container = idOf(statusOf(again, "app"));
    assert.match((await value(`kubepods/besteffort/pod${uid}/${container}`, "cgroup.procs")) ?? "", /^\d+/);
    assert.equal((await runtime.sandboxes(uid))[0]?.metadata?.attempt, 1);
  });

  test("a missing reserved cgroup fails the start, and the error names it", async () => {
    await node.kubelet.end("SIGTERM");
    const config = JSON.parse(await readFile(node.kubelet.configFile, "utf8")) as Record<string, unknown>;
    await writeFile(node.kubelet.configFile, JSON.stringify({ ...config, systemReservedCgroup: `${ROOT}/nowhere` }));
    await node.kubelet.start();
    await waitFor(() => node.kubelet.exitCode !== undefined, {
      what: "the kubelet to give up",
      timeoutMs: PATIENCE_MS,
      lastSeen: async () => `pid ${node.kubelet.pid ?? "none"}; ${(await log()).slice(-3000)}`,
    });
    assert.equal(node.kubelet.exitCode, 1);
    assert.match(await log(), /Failed to enforce System Reserved Cgroup Limits on .*limits\/nowhere.*missing paths/);
    await writeFile(node.kubelet.configFile, JSON.stringify(config));
  });
});

/** Limits are whole pages. */
function alignedTotal(): number {
  return Math.floor(totalmem() / 4096) * 4096;
}

/** The burstable tier weighs what its pods ask for, some moments after they came or went. */
async function waitForTier(shares: number): Promise<void> {
  await waitFor(
    async () => {
      const v1 = await value("kubepods/burstable", "cpu.shares");
      return v1 === undefined || Number(v1) === shares;
    },
    { what: `the burstable tier to have ${shares} shares`, timeoutMs: PATIENCE_MS },
  );
}

/** Another program moves the processes away and removes the cgroup. */
async function moveAway(path: string): Promise<void> {
  for (const tree of trees) {
    const elsewhere = `${tree}${ROOT}/elsewhere`;
    await mkdir(elsewhere, { recursive: true });
    for (const folder of (await cgroupFolders(`${ROOT}/${path}`)).filter((each) => each.startsWith(`${tree}/`))) {
      const pids = (await readFile(`${folder}/cgroup.procs`, "utf8")).split("\n").filter((pid) => pid !== "");
      for (const pid of pids) await writeFile(`${elsewhere}/cgroup.procs`, pid);
      await rmdir(folder);
    }
  }
}
