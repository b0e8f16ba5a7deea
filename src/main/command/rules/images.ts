// Collection and pulling of images.

import { formatDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import { durationNotNegative, inRange, needsGate } from "./check.js";
import type { ConfigView } from "./rule.js";

export function* images(config: ConfigView): Iterable<Violation> {
  yield* thresholds(config);
  yield* ages(config);
  yield* pulls(config);
}

function* thresholds(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "imageGCHighThresholdPercent", 0, 100, "percentage");
  yield* inRange(config, "imageGCLowThresholdPercent", 0, 100, "percentage");
  const low = config.get("imageGCLowThresholdPercent");
  const high = config.get("imageGCHighThresholdPercent");
  if (low === undefined || high === undefined || low < high) return;
  yield {
    path: "imageGCLowThresholdPercent",
    message: `${low} is not below imageGCHighThresholdPercent, which is ${high}: image garbage collection would have no effect`,
  };
}

function* ages(config: ConfigView): Iterable<Violation> {
  yield* durationNotNegative(config, "imageMinimumGCAge");
  yield* durationNotNegative(config, "imageMaximumGCAge");
  const maximum = config.get("imageMaximumGCAge") ?? 0;
  const minimum = config.get("imageMinimumGCAge") ?? 0;
  if (maximum !== 0 && !config.gate("ImageMaximumGCAge")) yield needsGate("imageMaximumGCAge", "ImageMaximumGCAge");
  if (maximum > 0 && maximum <= minimum) {
    yield {
      path: "imageMaximumGCAge",
      message: `${formatDuration(maximum)} is not longer than imageMinimumGCAge, which is ${formatDuration(minimum)}; 0 turns it off`,
    };
  }
}

function* pulls(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "maxParallelImagePulls", 1);
  const parallel = config.get("maxParallelImagePulls") ?? 1;
  if (parallel > 1 && config.get("serializeImagePulls") === true) {
    yield {
      path: "maxParallelImagePulls",
      message: `${parallel} parallel pulls contradict serializeImagePulls: true; set serializeImagePulls to false or this field to 1`,
    };
  }
}
