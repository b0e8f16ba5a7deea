// Usage of the machine over the last hour: one sample every 10 s in a ring. It is the only part of the status page that
// works without a client. It costs about 0.1 ms per sample and 60 KiB.

import { cpus } from "node:os";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import {
  SAMPLE_KEY,
  SAMPLE_MS,
  SAMPLES,
  type MachineSize,
  type UsageSample,
} from "../../../shared/contracts/status-page.js";
import { processorTimes, type ProcessorTimes } from "../../../shared/io/os/processor-times.js";
import type { ReadText } from "../../../shared/node/stats/kernel-file.js";
import { meminfo, readProcessLimit } from "../../../shared/node/stats/machine.js";
import type { FileSystemFacts } from "../../../shared/node/volume-calls/operations.js";
import type { Entries } from "./feed.js";

export interface UsageDeps {
  read: ReadText;
  /** Resident bytes of this process. */
  residentBytes: () => number;
  /** Reads the file system of the root directory. Settles within the period of the samples. */
  disk: () => Promise<Pick<FileSystemFacts, "blocks" | "bfree" | "bsize">>;
  clock: Clock;
}

export class UsageRing {
  /** In order; the oldest is removed first. */
  private readonly samples = new Map<string, string>();
  private count = 0;
  private before: ProcessorTimes | undefined;
  private diskSize: number | undefined;
  private diskUsed: number | undefined;
  private readonly loop: Loop;

  constructor(private readonly deps: UsageDeps) {
    this.loop = new Loop({
      round: () => {
        this.sample();
        return Promise.resolve(undefined);
      },
      periodMs: SAMPLE_MS,
      failed: () => undefined,
      clock: deps.clock,
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  entries(): Entries {
    return this.samples;
  }

  machine(): MachineSize {
    const { read } = this.deps;
    const { max } = readProcessLimit(read);
    return omitUndefined({
      cpus: cpus().length,
      memory: meminfo(read, "MemTotal"),
      disk: this.diskSize,
      processes: max,
    });
  }

  private sample(): void {
    const { read, residentBytes, clock } = this.deps;
    this.askDisk();
    const times = processorTimes(read("/proc/stat") ?? "");
    const { before } = this;
    this.before = times;
    const passed = times.all - (before?.all ?? times.all);
    const sample: UsageSample = omitUndefined({
      at: clock.now(),
      cpus:
        before !== undefined && passed > 0 ? round(((times.busy - before.busy) / passed) * cpus().length) : undefined,
      memory: meminfo(read, "MemTotal") - meminfo(read, "MemAvailable"),
      disk: this.diskUsed,
      processes: readProcessLimit(read).current ?? 0,
      kubelet: residentBytes(),
    });
    this.samples.set(`${SAMPLE_KEY}${this.count++}`, JSON.stringify(sample));
    if (this.samples.size > SAMPLES) {
      const [oldest] = this.samples.keys();
      if (oldest !== undefined) this.samples.delete(oldest);
    }
  }

  /** The result is in the next sample. */
  private askDisk(): void {
    this.deps.disk().then(
      ({ blocks, bfree, bsize }) => {
        this.diskSize = blocks * bsize;
        this.diskUsed = (blocks - bfree) * bsize;
      },
      () => (this.diskUsed = undefined),
    );
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
