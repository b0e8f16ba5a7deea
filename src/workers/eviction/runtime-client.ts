// The connection to the runtime, for its figures of writable layers. Loading this file loads gRPC: it is imported when
// first needed.

import type { Clock } from "../../shared/base/clock/clock.js";
import { createCriClient } from "../../shared/kubernetes/cri/client.js";
import type { RuntimeOperationsMetrics } from "../../shared/telemetry/metrics/runtime-operations.js";
import type { LayersRuntime } from "./writable-layers.js";

export function connectRuntime(options: {
  endpoint: string;
  runtimeRequestTimeoutMs: number;
  listStreaming: boolean;
  operations: RuntimeOperationsMetrics;
  clock: Clock;
}): LayersRuntime {
  const { operations, ...rest } = options;
  const client = createCriClient({
    ...rest,
    onCall: operations.recordCall,
  });
  return {
    listContainerStats: (_request, callOptions) => client.listContainerStats({}, callOptions),
    close: () => client.close(),
  };
}
