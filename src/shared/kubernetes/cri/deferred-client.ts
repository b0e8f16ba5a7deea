// A thread's connection to the runtime that its first call makes, because it loads gRPC. The thread's registry counts
// the calls.

import { Deferred } from "../../base/turns/deferred.js";
import type { Logger } from "../../telemetry/log/logger.js";
import type { ThreadRegistry } from "../../telemetry/metrics/thread-registry.js";
import type { CriChannelKind } from "./channel-kind.js";
import { clientReports } from "./client-reports.js";
import type { CriClient, CriClientOptions } from "./client.js";

type DeferredClientOptions = Pick<
  CriClientOptions,
  "endpoint" | "runtimeRequestTimeoutMs" | "listStreaming" | "clock"
> & { channel: CriChannelKind; registry: ThreadRegistry; log: Logger };

export function deferredCriClient({ registry, log, ...options }: DeferredClientOptions): Deferred<CriClient> {
  return new Deferred({
    name: "the connection to the runtime",
    when: "first use",
    load: async () => {
      const { createCriClient } = await import("./client.js");
      return createCriClient({ ...options, ...clientReports(registry, log) });
    },
    end: (client) => client.close(),
  });
}
