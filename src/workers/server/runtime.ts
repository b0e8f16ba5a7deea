// The server thread's own connection to the runtime, made with the first request that needs it: it brings all of gRPC.
import type { Clock } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import { runtimeOperationsMetrics } from "../../shared/metrics/runtime-operations.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";

/** What requests ask of the runtime. */
export type ServedRuntime = Pick<
  CriClient,
  "exec" | "attach" | "portForward" | "execSync" | "checkpointContainer" | "listContainers" | "listPodSandbox"
>;

export interface RuntimeOptions {
  endpoint: string;
  runtimeRequestTimeoutMs: number;
  clock: Clock;
  registry: ThreadRegistry;
}

export class LazyRuntime {
  private client: Promise<CriClient> | undefined;

  constructor(private readonly options: RuntimeOptions) {}

  get(): Promise<ServedRuntime> {
    return (this.client ??= this.connect());
  }

  async close(): Promise<void> {
    (await this.client)?.close();
  }

  private async connect(): Promise<CriClient> {
    const { endpoint, runtimeRequestTimeoutMs, clock, registry } = this.options;
    const { createCriClient } = await import("../../shared/cri/client.js");
    const operations = runtimeOperationsMetrics(registry);
    return createCriClient({
      endpoint,
      runtimeRequestTimeoutMs,
      clock,
      onCall: ({ operation, durationMs, error }) =>
        operations.recordCall({ operation, durationMs, error: error !== undefined }),
    });
  }
}
