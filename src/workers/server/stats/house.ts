// Everything behind the stats routes, made with the first request that needs it.
import type { Pod } from "../../../shared/api/pod.js";
import { readCgroupMounts } from "../../../shared/cgroup/mounts.js";
import type { Clock } from "../../../shared/clock/clock.js";
import type { StatsInit } from "../../../shared/contracts/server.js";
import type { CgroupReader } from "./cgroup/figures.js";
import { listKernelDirectories, readKernelText } from "./cgroup/kernel-file.js";
import { cgroupReaderV1 } from "./cgroup/v1.js";
import { cgroupReaderV2 } from "./cgroup/v2.js";
import { meminfo, readMachineFacts, type MachineFacts } from "./node/machine.js";
import { PodCgroups } from "./node/pod-cgroups.js";
import { RuntimeProcess } from "./node/runtime-process.js";
import { systemCgroups } from "./node/system-cgroups.js";
import { Readings, type NodeReadings } from "./readings.js";
import { buildSummary, type CoreInputs } from "./summary/build.js";
import type { Summary } from "./summary/types.js";

export interface HouseParts {
  init: StatsInit;
  nodeName: string;
  pods: () => Iterable<Pod>;
  clock: Clock;
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

  private readonly readings: Readings;

  constructor(
    private readonly parts: HouseParts,
    private readonly reader: CgroupReader,
    private readonly machine: MachineFacts,
  ) {
    const { init, pods, clock } = parts;
    const places = new PodCgroups(init, reader);
    const runtime = new RuntimeProcess(init.runtimeEndpoint, readKernelText, clock);
    this.readings = new Readings({
      pods,
      places,
      reader,
      clock,
      system: (all) => systemCgroups({ settings: init, reader, read: readKernelText, runtimePid: runtime.pid() }, all),
    });
  }

  close(): void {
    this.readings.close();
  }

  look(): Promise<NodeReadings> {
    return this.readings.now();
  }

  async coreSummary(): Promise<Summary> {
    return buildSummary(await this.core());
  }

  async wholeSummary(): Promise<Summary> {
    return buildSummary(await this.core());
  }

  private async core(): Promise<CoreInputs> {
    const { nodeName } = this.parts;
    const { bootedAt, memory } = this.machine;
    return {
      nodeName,
      bootedAt,
      machineMemory: memory,
      swapFree: meminfo(readKernelText, "SwapFree"),
      readings: await this.look(),
      pressure: (path) => this.reader.pressure(path),
    };
  }
}
