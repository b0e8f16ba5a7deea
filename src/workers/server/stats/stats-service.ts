// The implementation of the stats routes, created with the first request that needs it. A page is built once for all
// requests within its validity, and kept as it is sent.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodDiskUsage } from "../../../shared/contracts/eviction.js";
import type { StatsInit } from "../../../shared/contracts/server.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { readCgroupMounts } from "../../../shared/node/cgroup/mounts.js";
import type { CgroupReader } from "../../../shared/node/stats/cgroup-figures.js";
import { CgroupReaderV1 } from "../../../shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../../shared/node/stats/cgroup/v2.js";
import { type FsFigures } from "../../../shared/node/stats/fs-figures.js";
import { listKernelDirectories, modifiedAt, readKernelText } from "../../../shared/node/stats/kernel-file.js";
import { meminfo, readMachineFacts, readProcessLimit, type MachineFacts } from "../../../shared/node/stats/machine.js";
import { PodCgroups } from "../../../shared/node/stats/pod-cgroups.js";
import { figuresOf } from "../../../shared/node/stats/read-fs-figures.js";
import { startHelperProcess } from "../../../shared/node/volume-calls/helper.js";
import { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../../shared/telemetry/metrics/snapshot.js";
import { addMachine, cadvisorPage } from "./cadvisor-look.js";
import { CpuRates } from "./cpu-rates.js";
import { criPodReadings } from "./cri/pod-readings.js";
import { CriPodStats } from "./cri/pod-stats.js";
import { PodDisks } from "./disk/pod-disks.js";
import { RuntimeDisks } from "./disk/runtime-disks.js";
import { CadvisorPage } from "./exposition/cadvisor.js";
import { criMetrics } from "./exposition/cri-metrics.js";
import { resourcePage } from "./exposition/resource.js";
import type { Page } from "./exposition/text.js";
import { KeptFiles } from "./kept-files.js";
import { Networks } from "./networks.js";
import type { NodeDisks } from "./node-disks.js";
import { readFileSystems } from "./node/file-systems.js";
import { RuntimeProcess } from "./node/runtime-process.js";
import { systemCgroups } from "./node/system-cgroups.js";
import { Places } from "./places.js";
import { LOOK_LIFE_MS, Readings, type NodeReadings } from "./readings.js";
import { SandboxImage } from "./sandbox-image.js";
import { SettledFiles } from "./settled-files.js";
import { Shared } from "./shared-answer.js";
import { buildSummary, type CoreInputs, type WholeInputs } from "./summary/build.js";

/** The cadvisor page costs the most: a recent one is sent again. Upstream's figures are up to 10 s old. */
const PAGE_LIFE_MS = 10_000;

type StatsRuntime = Pick<
  CriClient,
  | "listContainerStats"
  | "listPodSandboxStats"
  | "listMetricDescriptors"
  | "listPodSandboxMetrics"
  | "status"
  | "listPodSandbox"
  | "podSandboxStatus"
>;
type StatsImages = Pick<CriClient, "imageFsInfo">;

export interface StatsServiceDeps {
  init: StatsInit;
  nodeName: string;
  pods: () => Iterable<Pod>;
  runtime: () => Promise<StatsRuntime>;
  images: () => Promise<StatsImages>;
  collectMetrics: () => Promise<MetricSnapshot[]>;
  podDisks: (uids: PodUid[], maxAgeMs: number) => Promise<PodDiskUsage[]>;
  disk: NodeDisks["facts"];
  clock: Clock;
  log: Logger;
}

/** A page's text, in pieces. */
export type PageBytes = readonly Buffer[];

export class StatsService {
  /** Rejects with OperatorError. */
  static async open(deps: StatsServiceDeps): Promise<StatsService> {
    const mounts = await readCgroupMounts();
    const kept = new KeptFiles(deps.clock);
    const settled = new SettledFiles(readKernelText, deps.clock);
    const reads = { often: kept.read, settled: settled.read };
    const reader =
      mounts.version === 2
        ? new CgroupReaderV2(mounts.mountPoint, readKernelText, listKernelDirectories, reads)
        : new CgroupReaderV1(mounts, readKernelText, listKernelDirectories, reads);
    return new StatsService(deps, { reader, kept, settled }, readMachineFacts(readKernelText, listKernelDirectories));
  }

  private readonly reader: CgroupReader;
  private readonly cgroups: PodCgroups;
  private readonly readings: Readings;
  /** Absent: pods' figures are those of their cgroups. */
  private readonly cri: { stats: CriPodStats; rates: CpuRates; node: Readings } | undefined;
  private readonly networks: Networks;
  private readonly calls: VolumeCalls;
  private readonly podDisks: PodDisks;
  private readonly runtimeDisks: RuntimeDisks;
  private readonly sandboxImage: SandboxImage;
  private readonly cadvisorText: Shared<PageBytes>;
  private readonly resourceText: Shared<PageBytes>;
  private readonly summaryText: Shared<Buffer>;
  private readonly coreText: Shared<Buffer>;

  constructor(
    private readonly deps: StatsServiceDeps,
    private readonly files: { reader: CgroupReader; kept: KeptFiles; settled: SettledFiles },
    private readonly machine: MachineFacts,
  ) {
    const { init, pods, runtime, images, collectMetrics, podDisks, clock, log } = deps;
    const { reader, settled } = files;
    this.reader = reader;
    this.cgroups = new PodCgroups(init, reader);
    this.networks = new Networks(reader, readKernelText, clock);
    const process = new RuntimeProcess(init.runtimeEndpoint, readKernelText, clock);
    const common = {
      places: new Places({ cgroups: this.cgroups, clock, found: (path) => settled.forget(path) }),
      all: () => this.cgroups.all(),
      reader,
      clock,
      system: (all: string | undefined) =>
        systemCgroups({ settings: init, reader, read: readKernelText, runtimePid: process.pid() }, all),
      looked: (idle: boolean) => this.pruneCaches(idle),
    };
    this.readings = new Readings({ ...common, pods });
    const stats = new CriPodStats({ runtime, clock, log });
    this.cri = init.podAndContainerStatsFromCRI
      ? { stats, rates: new CpuRates(), node: new Readings({ ...common, pods: () => [] }) }
      : undefined;
    const { rootDir, volumeStatsAggPeriodMs: periodMs } = init;
    this.calls = new VolumeCalls({ clock, log, startHelper: startHelperProcess });
    const { calls } = this;
    this.podDisks = new PodDisks({ rootDir, periodMs, pods, usage: podDisks, collectMetrics, calls, clock, log });
    const containers = async () =>
      (await this.cri?.stats.containers()) ?? (await (await runtime()).listContainerStats({}, RUNTIME_DEADLINE)).stats;
    this.runtimeDisks = new RuntimeDisks({ containers, images, figures: (path) => this.figures(path), clock, log });
    this.sandboxImage = new SandboxImage(runtime, clock, log);
    this.cadvisorText = new Shared(PAGE_LIFE_MS, clock, async () => (await this.makePage()).chunks());
    this.resourceText = new Shared(LOOK_LIFE_MS, clock, async () => resourcePage(await this.readNode()).chunks());
    this.summaryText = new Shared(LOOK_LIFE_MS, clock, () => this.summaryOf(true));
    this.coreText = new Shared(LOOK_LIFE_MS, clock, () => this.summaryOf(false));
  }

  async close(): Promise<void> {
    this.readings.close();
    this.cri?.node.close();
    this.files.kept.close();
    this.calls.close();
    await this.podDisks.close();
  }

  cadvisor(): Promise<PageBytes> {
    return this.cadvisorText.get();
  }

  resource(): Promise<PageBytes> {
    return this.resourceText.get();
  }

  usage(): Promise<NodeReadings> {
    return this.readNode();
  }

  /** JSON. @param whole false: CPU and memory alone */
  summary(whole: boolean): Promise<Buffer> {
    if (whole) this.podDisks.ask();
    return (whole ? this.summaryText : this.coreText).get();
  }

  /** Drops state that is no longer read. */
  private pruneCaches(idle: boolean): void {
    const { kept, settled } = this.files;
    kept.prune();
    settled.prune();
    this.networks.prune();
    if (idle) kept.close();
  }

  private async readNode(): Promise<NodeReadings> {
    const { cri, deps } = this;
    const podStats = await cri?.stats.now();
    if (cri === undefined || podStats === undefined) return this.readings.now();
    const node = await cri.node.now();
    return { ...node, pods: criPodReadings(podStats, deps.pods(), cri.rates, deps.clock.now()) };
  }

  private async summaryOf(whole: boolean): Promise<Buffer> {
    const core = await this.core();
    const summary = buildSummary(core, whole ? await this.whole() : undefined);
    return Buffer.from(JSON.stringify(summary, undefined, 1));
  }

  private async core(): Promise<CoreInputs> {
    const { bootedAt, memory } = this.machine;
    return {
      nodeName: this.deps.nodeName,
      bootedAt,
      machineMemory: memory,
      swapFree: meminfo(readKernelText, "SwapFree"),
      readings: await this.readNode(),
      pressure: (path) => this.reader.pressure(path),
      madeAt: (path) => modifiedAt(this.reader.directory(path)),
    };
  }

  private async whole(): Promise<WholeInputs> {
    const now = this.deps.clock.now();
    const [fs, runtime] = await Promise.all([this.figures(this.deps.init.rootDir), this.runtimeDisks.now()]);
    return {
      network: (pod) => this.networks.of(pod),
      fs,
      imageFs: runtime.imageFs,
      containerFs: runtime.containerFs,
      limit: { ...readProcessLimit(readKernelText), at: now },
      rootfs: (id) => runtime.layers.get(id),
      disk: (uid) => this.podDisks.of(uid),
      processes: (path) => this.reader.processes(path).length,
    };
  }

  /** undefined: the file system cannot be read. */
  private async figures(path: string): Promise<FsFigures | undefined> {
    const { disk, clock } = this.deps;
    const facts = await disk(path).catch(() => undefined);
    return facts && figuresOf(facts, clock.now());
  }

  private async makePage(): Promise<Page> {
    const page = await this.criPage();
    if (page !== undefined) return page;
    const { init, clock } = this.deps;
    const shown = init.localStorageCapacityIsolation;
    const [readings, runtime, systems, sandboxImage] = await Promise.all([
      this.readings.now(),
      this.runtimeDisks.now(),
      shown ? readFileSystems(readKernelText, init.rootDir, (path) => this.figures(path)) : [],
      this.sandboxImage.get(),
    ]);
    const deps = {
      reader: this.reader,
      read: readKernelText,
      settled: this.files.settled.read,
      machine: this.machine,
      networks: this.networks,
      one: (path: string) => this.readings.one(path),
      clock,
    };
    const layers = shown ? runtime.layers : new Map<string, never>();
    const above = this.cgroups.above();
    return (await cadvisorPage(deps, { readings, above, layers, systems, sandboxImage })).page;
  }

  /** undefined: the runtime's own rows are not wanted, or not to be had. */
  private async criPage(): Promise<Page | undefined> {
    if (this.cri === undefined) return undefined;
    try {
      const addRows = await criMetrics(await this.deps.runtime());
      const cadvisor = new CadvisorPage();
      addMachine(cadvisor, this.machine, readKernelText);
      addRows(cadvisor.page);
      return cadvisor.page;
    } catch (error) {
      this.deps.log.debug({ err: error }, "the runtime returned no metrics; the page is made from cgroups");
      return undefined;
    }
  }
}

const RUNTIME_DEADLINE = { deadlineMs: 3000 };
