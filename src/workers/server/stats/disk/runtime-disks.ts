// Disk figures of the runtime: the file systems of images and containers, and the bytes that each container wrote. The
// kubelet requests them at most every ten seconds, because the runtime calls each container's shim. A request waits
// only if the last reply is older than half a minute; while the runtime does not respond, the last figures are shown.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import type { CriClient } from "../../../../shared/kubernetes/cri/client.js";
import type { ContainerStats, FilesystemUsage } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { partOf, type FsFigures, type WritableLayer } from "../../../../shared/node/stats/fs-figures.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";

const LIFE_MS = 10_000;
const FRESH_MS = 30_000;
/** A page does not wait longer for the runtime. */
const DEADLINE_MS = 3000;

export interface RuntimeDisk {
  imageFs?: FsFigures | undefined;
  containerFs?: FsFigures | undefined;
  /** By container id. */
  layers: ReadonlyMap<string, WritableLayer>;
}

export interface RuntimeDisksDeps {
  containers: () => Promise<readonly ContainerStats[]>;
  images: () => Promise<Pick<CriClient, "imageFsInfo">>;
  /** undefined: the path cannot be read from here. */
  figures: (path: string) => Promise<FsFigures | undefined>;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

export class RuntimeDisks {
  private last: RuntimeDisk = { layers: new Map() };
  private answeredAt: number | undefined;
  private asked: { at: number; answer: Promise<void> } | undefined;
  /** The runtime did not respond last time. */
  private silent = false;

  constructor(private readonly deps: RuntimeDisksDeps) {}

  /** Never rejects. */
  async now(): Promise<RuntimeDisk> {
    const at = this.deps.clock.monotonic();
    if (this.asked === undefined || at - this.asked.at >= LIFE_MS) this.asked = { at, answer: this.ask() };
    const fresh = this.answeredAt !== undefined && at - this.answeredAt < FRESH_MS;
    if (!fresh && !this.silent) await this.asked.answer;
    return this.last;
  }

  private async ask(): Promise<void> {
    const { clock, log } = this.deps;
    try {
      const [systems, layers] = await Promise.all([this.fileSystems(), this.layers()]);
      this.last = { ...systems, layers };
      this.answeredAt = clock.monotonic();
      this.silent = false;
    } catch (error) {
      this.silent = true;
      log.debug(
        { err: error },
        "cannot read the disk usage of containers from the runtime; showing the previous values",
      );
    }
  }

  private async fileSystems(): Promise<Omit<RuntimeDisk, "layers">> {
    const images = await this.deps.images();
    const { imageFilesystems, containerFilesystems } = await images.imageFsInfo({}, { deadlineMs: DEADLINE_MS });
    const imageFs = await this.figures(imageFilesystems[0]);
    const containerFs = await this.figures(containerFilesystems[0] ?? imageFilesystems[0]);
    return { imageFs, containerFs };
  }

  private async layers(): Promise<Map<string, WritableLayer>> {
    const stats = await this.deps.containers();
    const systems = new Map<string, Promise<FsFigures | undefined>>();
    const layers = new Map<string, WritableLayer>();
    for (const { attributes, writableLayer } of stats) {
      const mountpoint = writableLayer?.fsId?.mountpoint ?? "";
      if (attributes === undefined || writableLayer === undefined) continue;
      const known = systems.get(mountpoint) ?? this.deps.figures(mountpoint);
      systems.set(mountpoint, known);
      layers.set(attributes.id, { ...usageOf(writableLayer, await known), device: mountpoint });
    }
    return layers;
  }

  private async figures(usage: FilesystemUsage | undefined): Promise<FsFigures | undefined> {
    if (usage === undefined) return undefined;
    return usageOf(usage, await this.deps.figures(usage.fsId?.mountpoint ?? ""));
  }
}

function usageOf({ timestamp, usedBytes, inodesUsed }: FilesystemUsage, fs: FsFigures | undefined): FsFigures {
  return partOf(fs, Number(timestamp / 1_000_000n), Number(usedBytes?.value ?? 0n), Number(inodesUsed?.value ?? 0n));
}
