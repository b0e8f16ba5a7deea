// Helpers for tests of the client: a log that is kept, a configuration for a test server, pods.

import { systemClock, type Clock } from "../../../../../src/shared/base/clock/clock.js";
import { createApiClient, type ConnectedClient } from "../../../../../src/shared/kubernetes/api/client/client.js";
import type { ClientConfig } from "../../../../../src/shared/kubernetes/api/client/config.js";
import type { ClientLog } from "../../../../../src/shared/kubernetes/api/client/credentials/identity.js";
import type { RestClientMetrics } from "../../../../../src/shared/telemetry/metrics/rest-client.js";
import { startApiServer, type ServerOptions, type TestApiServer } from "../../../../support/api-server.js";

export interface KeptLog {
  log: ClientLog;
  lines: string[];
}

export function keptLog(): KeptLog {
  const lines: string[] = [];
  const keep = (fields: unknown, message?: unknown): void => {
    const { err } = fields as { err?: unknown };
    lines.push([String(message ?? fields), err instanceof Error ? err.message : ""].join(" ").trim());
  };
  return { log: { info: keep, warn: keep, error: keep }, lines };
}

export interface Rig {
  server: TestApiServer;
  client: ConnectedClient;
  lines: string[];
}

export interface RigOptions extends Partial<ServerOptions> {
  config?: Partial<ClientConfig>;
  limits?: Parameters<ConnectedClient["sharing"]>[0];
  clock?: Clock;
  metrics?: RestClientMetrics;
}

/** A server and its client. Both end when the rig is disposed of. */
export async function startRig(options: RigOptions): Promise<Rig & AsyncDisposable> {
  const server = await startApiServer({ protocol: "http", answer: () => undefined, ...options });
  const { log, lines } = keptLog();
  const config: ClientConfig = { origin: "test.kubeconfig", server: server.url, ...options.config };
  const { clock = systemClock, metrics, limits } = options;
  const measured = metrics === undefined ? {} : { metrics };
  const client = createApiClient({ config, clock, log, qps: -1, ...limits, ...measured });
  return {
    server,
    client,
    lines,
    [Symbol.asyncDispose]: async () => {
      client.close();
      await server.close();
    },
  };
}
