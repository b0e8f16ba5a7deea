// A running pod changes: its container's process ends and is restarted; its manifest is edited.
// @headline Speed | An exit is detected without CRI events. | ≤ 1.1 s
// @headline Speed | A killed process is restarted. | 200 ms

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Section } from "../lib/section.js";
import { summarize, type Summary } from "../lib/stats.js";

/** Milliseconds. */
interface PodChangeResult {
  exitSeen: Summary;
  exitToRestarted: Summary;
  editToNewProcess: Summary;
}

export const changeSection: Section<PodChangeResult> = {
  name: "change",
  sharesNode: true,
  run: async (nodes) => await benchPodChange(await nodes.shared(), 10),
  report: ({ exitSeen, exitToRestarted, editToNewProcess }) => {
    const rows = {
      "process killed → exit shown in /pods": exitSeen,
      "process killed → restarted process": exitToRestarted,
      "manifest edited → new process": editToNewProcess,
    };
    return [
      {
        title: "A running pod changes (ms, containerd without CRI events)",
        head: ["what", "p50", "p90", "max"],
        rows: Object.entries(rows).map(([name, { p50, p90, max }]) => [name, p50, p90, max]),
      },
    ];
  },
};

async function benchPodChange(node: NodeUnderTest, rounds: number): Promise<PodChangeResult> {
  const seen: number[] = [];
  const restarted: number[] = [];
  const edits: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const name = `c-${round}`;
    await node.manifests.put(name, markingPod(name, node.marks.directory));
    await node.marks.at(`${name}.start.0`);
    await node.until(1, (pod) => pod.status?.phase === "Running");
    const [uid = ""] = (await node.kubelet.pods()).map((pod) => pod.metadata.uid);
    const pid = await mainProcessOf(node.containerd.cgroup, uid);
    const killedAt = performance.now();
    process.kill(pid, "SIGKILL");
    const newProcess = node.marks.at(`${name}.start.1`);
    seen.push((await exitSeenAt(node, uid)) - killedAt);
    restarted.push((await newProcess) - killedAt);
    await node.until(1, (pod) => pod.status?.phase === "Running");
    const editedAt = await node.manifests.put(name, markingPod(name, node.marks.directory, "2"));
    edits.push((await node.marks.at(`${name}.start.2`)) - editedAt);
    await node.manifests.remove(name);
    await node.until(0);
  }
  return { exitSeen: summarize(seen), exitToRestarted: summarize(restarted), editToNewProcess: summarize(edits) };
}

/** Time at which /pods first shows the exit: a terminated last state, a restart, or a container that does not run. */
async function exitSeenAt(node: NodeUnderTest, uid: string): Promise<number> {
  for (;;) {
    const pod = (await node.kubelet.pods()).find((one) => one.metadata.uid === uid);
    const status = pod?.status?.containerStatuses?.[0];
    if (status !== undefined && (status.state.running === undefined || status.restartCount > 0)) {
      return performance.now();
    }
    // A closed loop of requests would take the processors that the runtime needs to clean up.
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

/** The first process of the pod's container that is not the pause process. */
async function mainProcessOf(cgroupRoot: string, uid: string): Promise<number> {
  const base = (await readFile("/proc/self/mountinfo", "utf8")).includes(" /sys/fs/cgroup/pids ")
    ? "/sys/fs/cgroup/pids"
    : "/sys/fs/cgroup";
  const pod = await findDirectory(join(base, cgroupRoot), `pod${uid}`);
  for (const name of await readdir(pod)) {
    const procs = await readFile(join(pod, name, "cgroup.procs"), "utf8").catch(() => "");
    for (const pid of procs.split("\n").filter((line) => line !== "")) {
      if ((await readFile(`/proc/${pid}/cmdline`, "utf8")).startsWith("sh\0")) return Number(pid);
    }
  }
  throw new Error(`no process of pod ${uid} below ${pod}`);
}

async function findDirectory(base: string, name: string): Promise<string> {
  for (const entry of await readdir(base, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(base, entry.name);
    if (entry.name === name) return path;
    const found = await findDirectory(path, name).catch(() => undefined);
    if (found !== undefined) return found;
  }
  throw new Error(`no cgroup ${name} below ${base}`);
}
