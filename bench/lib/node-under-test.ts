// The kubelet as a process on a private containerd, with marks, manifests and figures about it.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { cgroupTrees } from "../../tools/standalone/cgroups.js";
import { startContainerd, type PrivateContainerd } from "../../tools/standalone/containerd.js";
import { buildImages, importImages } from "../../tools/standalone/images.js";
import { prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import type { PodView } from "../../tools/standalone/pods.js";
import { CriFloor } from "./cri-floor.js";
import { Manifests } from "./manifests.js";
import { Marks } from "./marks.js";
import { usageOf, type Usage } from "./process-usage.js";
import { removeTree } from "./remove-tree.js";

const READ_ONLY_PORT = 21_255;
const HEALTHZ_PORT = 21_248;

export interface NodeUnderTest {
  containerd: PrivateContainerd;
  kubelet: KubeletProcess;
  manifests: Manifests;
  marks: Marks;
  floor: CriFloor;
  usage(): Promise<Usage>;
  /** Cost of each thread, by its name. */
  threadUsage(): Promise<Map<string, ThreadUsage>>;
  /** Event-loop delay of the kubelet's main thread since the last call, milliseconds by quantile. */
  loopDelay(): Promise<Record<string, number>>;
  /** Records pushed to each queue between threads so far; none for another kubelet. */
  queued(): Promise<Map<string, number>>;
  /**
   * Waits until /pods holds exactly `count` pods that fulfil `condition`; throws after `patienceMs`, 180 s by default.
   */
  until(count: number, condition?: (pod: PodView) => boolean, patienceMs?: number): Promise<void>;
  /** `patienceMs`: how long the kubelet may take to end; 15 s unless something watches it. */
  stop(patienceMs?: number): Promise<void>;
}

export interface NodeOptions {
  /** More arguments of the command line. */
  flags?: readonly string[];
  /** TCP port of the authenticated server; without it there is none. */
  port?: number;
  /** The kubelet's executable; default ours. */
  entry?: string;
  /** Stands between the kubelet and the runtime: receives the runtime's endpoint, returns the kubelet's. */
  through?: (endpoint: string) => Promise<string>;
}

/** `config`: more fields of KubeletConfiguration. */
export async function startNodeUnderTest(
  base: string,
  config: Readonly<Record<string, unknown>> = {},
  { flags = [], port, entry = process.env["NODELET_BENCH_ENTRY"], through }: NodeOptions = {},
): Promise<NodeUnderTest> {
  await removeTree(base);
  await mkdir(join(base, "staging"), { recursive: true });
  const containerd = await startContainerd({
    dir: join(base, "c"),
    // Another containerd than the installed one, e.g. 2.x, whose event stream the kubelet then uses.
    ...(process.env["NODELET_BENCH_CONTAINERD"] === undefined
      ? {}
      : { binary: process.env["NODELET_BENCH_CONTAINERD"] }),
  });
  await importImages(containerd.socket, await buildImages(join(base, "images")));
  const cgroupRoot = `${containerd.cgroup}/k`;
  // Upstream's kubelet starts only below a cgroup that exists.
  for (const tree of await cgroupTrees()) await mkdir(join(tree, cgroupRoot), { recursive: true });
  const kubelet = await prepareKubelet({
    dir: join(base, "k"),
    endpoint: (await through?.(containerd.endpoint)) ?? containerd.endpoint,
    cgroupRoot,
    readOnlyPort: READ_ONLY_PORT,
    healthzPort: HEALTHZ_PORT,
    nodeName: "bench",
    config,
    flags,
    ...(port === undefined ? {} : { port }),
    ...(entry === undefined ? {} : { entry }),
  });
  await kubelet.start();
  await kubelet.waitHealthy();
  const marks = new Marks(join(base, "marks"));
  await marks.open();
  const floorFiles = join(base, "floor");
  const floor = new CriFloor(containerd.endpoint, `${containerd.cgroup}/floor`, floorFiles, marks, () => kubelet.pid);
  return {
    containerd,
    kubelet,
    manifests: new Manifests(kubelet.manifests, join(base, "staging")),
    marks,
    floor,
    usage: () => usageOf(kubelet.pid ?? 0),
    threadUsage: () => threadUsageOf(kubelet.url),
    loopDelay: () => loopDelayOf(kubelet.url),
    queued: () => queuedOf(kubelet.url),
    async until(count, condition = () => true, patienceMs = 180_000) {
      for (const deadline = performance.now() + patienceMs; ;) {
        const pods = await kubelet.pods();
        if (pods.length === count && pods.every(condition)) return;
        if (performance.now() > deadline) {
          const found = `${pods.length} of ${count} pods, ${pods.filter(condition).length} as expected`;
          throw new Error(`${found}, after ${patienceMs / 1000} s`);
        }
        // A long list costs the kubelet time: /pods of hundreds of pods is asked for less often.
        await new Promise((resolve) => setTimeout(resolve, Math.max(50, count, pods.length)));
      }
    },
    async stop(patienceMs = 15_000) {
      floor.close();
      marks.close();
      await kubelet.end("SIGTERM", patienceMs);
      await containerd.stop();
      // Pods of others, of a daemon set say, still have their volumes.
      await removeTree(base);
    },
  };
}

interface ThreadUsage {
  cpuSeconds: number;
  heapMiB: number;
}

/** The figures that each thread reports. */
async function threadUsageOf(url: string): Promise<Map<string, ThreadUsage>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const figures = (name: string): [string, number][] =>
    [...text.matchAll(new RegExp(`^${name}\\{thread="([^"]+)"\\} (\\S+)$`, "gm"))].map(([, thread = "", value]) => [
      thread,
      Number(value),
    ]);
  const heap = new Map(figures("nodelet_thread_heap_bytes"));
  return new Map(
    figures("nodelet_thread_cpu_seconds_total").map(([thread, cpuSeconds]) => [
      thread,
      { cpuSeconds, heapMiB: Math.round((heap.get(thread) ?? 0) / 1024 ** 2) },
    ]),
  );
}

export async function loopDelayOf(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found: Record<string, number> = {};
  for (const [, quantile = "", value] of text.matchAll(
    /^nodelet_loop_delay_seconds\{quantile="([^"]+)",thread="main"\} (\S+)$/gm,
  )) {
    found[quantile] = Math.round(Number(value) * 100_000) / 100;
  }
  return found;
}

async function queuedOf(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = text.matchAll(/^nodelet_queue_pushed_total\{queue="([^"]+)"\} (\S+)$/gm);
  return new Map([...found].map(([, queue = "", pushed]) => [queue, Number(pushed)]));
}
