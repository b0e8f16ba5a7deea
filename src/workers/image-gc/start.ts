// Starts image garbage collection with its CRI connection and main.

import type { ImageGcControl, ImageGcInit, ImageGcUpcalls } from "../../shared/contracts/image-gc.js";
import { clientReports } from "../../shared/kubernetes/cri/client-reports.js";
import { createCriClient } from "../../shared/kubernetes/cri/client.js";
import { sandboxImage } from "../../shared/kubernetes/cri/sandbox-image.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { containerImages } from "./container-images.js";
import { ImageGc } from "./image-gc.js";
import { imageGcMetrics } from "./metrics.js";

export const startImageGc: StartWorker<ImageGcControl, ImageGcInit, ImageGcUpcalls> = (context) => {
  const { init, log, clock, upcalls, generation } = context;
  const registry = new ThreadRegistry("image-gc");
  watchThreadUsage(registry);
  const metrics = imageGcMetrics(registry);
  const reports = clientReports(registry, log);
  const clientOf = (endpoint: string) =>
    createCriClient({
      endpoint,
      channel: init.criChannel,
      runtimeRequestTimeoutMs: init.runtimeRequestTimeoutMs,
      listStreaming: init.listStreaming,
      clock,
      ...reports,
    });
  const images = clientOf(init.imageEndpoint);
  const runtime = init.runtimeEndpoint === init.imageEndpoint ? images : clientOf(init.runtimeEndpoint);
  const gc = new ImageGc(init, {
    cri: images,
    main: upcalls,
    generation,
    containerImages: (signal) => containerImages(runtime, signal),
    sandboxImage: () => sandboxImage(runtime, log),
    clock,
    log,
    metrics,
  });
  return Promise.resolve({
    control: {
      collect: () => gc.round(),
      removeUnused: () => gc.removeUnused(),
      metrics: () => registry.exportSnapshot(),
    },
    async drain() {
      await gc.stop();
      images.close();
      if (runtime !== images) runtime.close();
    },
  });
};
