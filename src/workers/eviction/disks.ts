// Capacity and usage of the disks. A file system may not respond for long (network, failing disk). So each is measured
// separately, one call at a time, and readers use the last result with its time.

import { stat } from "node:fs/promises";
import type { Clock } from "../../shared/base/clock/clock.js";
import type { ImageFileSystems } from "../../shared/contracts/eviction.js";
import { type FsFigures } from "../../shared/node/stats/fs-figures.js";
import { fsFigures } from "../../shared/node/stats/read-fs-figures.js";
import type { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import { layoutOf, type DiskLayout } from "./layout.js";
import type { Sample } from "./observe.js";

export interface DiskLook {
  figures: FsFigures;
  /** Device number. */
  device: number;
}

/** Rejects if the path cannot be read. */
export type LookAtDisk = (path: string) => Promise<DiskLook>;

const lookAtDisk: LookAtDisk = async (path) => {
  const figures = await fsFigures(path, 0);
  // One after the other: a disk that hangs holds one thread of the process's pool, which has four.
  const { dev } = await stat(path);
  return { figures, device: dev };
};

/** Interval between queries for the runtime's image file system, and the delay of a retry. */
const ASK_PERIOD_MS = 60_000;
const RETRY_MS = 5000;

export interface DisksDeps {
  rootDir: string;
  imageFileSystems: () => Promise<ImageFileSystems>;
  look?: LookAtDisk | undefined;
  clock: Pick<Clock, "monotonic" | "after">;
  errorLog: LastingErrors;
}

export class Disks {
  private readonly last = new Map<string, DiskLook>();
  private readonly underWay = new Set<string>();
  private systems: ImageFileSystems | undefined;
  private askAt = 0;
  private asking = false;

  constructor(private readonly deps: DisksDeps) {}

  get layout(): DiskLayout {
    const device = (path: string | undefined): number | undefined =>
      path === undefined ? undefined : this.last.get(path)?.device;
    return layoutOf({
      node: device(this.deps.rootDir),
      images: device(this.systems?.images),
      containers: device(this.systems?.containers),
    });
  }

  /** By the times at which they were read, monotonic ms. */
  get figures(): Pick<Sample, "nodefs" | "imagefs" | "containerfs"> {
    const of = (path: string | undefined): FsFigures | undefined =>
      path === undefined ? undefined : this.last.get(path)?.figures;
    const nodefs = of(this.deps.rootDir);
    const imagefs = of(this.systems?.images);
    return { nodefs, imagefs, containerfs: of(this.systems?.containers) ?? imagefs };
  }

  /** Measures again; resolves when all have responded, or after `withinMs`. Never rejects. */
  refresh(withinMs: number): Promise<void> {
    this.ask();
    const paths = new Set([this.deps.rootDir, this.systems?.images, this.systems?.containers]);
    const looks = [...paths].flatMap((path) =>
      path === undefined || this.underWay.has(path) ? [] : [this.lookAt(path)],
    );
    return this.within(withinMs, looks);
  }

  private within(ms: number, looks: readonly Promise<void>[]): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.deps.clock.after(ms, resolve);
      void Promise.all(looks).then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  private async lookAt(path: string): Promise<void> {
    const { look = lookAtDisk, clock, errorLog } = this.deps;
    const key = `disk ${path}`;
    this.underWay.add(path);
    try {
      const { figures, device } = await look(path);
      this.last.set(path, { figures: { ...figures, at: clock.monotonic() }, device });
      errorLog.resolved(key, `statfs of the file system of ${path} succeeded again`);
    } catch (error) {
      errorLog.report(key, `cannot read the file system of ${path} (statfs); using its last values`, error);
    } finally {
      this.underWay.delete(path);
    }
  }

  /** The result counts from the next sample on. */
  private ask(): void {
    const { imageFileSystems, clock, errorLog } = this.deps;
    if (this.asking || clock.monotonic() < this.askAt) return;
    this.asking = true;
    const key = "image file systems";
    imageFileSystems()
      .then(
        (systems) => {
          this.systems = systems;
          this.askAt = clock.monotonic() + ASK_PERIOD_MS;
          errorLog.resolved(key, "the runtime reports its image file system again");
        },
        (error: unknown) => {
          this.askAt = clock.monotonic() + RETRY_MS;
          errorLog.report(key, "the runtime does not report its image file system; trying again", error);
        },
      )
      .finally(() => {
        this.asking = false;
      });
  }
}
