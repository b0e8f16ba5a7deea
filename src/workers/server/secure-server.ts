// All that is behind the authenticated port, put together: routes, the connection to the runtime, open streams.
import type { ApiClient } from "../../shared/api/client/port.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { ConfigzBodies, ListenAddress, SecureInit, ServerUpcalls } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import { streamMetrics } from "./streams/metrics.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { ThreadSnapshot } from "../../shared/queue/board.js";
import type { Route } from "./answer.js";
import { checkpointRoute } from "./checkpoint.js";
import { containerLogsRoute } from "./pod-logs/container-logs.js";
import { flagsRoute } from "./debug/flags.js";
import { pprofRoutes } from "./debug/pprof.js";
import { Profiles } from "./debug/profiles.js";
import { nodeLogsRoutes } from "./node-logs.js";
import type { MirrorUid } from "./pod-lookup.js";
import { PodShares } from "./pod-shares.js";
import { disabledDebugRoutes, disabledTree, nodeRoutes, type NodeParts } from "./routes.js";
import { runRoutes } from "./run.js";
import { runningPodsRoutes } from "./running-pods.js";
import type { LazyRuntime, ServedRuntime } from "./runtime.js";
import { SecurePort } from "./secure-port.js";
import { streamRoutes } from "./streams.js";
import { Tunnels } from "./streams/tunnel.js";
import { CONNECTION_LIMITS, type ConnectionLimits } from "./https-server.js";
import { zPages } from "./z-pages.js";
import { queryOf, replyText } from "./reply.js";
import type { Remote } from "../../shared/thread/remote-calls.js";

const LOG_DIRECTORY = "/var/log";

export interface SecureServerOptions {
  init: SecureInit;
  address: string;
  nodeName: string;
  node: NodeParts;
  configz: () => ConfigzBodies;
  upcalls: Remote<ServerUpcalls>;
  threads: () => readonly ThreadSnapshot[];
  api: () => Promise<Pick<ApiClient, "create">>;
  /** Not this one's to close. */
  runtime: Pick<LazyRuntime, "get">;
  /** Other limits than the usual ones, for tests that can't wait. */
  limits?: Partial<ConnectionLimits>;
  /** Where the node's logs are; default /var/log. */
  logDirectory?: string;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export class SecureServer {
  private readonly port: SecurePort;
  private readonly runtime: Pick<LazyRuntime, "get">;
  private readonly tunnels: Tunnels;
  private readonly followers: PodShares;
  private readonly watches: PodShares;

  constructor(private readonly options: SecureServerOptions) {
    const { init, address, nodeName, api, registry, clock, log } = options;
    this.runtime = options.runtime;
    const limits = { ...CONNECTION_LIMITS, ...options.limits };
    this.followers = new PodShares(limits.followers);
    this.watches = new PodShares(limits.followerWatches);
    this.tunnels = new Tunnels({
      limit: limits.streams,
      idleTimeoutMs: init.streamingConnectionIdleTimeoutMs,
      clock,
    });
    this.port = new SecurePort({ init, address, nodeName, routes: this.routes(), limits, api, registry, clock, log });
  }

  start(): Promise<void> {
    return this.port.start();
  }

  listening(): Promise<ListenAddress | undefined> {
    return this.port.listening();
  }

  async close(): Promise<void> {
    this.tunnels.close();
    await this.port.close();
  }

  private routes(): Route[] {
    const { init, node } = this.options;
    const always = nodeRoutes(node);
    return init.enableDebuggingHandlers ? [...always, ...this.debugRoutes()] : [...always, ...disabledDebugRoutes()];
  }

  private debugRoutes(): Route[] {
    const { init, node, configz, upcalls, threads, logDirectory = LOG_DIRECTORY, registry, clock, log } = this.options;
    const { pods } = node;
    const { gates, podLogsDir, checkpointsDir } = init;
    const runtime = (): Promise<ServedRuntime> => this.runtime.get();
    const mirrorUid: MirrorUid = (namespace, name) => upcalls.mirrorUid(namespace, name);
    const routes: Route[] = [
      ...streamRoutes({
        pods,
        runtime,
        mirrorUid,
        tunnels: this.tunnels,
        extendWebSockets: gates.extendWebSocketsToKubelet,
        metrics: streamMetrics(registry),
        clock,
      }),
      ...runRoutes({ pods, runtime, mirrorUid }),
      ...runningPodsRoutes(runtime),
      containerLogsRoute({
        pods,
        podLogsDir,
        splitStreams: gates.podLogsQuerySplitStreams,
        followers: this.followers,
        watches: this.watches,
        clock,
        log,
      }),
      ...(gates.containerCheckpoint ? [checkpointRoute({ pods, runtime, checkpointsDir, clock })] : []),
      ...nodeLogsRoutes({
        enabled: init.enableSystemLogHandler,
        queries: init.enableSystemLogQuery,
        logDirectory,
        clock,
      }),
      ...(init.enableProfilingHandler
        ? pprofRoutes({ profiles: new Profiles(clock), threads: () => threadsText(threads()) })
        : disabledTree("debug/pprof", "profiling endpoint is disabled.")),
      flagsRoute(init.enableDebugFlagsHandler, upcalls),
      configzRoute(configz),
    ];
    return [...routes, ...zPages(init, routes, clock)];
  }
}

/** /configz: the effective configuration; with ?origin=1 also the origin of each value. Authenticated port only, as upstream. */
function configzRoute(bodies: () => ConfigzBodies): Route {
  return {
    path: "/configz",
    methods: ["GET"],
    answer: (request, response) => {
      const wantsOrigins = /^(1|true|t)$/i.test(queryOf(request).get("origin") ?? "");
      replyText(response, wantsOrigins ? bodies().withOrigins : bodies().plain, "application/json");
    },
  };
}

/** The threads of this process with their latest board entries, as text. */
function threadsText(threads: readonly ThreadSnapshot[]): string {
  const lines = threads.map(
    ({ thread, state, generation, ageMs, loopDelayMaxMicros, queueDepth, op, opAgeMs }) =>
      `${thread}: ${state}, start ${generation}, last tick ${Math.round(ageMs)} ms ago, ` +
      `loop delay ${Math.round(loopDelayMaxMicros / 1000)} ms at most, ${queueDepth} queued` +
      (op === 0 ? "" : `, operation ${op} for ${Math.round(opAgeMs)} ms`),
  );
  return `threads: total ${threads.length}\n${lines.join("\n")}\n`;
}
