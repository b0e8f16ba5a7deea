// Everything behind the stats routes, made with the first request that needs it.
import type { Pod } from "../../../shared/api/pod.js";
import { readCgroupMounts } from "../../../shared/cgroup/mounts.js";
import type { Clock } from "../../../shared/clock/clock.js";
import type { StatsInit } from "../../../shared/contracts/server.js";
import type { CriClient } from "../../../shared/cri/client.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { MetricSnapshot } from "../../../shared/metrics/snapshot.js";
import { cadvisorPage, type CadvisorParts } from "./cadvisor-look.js";
import type { CgroupReader } from "../../../shared/stats/cgroup-figures.js";
import { cgroupReaderV1 } from "../../../shared/stats/cgroup/v1.js";
import { cgroupReaderV2 } from "../../../shared/stats/cgroup/v2.js";
import { ContainerLogs } from "./disk/container-logs.js";
import { fsFigures } from "../../../shared/stats/fs-usage.js";
import { PodDisks } from "./disk/pod-disks.js";
import { RuntimeDisks } from "./disk/runtime-disks.js";
import type { Page } from "./exposition/text.js";
import { partOf, type FsFigures } from "../../../shared/stats/fs-figures.js";
import { listKernelDirectories, modifiedAt, readKernelText } from "../../../shared/stats/kernel-file.js";
import { meminfo, readMachineFacts, readProcessLimit, type MachineFacts } from "../../../shared/stats/machine.js";
import { Networks } from "./networks.js";
import { PodCgroups } from "../../../shared/stats/pod-cgroups.js";
import { RuntimeProcess } from "./node/runtime-process.js";
import { systemCgroups } from "./node/system-cgroups.js";
import { Readings, type NodeReadings } from "./readings.js";
import { SandboxImage } from "./sandbox-image.js";
import { Shared } from "./shared-answer.js";
import { buildSummary, type CoreInputs, type WholeInputs } from "./summary/build.js";
import type { Summary } from "./summary/types.js";

/** The cadvisor page costs the most: one made so lately answers again. Upstream's figures are up to 10 s old. */
const PAGE_LIFE_MS = 10_000;

export type StatsRuntime = Pick<CriClient, "listContainerStats" | "status">;
export type StatsImages = Pick<CriClient, "imageFsInfo">;

export interface HouseParts {
  init: StatsInit;
  nodeName: string;
  pods: () => Iterable<Pod>;
  runtime: () => Promise<StatsRuntime>;
  images: () => Promise<StatsImages>;
  collectMetrics: () => Promise<MetricSnapshot[]>;
  clock: Clock;
  log: Logger;
}

export class StatsHouse {
  /** Rejects with CgroupsNotMountedError. */
  static async open(parts: HouseParts): Promise<StatsHouse> {
    const mounts = await readCgroupMounts();
    const reader =
      mounts.version === 2
        ? cgroupReaderV2(mounts.mountPoint, readKernelText, listKernelDirectories)
        : cgroupReaderV1(mounts, readKernelText, listKernelDirectories);
    return new StatsHouse(parts, reader, readMachineFacts(readKernelText));
  }

  private readonly places: PodCgroups;
  private readonly readings: Readings;
  private readonly networks: Networks;
  private readonly podDisks: PodDisks;
  private readonly runtimeDisks: RuntimeDisks;
  private readonly logs: ContainerLogs;
  private readonly sandboxImage: SandboxImage;
  private readonly page: Shared<Page>;

  constructor(
    private readonly parts: HouseParts,
    private readonly reader: CgroupReader,
    private readonly machine: MachineFacts,
  ) {
    const { init, pods, runtime, images, collectMetrics, clock, log } = parts;
    this.places = new PodCgroups(init, reader);
    const process = new RuntimeProcess(init.runtimeEndpoint, readKernelText, clock);
    this.readings = new Readings({
      pods,
      places: this.places,
      reader,
      clock,
      system: (all) => systemCgroups({ settings: init, reader, read: readKernelText, runtimePid: process.pid() }, all),
    });
    this.networks = new Networks(reader, readKernelText);
    const { rootDir, podLogsDir, volumeStatsAggPeriodMs: periodMs } = init;
    this.podDisks = new PodDisks({ rootDir, periodMs, pods, collectMetrics, clock, log });
    this.runtimeDisks = new RuntimeDisks({ runtime, images, clock, log });
    this.logs = new ContainerLogs(podLogsDir, clock);
    this.sandboxImage = new SandboxImage(runtime, clock, log);
    this.page = new Shared(PAGE_LIFE_MS, clock, () => this.makePage());
  }

  async close(): Promise<void> {
    this.readings.close();
    this.logs.close();
    await this.podDisks.close();
  }

  look(): Promise<NodeReadings> {
    return this.readings.now();
  }

  async coreSummary(): Promise<Summary> {
    return buildSummary(await this.core());
  }

  async wholeSummary(): Promise<Summary> {
    const core = await this.core();
    return buildSummary(core, await this.whole(core.readings));
  }

  cadvisor(): Promise<Page> {
    return this.page.get();
  }

  private async core(): Promise<CoreInputs> {
    const { bootedAt, memory } = this.machine;
    return {
      nodeName: this.parts.nodeName,
      bootedAt,
      machineMemory: memory,
      swapFree: meminfo(readKernelText, "SwapFree"),
      readings: await this.look(),
      pressure: (path) => this.reader.pressure(path),
      madeAt: (path) => modifiedAt(this.reader.directory(path)),
    };
  }

  private async whole(readings: NodeReadings): Promise<WholeInputs> {
    const now = this.parts.clock.now();
    this.podDisks.ask();
    const [fs, runtime] = await Promise.all([this.nodeFs(), this.runtimeDisks.now()]);
    const logs = await this.logsOf(readings, fs);
    return {
      network: (pod) => this.networks.of(pod),
      fs,
      imageFs: runtime.imageFs,
      containerFs: runtime.containerFs,
      limit: { ...readProcessLimit(readKernelText), at: now },
      rootfs: (id) => runtime.layers.get(id),
      logs: (uid, container) => logs.get(`${uid}/${container}`),
      disk: (uid) => this.podDisks.of(uid),
      processes: (path) => this.reader.processes(path).length,
    };
  }

  /** undefined: the root directory cannot be looked at. */
  private nodeFs(): Promise<FsFigures | undefined> {
    return fsFigures(this.parts.init.rootDir, this.parts.clock.now()).catch(() => undefined);
  }

  private async logsOf({ pods }: NodeReadings, fs: FsFigures | undefined): Promise<Map<string, FsFigures>> {
    const found = new Map<string, FsFigures>();
    for (const { place, containers } of pods) {
      for (const { place: container } of containers) {
        const { bytes, inodes, at } = await this.logs.of(place.pod.metadata, container.name);
        found.set(`${place.pod.metadata.uid}/${container.name}`, partOf(fs, at, bytes, inodes));
      }
    }
    this.logs.prune();
    return found;
  }

  private async makePage(): Promise<Page> {
    const [readings, runtime, fs, sandboxImage] = await Promise.all([
      this.look(),
      this.runtimeDisks.now(),
      this.nodeFs(),
      this.sandboxImage.get(),
    ]);
    const shown = this.parts.init.localStorageCapacityIsolation;
    const systems = fs === undefined || !shown ? [] : [{ ...fs, device: this.parts.init.rootDir }];
    const parts: CadvisorParts = {
      reader: this.reader,
      read: readKernelText,
      machine: this.machine,
      networks: this.networks,
      one: (path) => this.readings.one(path),
      clock: this.parts.clock,
    };
    const layers = shown ? runtime.layers : new Map<string, never>();
    const { page } = await cadvisorPage(parts, { readings, above: this.places.above(), layers, systems, sandboxImage });
    return page;
  }
}
