// Collaborators that do nothing: a logger, events, traces, metrics and credentials for tests that do not look at them.

import type { ImageCredentials } from "../../src/main/containers/images/credentials.js";
import type { EventRecorder } from "../../src/main/model/event-recorder.js";
import type { PodTrace } from "../../src/main/model/pod-trace.js";
import type { DeviceMetrics } from "../../src/main/resources/devices/metrics.js";
import type { CsiMetrics } from "../../src/main/volumes/csi/metrics.js";
import type { VolumeMetrics } from "../../src/main/volumes/metrics.js";
import { createLogger } from "../../src/shared/telemetry/log/logger.js";

/** A logger that writes nothing. keptLog() of sources-kit keeps its lines. */
export const silentLog = createLogger({ thread: "test", level: "silent" });

export const noEvents: EventRecorder = { pod: () => undefined, node: () => undefined };

export const noTrace: PodTrace = { startStage: () => () => undefined };

export const noCsiMetrics: CsiMetrics = { call: () => undefined };

export const noVolumeMetrics: VolumeMetrics = {
  operation: () => undefined,
  mounted: () => undefined,
  reconstructed: () => undefined,
  watchTotals: () => undefined,
};

export const noDeviceMetrics: DeviceMetrics = { registered: () => undefined, allocated: () => undefined };

export const noCredentials: ImageCredentials = {
  forImage: () => Promise.resolve([]),
  ofPod: () => Promise.resolve([]),
  warnOfMissing: () => Promise.resolve(),
};
