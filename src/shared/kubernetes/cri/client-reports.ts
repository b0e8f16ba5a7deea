// What a thread reports of its connection to the runtime: metrics of calls, and the end of our own channel.

import type { Logger } from "../../telemetry/log/logger.js";
import { criChannelMetrics } from "../../telemetry/metrics/cri-channel.js";
import { runtimeOperationsMetrics } from "../../telemetry/metrics/runtime-operations.js";
import type { ThreadRegistry } from "../../telemetry/metrics/thread-registry.js";
import type { CriClientOptions } from "./caller.js";

export type ClientReports = Required<Pick<CriClientOptions, "onCall" | "onFallback">>;

export function clientReports(registry: ThreadRegistry, log: Logger): ClientReports {
  const { recordCall } = runtimeOperationsMetrics(registry);
  const { recordFallback } = criChannelMetrics(registry);
  return {
    onCall: recordCall,
    onFallback: (error, endpoint) => {
      recordFallback();
      log.warn(
        { endpoint, reason: error.message },
        `the runtime at ${endpoint} broke HTTP/2: ${error.message}; this thread uses the channel of grpc-js until the kubelet restarts. Calls in flight failed and are tried again. If it comes again, set --cri-channel=grpc-js and report it`,
      );
    },
  };
}
