// The image-gc thread as main runs it. Invariant: grants end with the thread that got them; no thread runs before
// the sync path can answer its upcalls.

import type { FreedImages, ImageGcControl, ImageGcInit, ImageGcUpcalls } from "../../shared/contracts/image-gc.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadFacts, ThreadHost } from "./thread-host.js";
import type { ImageGcOwner } from "./thread-owner.js";

export interface ImageGcThreadOptions {
  context: ThreadHost<"image-gc">;
  init: ImageGcInit;
  /** Answers from the moment it is there. */
  owner: Promise<{ collection: ImageGcOwner }>;
}

/** Many images, each of which may take the runtime seconds. */
const REMOVE_ALL_DEADLINE_MS = 15 * 60_000;

export class ImageGcThread {
  readonly thread: SupervisedThread<ImageGcControl>;
  private owner: ImageGcOwner | undefined;

  constructor(options: ImageGcThreadOptions) {
    this.thread = superviseThread<ImageGcControl, ImageGcInit, ImageGcUpcalls>({
      ...options.context.common("image-gc"),
      init: () => options.init,
      upcalls: {
        imagesInUse: (images) => this.owner?.upcalls.imagesInUse(images) ?? Promise.resolve(undefined),
        grant: (proposal) => this.owner?.upcalls.grant(proposal) ?? Promise.resolve([]),
        release: (generation, ids) => this.owner?.upcalls.release(generation, ids),
        containersAlive: (ids) => this.owner?.upcalls.containersAlive(ids) ?? Promise.resolve(undefined),
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
        options.context.exited(exit);
      },
    });
  }

  /**
   * The disk is short: removes every unused image. Rejects while the thread does not run, or main does not know all
   * users yet.
   */
  removeUnusedImages(): Promise<FreedImages> {
    return this.thread.within(REMOVE_ALL_DEADLINE_MS).removeUnused();
  }

  /** For /metrics. */
  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}

/** Image detection and collection, and container collection: upstream's periods. */
const IMAGE_PERIOD_MS = 5 * 60_000;
const LINK_PERIOD_MS = 60_000;

export function imageGcInit({ settings, directories }: ThreadFacts): ImageGcInit {
  return {
    imageEndpoint: settings.runtime.imageServiceEndpoint,
    runtimeEndpoint: settings.runtime.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    listStreaming: settings.runtime.criListStreaming,
    imageGCHighThresholdPercent: settings.images.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: settings.images.imageGCLowThresholdPercent,
    imageMinimumGCAgeMs: settings.images.imageMinimumGCAgeMs,
    imageMaximumGCAgeMs: settings.images.imageMaximumGCAgeMs,
    imagePeriodMs: IMAGE_PERIOD_MS,
    imagesByHandler: settings.images.runtimeClassInImageCriApi,
    linkPeriodMs: LINK_PERIOD_MS,
    containerLogsDir: directories.containerLogs,
  };
}
