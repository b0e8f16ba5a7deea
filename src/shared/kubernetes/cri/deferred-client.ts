// A thread's connection to the runtime that its first call makes, because it loads gRPC. The thread's registry counts
// the calls.

import { Deferred } from "../../base/turns/deferred.js";
import { runtimeOperationsMetrics } from "../../telemetry/metrics/runtime-operations.js";
import type { ThreadRegistry } from "../../telemetry/metrics/thread-registry.js";
import type { CriClient, CriClientOptions } from "./client.js";

type DeferredClientOptions = Pick<
  CriClientOptions,
  "endpoint" | "runtimeRequestTimeoutMs" | "listStreaming" | "clock"
> & { registry: ThreadRegistry };

export function deferredCriClient({ registry, ...options }: DeferredClientOptions): Deferred<CriClient> {
  return new Deferred({
    name: "the connection to the runtime",
    when: "first use",
    load: async () => {
      const { createCriClient } = await import("./client.js");
      return createCriClient({ ...options, onCall: runtimeOperationsMetrics(registry).recordCall });
    },
    end: (client) => client.close(),
  });
}
