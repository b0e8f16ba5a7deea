// The image-gc thread as main runs it: for the length of a round (docs/adr/0119). Main keeps the
// records of images and the thread's counters from one round to the next.
// Invariant: grants end with the thread that got them; no thread runs before the sync path can answer its upcalls.

import type { Clock } from "../../shared/base/clock/clock.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import type { Loop } from "../../shared/base/turns/loop.js";
import type {
  FreedImages,
  ImageGcControl,
  ImageGcInit,
  ImageGcUpcalls,
  KnownImage,
  UnusedImage,
} from "../../shared/contracts/image-gc.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { addCounters } from "../../shared/telemetry/metrics/add-counters.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { imageRounds } from "./image-rounds.js";
import { superviseOnDemand, type OnDemandThread } from "./on-demand-thread.js";
import type { ThreadFacts, ThreadHost } from "./thread-host.js";
import type { ImageGcOwner } from "./thread-owner.js";
import { unusedImagesOf } from "./unused-images.js";

export interface ImageGcThreadOptions {
  context: ThreadHost<"image-gc">;
  init: Omit<ImageGcInit, "since" | "history">;
  clock: Clock;
  log: Logger;
  /** Answers from the moment it is there. */
  owner: Promise<{ collection: ImageGcOwner }>;
}

/** Many images, each of which may take the runtime seconds. */
const ROUND_DEADLINE_MS = 15 * 60_000;

export class ImageGcThread {
  readonly thread: OnDemandThread<ImageGcControl>;
  private owner: ImageGcOwner | undefined;
  private history: KnownImage[] | undefined;
  /** Counted by the threads of earlier rounds. */
  private counted: MetricSnapshot | undefined;
  /** The newest values of the thread that runs. */
  private counting: MetricSnapshot | undefined;
  private readonly rounds: Loop;
  private stopped = false;

  constructor(private readonly options: ImageGcThreadOptions) {
    const { context, init, clock, log } = options;
    const since = clock.monotonic();
    this.thread = superviseOnDemand<ImageGcControl, ImageGcInit, ImageGcUpcalls>({
      ...context.common("image-gc"),
      init: () => ({ ...init, since, history: this.history }),
      upcalls: {
        imagesInUse: (images) => this.owner?.upcalls.imagesInUse(images) ?? Promise.resolve(undefined),
        grant: (proposal) => this.owner?.upcalls.grant(proposal) ?? Promise.resolve([]),
        release: (generation, ids) => this.owner?.upcalls.release(generation, ids),
        known: (images) => {
          this.history = images;
        },
        warn: (reason, message) => this.owner?.upcalls.warn(reason, message),
      },
      onRunning: async (thread) => {
        const { collection } = await options.owner;
        this.owner = collection;
        collection.leases.threadStarted(thread.generation);
      },
      onExit: (exit) => {
        this.owner?.leases.threadGone();
        // Until the next generation of the thread has an owner, its upcalls return undefined.
        this.owner = undefined;
        if (this.counting !== undefined) this.counted = addCounters(this.counted, this.counting);
        this.counting = undefined;
        context.exited(exit);
      },
      beforeRest: async () => {
        await this.count();
      },
    });
    this.rounds = imageRounds({
      settled: () => this.settled(),
      collect: () => this.thread.use(ROUND_DEADLINE_MS, (call) => call.collect()),
      warn: (reason, message) => {
        void options.owner.then(({ collection }) => collection.upcalls.warn(reason, message));
      },
      clock,
      log,
    });
    void options.owner.then(() => {
      if (!this.stopped) this.rounds.start();
    });
  }

  /** The disk is short: removes every unused image. Rejects while main does not know all users. */
  async removeUnusedImages(): Promise<FreedImages> {
    if (!(await this.settled()))
      throw new OperatorError("not all users of images are known yet; try again in a moment");
    return this.thread.use(ROUND_DEADLINE_MS, (call) => call.removeUnused());
  }

  /** As of the last detection, in the order in which collection removes them. */
  unusedImages(): UnusedImage[] {
    return unusedImagesOf(this.history ?? [], this.options.clock);
  }

  /** For /metrics; nothing before the first round. */
  async metrics(): Promise<MetricSnapshot[]> {
    if (this.thread.state === "running") await this.count();
    return [this.counted, this.counting].flatMap((snapshot) => snapshot ?? []);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.thread.stop();
    await this.rounds.stop();
  }

  private async count(): Promise<void> {
    const { generation } = this.thread;
    const values = await this.thread.call.metrics();
    if (this.thread.generation === generation) this.counting = values;
  }

  private async settled(): Promise<boolean> {
    const { collection } = await this.options.owner;
    return (await collection.upcalls.imagesInUse([])) !== undefined;
  }
}

export function imageGcInit({ settings }: ThreadFacts): ImageGcThreadOptions["init"] {
  return {
    imageEndpoint: settings.runtime.imageServiceEndpoint,
    runtimeEndpoint: settings.runtime.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    listStreaming: settings.runtime.criListStreaming,
    criChannel: settings.criChannel,
    imageGCHighThresholdPercent: settings.images.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: settings.images.imageGCLowThresholdPercent,
    imageMinimumGCAgeMs: settings.images.imageMinimumGCAgeMs,
    imageMaximumGCAgeMs: settings.images.imageMaximumGCAgeMs,
    imagesByHandler: settings.images.runtimeClassInImageCriApi,
  };
}
