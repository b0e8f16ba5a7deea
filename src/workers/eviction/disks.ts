// How full the disks are. A file system may not answer for long (a network's, a dying disk): each is asked by itself, once at a
// time, and who looks goes on with the last answer, which keeps its time.
import { stat } from "node:fs/promises";
import type { Clock } from "../../shared/clock/clock.js";
import type { ImageFileSystems } from "../../shared/contracts/eviction.js";
import type { FsFigures } from "../../shared/stats/fs-figures.js";
import { fsFigures } from "../../shared/stats/fs-usage.js";
import { layoutOf, type DiskLayout } from "./layout.js";
import type { Sample } from "./observe.js";
import type { RepeatedErrorLog } from "./repeated-error-log.js";

export interface DiskLook {
  figures: FsFigures;
  /** Device number. */
  device: number;
}

/** Rejects when the path cannot be looked at. */
export type LookAtDisk = (path: string) => Promise<DiskLook>;

const lookAtDisk: LookAtDisk = async (path) => {
  const figures = await fsFigures(path, 0);
  // One after the other: a disk that hangs holds one thread of the process's pool, which has four.
  const { dev } = await stat(path);
  return { figures, device: dev };
};

/** How often the runtime is asked where its images are, and how soon again when it did not say. */
const ASK_PERIOD_MS = 60_000;
const RETRY_MS = 5000;

export interface DisksParts {
  rootDir: string;
  imageFileSystems: () => Promise<ImageFileSystems>;
  look?: LookAtDisk;
  clock: Pick<Clock, "monotonic" | "after">;
  errorLog: RepeatedErrorLog;
}

export class Disks {
  private readonly last = new Map<string, DiskLook>();
  private readonly underWay = new Set<string>();
  private systems: ImageFileSystems | undefined;
  private askAt = 0;
  private asking = false;

  constructor(private readonly parts: DisksParts) {}

  get layout(): DiskLayout {
    const device = (path: string | undefined): number | undefined =>
      path === undefined ? undefined : this.last.get(path)?.device;
    return layoutOf({
      node: device(this.parts.rootDir),
      images: device(this.systems?.images),
      containers: device(this.systems?.containers),
    });
  }

  /** By the times at which they were read, monotonic ms. */
  get figures(): Pick<Sample, "nodefs" | "imagefs" | "containerfs"> {
    const of = (path: string | undefined): FsFigures | undefined =>
      path === undefined ? undefined : this.last.get(path)?.figures;
    const nodefs = of(this.parts.rootDir);
    const imagefs = of(this.systems?.images);
    return { nodefs, imagefs, containerfs: of(this.systems?.containers) ?? imagefs };
  }

  /** Looks anew; resolves when all have answered, or after `withinMs`. Never rejects. */
  refresh(withinMs: number): Promise<void> {
    this.ask();
    const paths = new Set([this.parts.rootDir, this.systems?.images, this.systems?.containers]);
    const looks = [...paths].flatMap((path) =>
      path === undefined || this.underWay.has(path) ? [] : [this.lookAt(path)],
    );
    return this.within(withinMs, looks);
  }

  private within(ms: number, looks: readonly Promise<void>[]): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.after(ms, resolve);
      void Promise.all(looks).then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  private async lookAt(path: string): Promise<void> {
    const { look = lookAtDisk, clock, errorLog } = this.parts;
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

  /** The answer counts from the next look on. */
  private ask(): void {
    const { imageFileSystems, clock, errorLog } = this.parts;
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
