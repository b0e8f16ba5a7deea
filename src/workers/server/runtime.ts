// The server thread's own connection to the runtime. The first request that needs it makes it, because it loads gRPC.

import type { Clock } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import type { RuntimeOperationsMetrics } from "../../shared/metrics/runtime-operations.js";
import { Deferred } from "../../shared/turns/deferred.js";

/** CRI calls that requests need, including the image service. */
export type ServedRuntime = Pick<
  CriClient,
  | "exec"
  | "attach"
  | "portForward"
  | "execSync"
  | "checkpointContainer"
  | "listContainers"
  | "listPodSandbox"
  | "podSandboxStatus"
  | "listContainerStats"
  | "listPodSandboxStats"
  | "listMetricDescriptors"
  | "listPodSandboxMetrics"
  | "imageFsInfo"
  | "listImages"
  | "status"
>;

export interface RuntimeOptions {
  endpoint: string;
  runtimeRequestTimeoutMs: number;
  listStreaming: boolean;
  clock: Clock;
  /** Counts every call; one for all connections of the thread. */
  operations: RuntimeOperationsMetrics;
}

export function deferredRuntime(options: RuntimeOptions): Deferred<CriClient> {
  const { endpoint, runtimeRequestTimeoutMs, listStreaming, clock, operations } = options;
  return new Deferred({
    name: "the connection to the runtime",
    when: "first use",
    load: async () => {
      const { createCriClient } = await import("../../shared/cri/client.js");
      return createCriClient({
        endpoint,
        runtimeRequestTimeoutMs,
        listStreaming,
        clock,
        onCall: operations.recordCall,
      });
    },
    end: (client) => client.close(),
  });
}
