// All that is behind the authenticated port, put together: routes, the connection to the runtime, open streams.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { ThreadSnapshot } from "../../shared/base/queue/board.js";
import type { Deferred } from "../../shared/base/turns/deferred.js";
import type {
  ConfigzBodies,
  ListenAddress,
  SecureInit,
  ServerThreadName,
  ServerUpcalls,
} from "../../shared/contracts/server.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import { Authorizer } from "./auth/authorizer.js";
import { serverAuthMetrics } from "./auth/metrics.js";
import { Tokens } from "./auth/tokens.js";
import type { Route } from "./http/answer.js";
import { Router } from "./http/router.js";
import type { ReaderTurns } from "./logs/pods/reader-turns.js";
import { httpMetrics } from "./metrics/http-metrics.js";
import type { LazyManifestAnswers } from "./pods/manifests/routes.js";
import type { ServedRuntime } from "./pods/runtime.js";
import { Guard } from "./ports/guard.js";
import { CONNECTION_LIMITS, type ConnectionLimits } from "./ports/https-server.js";
import { SecurePort, type PortSide } from "./ports/secure-port.js";
import type { NodeRouteDeps } from "./routes.js";
import { streamMetrics } from "./streams/metrics.js";
import { TrustedRoutes } from "./trusted-routes.js";

export interface SecureServerOptions {
  thread: ServerThreadName;
  init: SecureInit;
  address: string;
  nodeName: string;
  node: NodeRouteDeps;
  configz: () => ConfigzBodies;
  upcalls: Pick<Remote<ServerUpcalls>, "mirrorUid" | "setVerbosity">;
  threads: () => readonly ThreadSnapshot[];
  api: () => Promise<Pick<ApiClient, "create">>;
  /** Absent: the manifest API is off. */
  manifests?: LazyManifestAnswers | undefined;
  /** Not this one's to close. */
  runtime: Pick<Deferred<ServedRuntime>, "get">;
  /** Shared by all readers of logs on this thread. */
  logReaders: ReaderTurns;
  /** Those of the status page, where it is on. */
  pageRoutes?: readonly Route[] | undefined;
  /** Other limits than the usual ones, for tests that can't wait. */
  limits?: Partial<ConnectionLimits>;
  /** Directory of the node's logs; default /var/log. */
  logDirectory?: string;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export class SecureServer {
  private readonly port: SecurePort;
  private readonly trusted: TrustedRoutes;

  constructor(options: SecureServerOptions) {
    const { init, address, node, configz, upcalls, threads, runtime, registry, clock, log } = options;
    const limits = { ...CONNECTION_LIMITS, ...options.limits };
    this.trusted = new TrustedRoutes({
      thread: options.thread,
      init,
      node,
      configz,
      upcalls,
      threads,
      runtime,
      limits,
      logDirectory: options.logDirectory,
      streamMetrics: streamMetrics(registry),
      logReaders: options.logReaders,
      manifests: options.manifests,
      clock,
      log,
    });
    const routes = [...this.trusted.routes, ...(options.pageRoutes ?? [])];
    this.port = new SecurePort({
      name: "authenticated",
      changedBy: "--port and --address (config fields port and address; enableServer: false turns it off)",
      init,
      address,
      gate: (port) => guardOf(options, routes, port),
      limits,
      clock,
      log,
    });
  }

  start(): Promise<void> {
    return this.port.start();
  }

  listening(): Promise<ListenAddress | undefined> {
    return this.port.listening();
  }

  async close(): Promise<void> {
    this.trusted.close();
    await this.port.close();
  }
}

type GuardInit = Pick<SecureServerOptions, "nodeName" | "api" | "registry" | "clock" | "log"> & {
  init: Pick<SecureInit, "authentication" | "authorization" | "reviews">;
};

/** Authentication by certificate and token, authorization by the node's subresources, and the routes. @internal */
export function guardOf(options: GuardInit, routes: readonly Route[], port: PortSide): Guard {
  const { init, nodeName, api, registry, clock, log } = options;
  const metrics = serverAuthMetrics(registry, clock);
  const { anonymous, webhook, cacheTTLMs } = init.authentication;
  return new Guard({
    ...port,
    authenticator: {
      anonymous,
      tokens: webhook ? new Tokens({ api, cacheTTLMs, limits: init.reviews, clock, metrics }) : undefined,
    },
    authorizer: new Authorizer({
      authorization: init.authorization,
      limits: init.reviews,
      nodeName,
      api,
      clock,
      metrics,
    }),
    http: httpMetrics(registry, clock, "readwrite"),
    metrics,
    clock,
    router: new Router(routes, log, "continue"),
  });
}
