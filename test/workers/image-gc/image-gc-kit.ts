// Image garbage collection without a runtime. Images are in memory, the disk has a given size, and main permits what
// the test chooses.

import { ThreadStoppedError } from "../../../src/main/threads/errors.js";
import { imageRounds } from "../../../src/main/threads/image-rounds.js";
import { monotonicTime } from "../../../src/shared/base/clock/moments.js";
import type { ImageGcEventReason, KnownImage } from "../../../src/shared/contracts/image-gc.js";
import { ImageSpec } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ImageGc, type ImageGcDeps, type ImageGcSettings } from "../../../src/workers/image-gc/image-gc.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

export const MIB = 1024 ** 2;

export interface ModelImage {
  id: string;
  size: number;
  repoTags: string[];
  repoDigests: string[];
  pinned: boolean;
  /** The runtime's, in the image's spec. */
  runtimeHandler: string;
}

const DEFAULTS: ImageGcSettings = {
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  imageMinimumGCAgeMs: 120_000,
  imageMaximumGCAgeMs: 0,
  imagesByHandler: false,
  since: monotonicTime(1_000_000),
  history: undefined,
};

export class ImageWorld {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  readonly images: ModelImage[] = [];
  readonly inUse = new Set<string>();
  /** Main knows who uses what. */
  known = true;
  readonly refused = new Set<string>();
  readonly failing = new Set<string>();
  sandboxImage: string | undefined;
  /** References of containers that main does not know. */
  containers: string[] = [];
  capacity = 1000 * MIB;
  /** Taken by something else than images. */
  otherwiseUsed = 0;
  readonly events: [ImageGcEventReason, string][] = [];
  readonly removed: string[] = [];
  readonly handlersOfRemovals: string[] = [];
  readonly granted = new Set<string>();
  readonly proposals: string[][] = [];
  lists = 0;
  listFails: Error | undefined;
  readonly metrics = { space: 0, age: 0, refused: 0 };
  /** What main keeps between two rounds. */
  history: KnownImage[] | undefined;
  private generation: number;
  private current: ImageGc | undefined;
  private stopped = false;
  private readonly rounds = imageRounds({
    settled: () => Promise.resolve(this.known),
    collect: () => (this.stopped ? Promise.reject(new ThreadStoppedError("image-gc")) : this.thread().round()),
    warn: (reason, message) => this.events.push([reason, message]),
    clock: this.clock,
    log: this.kept.log,
  });

  constructor(
    private readonly settings: Partial<ImageGcSettings> = {},
    generation = 1,
  ) {
    // Not the epoch: 0 stands for never.
    this.clock.step(1_000_000);
    this.generation = generation - 1;
  }

  /** Each round has a thread of its own. */
  thread(): ImageGc {
    this.generation++;
    this.current = new ImageGc({ ...DEFAULTS, ...this.settings, history: this.history }, this.deps(this.generation));
    return this.current;
  }

  removeUnused(): ReturnType<ImageGc["removeUnused"]> {
    return this.thread().removeUnused();
  }

  /** As the supervised thread and its owner do. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.current?.stop();
    await this.rounds.stop();
  }

  add(id: string, sizeMiB = 100, fields: Partial<ModelImage> = {}): void {
    this.images.push({
      id,
      size: sizeMiB * MIB,
      repoTags: [`registry.test/${id}:1`],
      repoDigests: [],
      pinned: false,
      runtimeHandler: "",
      ...fields,
    });
  }

  async start(): Promise<void> {
    this.rounds.start();
    await settle();
  }

  async step(ms: number): Promise<void> {
    this.clock.step(ms);
    await settle();
  }

  private deps(generation: number): ImageGcDeps {
    return {
      cri: {
        listImages: () => {
          this.lists++;
          if (this.listFails !== undefined) return Promise.reject(this.listFails);
          const images = this.images.map((image) => ({
            ...image,
            size: BigInt(image.size),
            uid: undefined,
            username: "",
            spec: ImageSpec.fromPartial({ image: image.id, runtimeHandler: image.runtimeHandler }),
          }));
          return Promise.resolve({ images });
        },
        removeImage: (request) => {
          const { image: id = "", runtimeHandler = "" } = request.image ?? {};
          if (runtimeHandler !== "") this.handlersOfRemovals.push(`${id} ${runtimeHandler}`);
          if (!this.granted.has(id)) throw new Error(`${id} is removed without having been granted`);
          if (this.failing.has(id)) return Promise.reject(new Error(`${id} is busy`));
          this.images.splice(
            this.images.findIndex(
              (image) => image.id === id && (runtimeHandler === "" || image.runtimeHandler === runtimeHandler),
            ),
            1,
          );
          this.removed.push(id);
          return Promise.resolve({});
        },
        imageFsInfo: () => {
          const fsId = { mountpoint: "/images" };
          const imageFilesystems = [{ timestamp: 0n, fsId, usedBytes: undefined, inodesUsed: undefined }];
          return Promise.resolve({ imageFilesystems, containerFilesystems: [] });
        },
      },
      main: {
        imagesInUse: (images) =>
          Promise.resolve(this.known ? images.map(({ id }) => id).filter((id) => this.inUse.has(id)) : undefined),
        grant: ({ images }) => {
          const asked = images.map(({ id }) => id);
          this.proposals.push(asked);
          this.granted.clear();
          for (const id of asked) if (!this.refused.has(id)) this.granted.add(id);
          return Promise.resolve([...this.granted]);
        },
        release: (_generation, ids) => {
          for (const id of ids) this.granted.delete(id);
          return Promise.resolve();
        },
        known: (images) => {
          this.history = images;
          return Promise.resolve();
        },
        warn: (reason, message) => {
          this.events.push([reason, message]);
          return Promise.resolve();
        },
      },
      generation,
      containerImages: () => Promise.resolve(this.containers),
      sandboxImage: () => Promise.resolve(this.sandboxImage),
      statFs: () => {
        const used = this.otherwiseUsed + this.images.reduce((sum, { size }) => sum + size, 0);
        return Promise.resolve({ capacity: this.capacity, available: Math.max(0, this.capacity - used) });
      },
      clock: this.clock,
      log: this.kept.log,
      metrics: {
        removed: (reason) => {
          this.metrics[reason]++;
        },
        refused: (count) => {
          this.metrics.refused += count;
        },
      },
    };
  }
}
