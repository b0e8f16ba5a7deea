// Image garbage collection: lists the images, and records when each was seen and used. It removes images that are too
// old and, when the disk is short, the least recently used ones. Main asks for each round (docs/adr/0119).
// Invariant: one run at a time; only images that main granted are removed; every grant is released.

import { Lifetime } from "../../shared/base/abort/lifetime.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import {
  NEVER,
  type FreedImages,
  type ImageGcEventReason,
  type ImageGcInit,
  type ImageGcUpcalls,
} from "../../shared/contracts/image-gc.js";
import { keysOfImage, keysOfReference } from "../../shared/kubernetes/api/image-keys.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { CriNotFoundError } from "../../shared/kubernetes/cri/errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { traced } from "../../shared/telemetry/tracing/tracing.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import { byteSize } from "./byte-size.js";
import { readImageFs, type StatFs } from "./image-fs.js";
import type { ImageGcMetrics, RemovalReason } from "./metrics.js";
import { ImageRecords, recordKey, type ImageRecord, type ListedImage } from "./records.js";
import { bytesToFree, inEvictionOrder, mayFree, nextBatch, tooOld, usedPercent } from "./selection.js";

export type ImageGcSettings = Pick<
  ImageGcInit,
  | "imageGCHighThresholdPercent"
  | "imageGCLowThresholdPercent"
  | "imageMinimumGCAgeMs"
  | "imageMaximumGCAgeMs"
  | "imagesByHandler"
  | "since"
  | "history"
>;

/** The upcalls as promises of another thread, or of a test. */
type ImageGcMain = Pick<Remote<ImageGcUpcalls>, "imagesInUse" | "grant" | "release" | "known" | "warn">;

export interface ImageGcDeps {
  cri: Pick<CriClient, "listImages" | "removeImage" | "imageFsInfo">;
  main: ImageGcMain;
  /** This thread's, from 1. */
  generation: number;
  /** The images of all containers of the runtime, including those of other clients. */
  containerImages(signal: AbortSignal): Promise<string[]>;
  /** The image that the runtime uses for sandboxes, if it reports one. */
  sandboxImage(): Promise<string | undefined>;
  statFs?: StatFs;
  clock: Clock;
  log: Logger;
  metrics: ImageGcMetrics;
}

/** Images granted at once: no container can begin to use them until they are released, so few. */
const BATCH = 8;

export class ImageGc {
  private readonly records: ImageRecords;
  private looked: boolean;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly lifetime = new Lifetime();

  constructor(
    private readonly settings: ImageGcSettings,
    private readonly deps: ImageGcDeps,
  ) {
    this.records = new ImageRecords(settings.history);
    this.looked = settings.history !== undefined;
  }

  /** Rejects when too little was freed. */
  round(): Promise<void> {
    return this.inTurn(() => (this.collects ? this.tracedCollect() : this.refreshRecords()));
  }

  /** Aborts pending calls. */
  async stop(): Promise<void> {
    this.lifetime.end();
    await this.turn;
  }

  /** Removes every unused image. */
  removeUnused(): Promise<FreedImages> {
    return this.inTurn(async () => {
      const runAt = this.deps.clock.monotonic();
      await this.refreshRecords();
      return this.freeSpace(inEvictionOrder(this.records.all()), Infinity, runAt);
    });
  }

  private get stopped(): boolean {
    return this.lifetime.hasEnded;
  }

  private get collects(): boolean {
    return this.settings.imageGCHighThresholdPercent < 100 || this.settings.imageMaximumGCAgeMs > 0;
  }

  private async inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.turn.then(run);
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  private tracedCollect(): Promise<void> {
    return traced(
      "Images/GarbageCollect",
      () => ({ parent: "none" }),
      () => this.collect(),
    );
  }

  /** Rejects with OperatorError when less was freed than is needed. */
  private async collect(): Promise<void> {
    const { clock, cri, statFs, log } = this.deps;
    const runAt = clock.monotonic();
    await this.refreshRecords();
    const before = inEvictionOrder(this.records.all());
    // Until it ran that long itself the kubelet cannot know when an image was used.
    const { imageMaximumGCAgeMs: maxAgeMs } = this.settings;
    const old = runAt - this.settings.since > maxAgeMs ? tooOld(before, runAt, maxAgeMs) : [];
    if (old.length > 0) await this.removeAll(old, Infinity, "age");
    const fs = await readImageFs(cri, statFs);
    if (fs.capacity === 0) {
      const message = "invalid capacity 0 on image filesystem";
      this.warn("InvalidDiskCapacity", message);
      throw new OperatorError(`${message} (${fs.mountpoint})`);
    }
    const wanted = bytesToFree(fs, this.settings);
    if (wanted === 0) return;
    const used = usedPercent(fs);
    log.info(
      { usedPercent: used, wanted },
      `the image file system is ${used} % full: ${byteSize(wanted)} of images must be freed`,
    );
    const freed = await this.freeSpace(inEvictionOrder(this.records.all()), wanted, runAt);
    if (freed.bytes >= wanted) {
      log.info(freed, `${byteSize(freed.bytes)} in ${freed.images} images were freed, which is enough`);
      return;
    }
    const message =
      `Insufficient free disk space on the node's image filesystem (${used}% of ${byteSize(fs.capacity)} used). ` +
      `Failed to free sufficient space by deleting unused images (freed ${freed.bytes} bytes). ` +
      "Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";
    this.warn("FreeDiskSpaceFailed", message);
    throw new OperatorError(message);
  }

  private freeSpace(ordered: readonly ImageRecord[], bytes: number, runAt: number): Promise<FreedImages> {
    const candidates = mayFree(ordered, runAt, this.deps.clock.monotonic(), this.settings.imageMinimumGCAgeMs);
    return this.removeAll(candidates, bytes, "space");
  }

  /** In order, until `bytes` are freed. What main keeps, or the runtime does not remove, is passed over. */
  private async removeAll(
    candidates: readonly ImageRecord[],
    bytes: number,
    reason: RemovalReason,
  ): Promise<FreedImages> {
    const { main, generation, metrics } = this.deps;
    const freed: FreedImages = { images: 0, bytes: 0 };
    let left = candidates;
    while (left.length > 0 && freed.bytes < bytes && !this.stopped) {
      const batch = nextBatch(left, bytes - freed.bytes, BATCH);
      left = left.slice(batch.length);
      const granted = await main.grant({
        generation,
        images: batch.map(({ id, repoTags, repoDigests }) => ({ id, repoTags, repoDigests })),
      });
      metrics.refused(batch.length - granted.length);
      for (const image of batch.filter(({ id }) => granted.includes(id))) {
        const removed = await this.remove(image, reason);
        await main.release(generation, [image.id]);
        if (!removed) continue;
        freed.images++;
        freed.bytes += image.size;
      }
      if (freed.images > 0) await main.known(this.records.known());
    }
    return freed;
  }

  private async remove(image: ImageRecord, reason: RemovalReason): Promise<boolean> {
    const { cri, log, metrics } = this.deps;
    if (this.stopped) return false;
    const name = image.repoTags[0] ?? image.repoDigests[0] ?? image.id;
    try {
      const spec = { image: image.id, runtimeHandler: image.runtimeHandler };
      await cri.removeImage({ image: spec }, { signal: this.lifetime.signal });
    } catch (error) {
      if (!(error instanceof CriNotFoundError)) {
        log.error({ err: error, image: image.id }, `cannot remove image ${name}; trying again later`);
        return false;
      }
    }
    this.records.forget(image);
    metrics.removed(reason, image.size);
    const why = reason === "age" ? "it was unused for longer than imageMaximumGCAge" : "to free space";
    log.info({ image: image.id, size: image.size }, `removed image ${name} (${byteSize(image.size)}): ${why}`);
    return true;
  }

  /** Brings the records up to date. */
  private async refreshRecords(): Promise<void> {
    const { cri, main, clock, generation } = this.deps;
    const [{ images }, sandboxImage, containers] = await Promise.all([
      cri.listImages({}, { signal: this.lifetime.signal }),
      this.deps.sandboxImage(),
      this.deps.containerImages(this.lifetime.signal),
    ]);
    const contained = new Set(containers.flatMap(keysOfReference));
    const kept = new Set(sandboxImage === undefined ? [] : keysOfReference(sandboxImage));
    const listed: ListedImage[] = [];
    for (const { id, repoTags, repoDigests, size, pinned, spec } of images) {
      if (id === "") {
        const name = [...repoTags, ...repoDigests].join(", ");
        this.warn("InvalidImageID", `ImageID is not valid, skipping, image: ${name}`);
        continue;
      }
      const names = { id, repoTags, repoDigests };
      listed.push({
        ...names,
        runtimeHandler: this.settings.imagesByHandler ? (spec?.runtimeHandler ?? "") : "",
        size: Number(size),
        pinned: pinned || keysOfImage(names).some((key) => kept.has(key)),
      });
    }
    const inUse = await main.imagesInUse(
      listed.map(({ id, repoTags, repoDigests }) => ({ id, repoTags, repoDigests })),
    );
    // Main asks for no round before it knows them.
    if (inUse === undefined) throw new OperatorError("main does not know all images in use");
    // A pod's use counts for an image with every handler: main does not know which copy the runtime takes.
    const usedIds = new Set(inUse);
    const isUsed = (image: ListedImage): boolean =>
      usedIds.has(image.id) || keysOfImage(image).some((key) => contained.has(key));
    const used = new Set(listed.filter(isUsed).map(recordKey));
    const now = clock.monotonic();
    // An image that was there before the kubelet is old; a thread that ended before its first detection may have left
    // time to pull one.
    const firstSeen = this.looked || generation > 1 ? now : NEVER;
    this.records.update(listed, used, now, firstSeen);
    this.looked = true;
    // At once: neither the next removal nor the end of this thread loses a record.
    await main.known(this.records.known());
  }

  private warn(reason: ImageGcEventReason, message: string): void {
    this.deps.main.warn(reason, message).catch((error: unknown) => {
      this.deps.log.warn({ err: error, event: reason }, `main did not accept event ${reason}: ${message}`);
    });
  }
}
