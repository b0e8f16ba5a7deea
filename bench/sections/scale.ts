// 1,000 pods: the kubelet as a process against an in-memory CRI server (test/fake-cri), to see what the kubelet alone
// costs.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startFakeCri } from "../../test/fake-cri/fake-cri.js";
import { removeCgroups } from "../../tools/standalone/cgroups.js";
import { prepareKubelet } from "../../tools/standalone/kubelet-process.js";
import { sleep } from "../../tools/standalone/wait.js";
import { markingPod, Manifests } from "../lib/manifests.js";
import { loopDelayOf } from "../lib/node-under-test.js";
import { usageOf } from "../lib/process-usage.js";
import { removeTree } from "../lib/remove-tree.js";
import type { Section } from "../lib/section.js";
import { round } from "../lib/stats.js";

interface ScaleResult {
  allRunningSeconds: number;
  allGoneSeconds: number;
  loopDelayMs: Record<string, number>;
  rssMiB: number;
  idleCpuPercent: number;
}

const PODS = 1000;
const BASE = "/run/nodelet-scale";
const CGROUP = "/nodelet-scale";

export const scaleSection: Section<ScaleResult> = {
  name: "scale",
  run: benchScale,
  report: (scale) => [
    {
      title: "1,000 pods against an in-memory CRI server",
      head: ["what", "value"],
      rows: [
        ["1,000 manifests → all Running, s", scale.allRunningSeconds],
        ["main-thread delay p99, ms", scale.loopDelayMs["0.99"]],
        ["main-thread delay max, ms", scale.loopDelayMs["1"]],
        ["RSS, MiB", scale.rssMiB],
        ["% of one core at rest", scale.idleCpuPercent],
        ["1,000 manifests removed → all pods removed, s", scale.allGoneSeconds],
      ],
    },
  ],
};

async function benchScale(): Promise<ScaleResult> {
  await removeTree(BASE);
  await mkdir(join(BASE, "staging"), { recursive: true });
  const socketPath = join(BASE, "cri.sock");
  const fake = await startFakeCri({ socketPath, images: ["nodelet.local/busybox:1"] });
  const kubelet = await prepareKubelet({
    dir: join(BASE, "k"),
    endpoint: `unix://${socketPath}`,
    cgroupRoot: CGROUP,
    readOnlyPort: 22_255,
    healthzPort: 22_248,
    nodeName: "scale",
    ...(process.env["NODELET_BENCH_ENTRY"] === undefined ? {} : { entry: process.env["NODELET_BENCH_ENTRY"] }),
  });
  try {
    await kubelet.start();
    await kubelet.waitHealthy();
    const manifests = new Manifests(kubelet.manifests, join(BASE, "staging"));
    const running = async (): Promise<number> =>
      (await kubelet.pods()).filter((pod) => pod.status?.phase === "Running").length;
    await loopDelayOf(kubelet.url);
    const startedAt = performance.now();
    for (let i = 0; i < PODS; i++) await manifests.put(`s-${i}`, markingPod(`s-${i}`, join(BASE, "marks")));
    while ((await running()) < PODS) await sleep(200);
    const allRunningSeconds = round((performance.now() - startedAt) / 1000);
    const loopDelayMs = await loopDelayOf(kubelet.url);
    await sleep(15_000);
    const pid = kubelet.pid ?? 0;
    const before = await usageOf(pid);
    await sleep(20_000);
    const after = await usageOf(pid);
    const removedAt = performance.now();
    for (let i = 0; i < PODS; i++) await manifests.remove(`s-${i}`);
    while ((await kubelet.pods()).length > 0) await sleep(200);
    return {
      allRunningSeconds,
      allGoneSeconds: round((performance.now() - removedAt) / 1000),
      loopDelayMs,
      rssMiB: after.rssMiB,
      idleCpuPercent: round(((after.cpuSeconds - before.cpuSeconds) / 20) * 100),
    };
  } finally {
    await kubelet.end("SIGTERM");
    await fake.stop();
    await removeCgroups(CGROUP);
    await removeTree(BASE);
  }
}
