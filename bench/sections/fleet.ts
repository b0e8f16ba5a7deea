// Many kubelets at one API server: their requests at rest, and the requests of all at once after an outage. Every
// kubelet is a process of its own with a runtime in memory and without pods. The API server is the one of test/.

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiCall } from "../../test/fake-api/call-log.js";
import { FakeApi } from "../../test/fake-api/fake-api.js";
import { startFakeCri, type FakeCri } from "../../test/fake-cri/fake-cri.js";
import { ApiKit } from "../../test/support/api-kit.js";
import { removeCgroups } from "../../tools/standalone/cgroups.js";
import { prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import { sleep } from "../../tools/standalone/wait.js";
import { nodeReady } from "../lib/cluster-under-test.js";
import { benchFolder, newCgroup } from "../lib/places.js";
import { usageOf } from "../lib/process-usage.js";
import { removeTree } from "../lib/remove-tree.js";
import type { Section } from "../lib/section.js";
import { round } from "../lib/stats.js";

interface FleetRow {
  nodes: number;
  /** Requests per minute of all nodes together, at rest. */
  requests: number;
  kib: number;
  /** Most requests in one second: at rest, and after the server's return. */
  peakAtRest: number;
  peakAfterOutage: number;
  /** From the server's return until each node has renewed its lease. */
  leasesSeconds: number;
  requestsAfterOutage: number;
  rssMiB: number;
  cpuPercent: number;
}

const folder = (): string => benchFolder("fleet");
const SIZES = (process.env["NODELET_BENCH_FLEET"] ?? "50,100,200").split(",").map(Number);
/** A kubelet must fit into memory together with the others. */
const MIB_PER_NODE = 110;
/** Between two starts: the processors are the limit. */
const START_PAUSE_MS = 400;
const SETTLE_MS = 30_000;
const REST_MS = 60_000;
const OUTAGE_MS = 60_000;
const RETURN_MS = 120_000;
const FIRST_PORT = 23_000;
/** Kubelets that stop at the same time. */
const STOPS = 20;
/** The sizes of clusters whose load is computed from the largest measured one. */
const CLUSTERS = [5000, 15_000];

export const fleetSection: Section<FleetRow[]> = {
  name: "fleet",
  run: async (nodes) => await benchFleet(nodes.subject.entry),
  report: (rows) => [
    {
      title: "Many kubelets at one API server, without pods: requests of all nodes",
      head: [
        ...["nodes", "per minute at rest", "KiB per minute", "peak per s", "peak per s after an outage of 60 s"],
        ...["requests in the 2 min after it", "all leases renewed after s", "RSS MiB per node", "% of a core per node"],
      ],
      rows: [
        ...rows.map((row) => [
          ...[row.nodes, row.requests, row.kib, row.peakAtRest, row.peakAfterOutage],
          ...[row.requestsAfterOutage, row.leasesSeconds, row.rssMiB, row.cpuPercent],
        ]),
        ...extrapolated(rows.at(-1)),
      ],
    },
  ],
};

/** The figures that grow with the number of nodes, for larger clusters. */
function extrapolated(row: FleetRow | undefined): (string | number | undefined)[][] {
  if (row === undefined) return [];
  return CLUSTERS.map((nodes) => {
    const times = nodes / row.nodes;
    const grown = [row.requests, row.kib, row.peakAtRest, row.peakAfterOutage, row.requestsAfterOutage];
    return [`${nodes} (computed)`, ...grown.map((figure) => Math.round(figure * times))];
  });
}

async function benchFleet(entry: string | undefined): Promise<FleetRow[]> {
  await removeTree(folder());
  await mkdir(folder(), { recursive: true });
  const rows: FleetRow[] = [];
  const fleet = await Fleet.open(entry);
  try {
    for (const size of SIZES) {
      const missing = (size - fleet.size) * MIB_PER_NODE - (await availableMiB());
      if (missing > 0) {
        console.log(`fleet of ${size}: left out, ${Math.round(missing)} MiB of memory are missing`);
        continue;
      }
      await fleet.grow(size);
      rows.push(await fleet.measure());
      console.log(`fleet of ${size}: done`);
    }
  } finally {
    await fleet.close();
    await removeTree(folder());
  }
  return rows;
}

interface FleetNode {
  name: string;
  cgroupRoot: string;
  kubelet: KubeletProcess;
  cri: FakeCri;
}

class Fleet {
  private readonly nodes: FleetNode[] = [];

  private constructor(
    private readonly api: FakeApi,
    private readonly client: ApiKit,
    private readonly entry: string | undefined,
  ) {}

  static async open(entry: string | undefined): Promise<Fleet> {
    const api = await FakeApi.start({ controllers: true, nodeRestriction: true });
    const kubeconfig = await api.kubeconfig({ name: "admin", groups: ["system:masters"] });
    return new Fleet(api, await ApiKit.fromKubeconfig(kubeconfig), entry);
  }

  get size(): number {
    return this.nodes.length;
  }

  async grow(size: number): Promise<void> {
    while (this.nodes.length < size) {
      await this.add(this.nodes.length);
      await sleep(START_PAUSE_MS);
    }
    for (const { name } of this.nodes) {
      await nodeReady(this.client, name, 300_000);
    }
  }

  private async add(index: number): Promise<void> {
    const name = `fleet-${index}`;
    const dir = join(folder(), name);
    await mkdir(dir, { recursive: true });
    const cri = await startFakeCri({ socketPath: join(dir, "cri.sock"), recordCalls: false });
    const kubeconfig = await this.api.kubeconfig({ name: `system:node:${name}`, groups: ["system:nodes"] });
    const cgroupRoot = await newCgroup();
    const kubelet = await prepareKubelet({
      ...{ dir, endpoint: cri.endpoint, cgroupRoot, nodeName: name },
      ...{ readOnlyPort: FIRST_PORT + 2 * index, healthzPort: FIRST_PORT + 2 * index + 1 },
      ...{ flags: ["--kubeconfig", kubeconfig], config: { contentType: "application/json" } },
      ...(this.entry !== undefined && { entry: this.entry }),
    });
    this.nodes.push({ name, cgroupRoot, kubelet, cri });
    await kubelet.start();
  }

  async measure(): Promise<FleetRow> {
    await sleep(SETTLE_MS);
    const cpuBefore = await this.cpuSeconds();
    const restAt = Date.now();
    await sleep(REST_MS);
    const atRest = this.callsSince(restAt);
    const cpuPercent = round(((await this.cpuSeconds()) - cpuBefore) / (REST_MS / 100_000) / this.size);
    await this.api.stop();
    await sleep(OUTAGE_MS);
    const returnedAt = Date.now();
    await this.api.restart();
    const leasesSeconds = await this.allLeasesRenewed(returnedAt);
    await sleep(Math.max(0, returnedAt + RETURN_MS - Date.now()));
    const returned = this.callsSince(returnedAt);
    const rss = await Promise.all(this.nodes.map(async ({ kubelet }) => (await usageOf(kubelet.pid ?? 0)).rssMiB));
    return {
      ...{ nodes: this.size, requests: atRest.length, kib: Math.round(kibOf(atRest)), peakAtRest: peakOf(atRest) },
      ...{ peakAfterOutage: peakOf(returned), requestsAfterOutage: returned.length, leasesSeconds },
      ...{ rssMiB: round(rss.reduce((sum, one) => sum + one, 0) / this.size), cpuPercent },
    };
  }

  private callsSince(at: number): ApiCall[] {
    return this.api.calls.matching({}, at).filter(({ user }) => user.startsWith("system:node:"));
  }

  private async cpuSeconds(): Promise<number> {
    const usages = await Promise.all(this.nodes.map(({ kubelet }) => usageOf(kubelet.pid ?? 0)));
    return usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  }

  /** Seconds; throws when a lease is not renewed within the time that is measured. */
  private async allLeasesRenewed(since: number): Promise<number> {
    for (;;) {
      const renewed = new Set(
        this.callsSince(since)
          .filter(({ resource, code }) => resource === "leases" && code === 200)
          .map(({ user }) => user),
      );
      if (renewed.size === this.size) return round((Date.now() - since) / 1000);
      if (Date.now() > since + RETURN_MS) {
        throw new Error(`${renewed.size} of ${this.size} nodes renewed their lease within ${RETURN_MS / 1000} s`);
      }
      await sleep(100);
    }
  }

  async close(): Promise<void> {
    for (let first = 0; first < this.nodes.length; first += STOPS) {
      await Promise.all(
        this.nodes.slice(first, first + STOPS).map(async ({ cgroupRoot, kubelet, cri }) => {
          await kubelet.end("SIGTERM", 30_000);
          await cri.stop();
          await removeCgroups(cgroupRoot);
        }),
      );
    }
    this.client.close();
    await this.api[Symbol.asyncDispose]();
  }
}

async function availableMiB(): Promise<number> {
  const text = await readFile("/proc/meminfo", "utf8");
  return Number(/^MemAvailable:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
}

function kibOf(calls: readonly ApiCall[]): number {
  return calls.reduce((sum, { requestBytes, answerBytes }) => sum + requestBytes + answerBytes, 0) / 1024;
}

/** The most requests that came within one second. */
function peakOf(calls: readonly ApiCall[]): number {
  const perSecond = new Map<number, number>();
  for (const { at } of calls) {
    const second = Math.floor(at / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...perSecond.values());
}
