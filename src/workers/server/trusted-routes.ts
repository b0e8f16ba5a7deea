// The routes that only trusted clients reach: behind the authenticated port, and on the socket of the nodelet command.
// Each has its own limits of streams and followers.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { ThreadSnapshot } from "../../shared/base/queue/board.js";
import type { Deferred } from "../../shared/base/turns/deferred.js";
import type { ConfigzBodies, HandlerInit, ServerThreadName, ServerUpcalls } from "../../shared/contracts/server.js";
import { queryOf } from "../../shared/io/http/target.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import { flagsRoute } from "./debug/flags-route.js";
import { pprofRoutes } from "./debug/pprof.js";
import { Profiles } from "./debug/profiles.js";
import { zPages } from "./debug/z-pages.js";
import type { Route } from "./http/answer.js";
import { replyExact } from "./http/reply.js";
import { nodeLogsRoutes } from "./logs/node/node-logs.js";
import { containerLogsRoute } from "./logs/pods/container-logs.js";
import type { ReaderTurns } from "./logs/pods/reader-turns.js";
import { checkpointRoute } from "./pods/checkpoint.js";
import { manifestRoutes, type LazyManifestAnswers } from "./pods/manifests/routes.js";
import type { MirrorUid } from "./pods/pod-lookup.js";
import { PodShares } from "./pods/pod-shares.js";
import { runRoutes } from "./pods/run.js";
import { runningPodsRoutes } from "./pods/running-pods.js";
import type { ServedRuntime } from "./pods/runtime.js";
import type { ConnectionLimits } from "./ports/https-server.js";
import { disabledDebugRoutes, disabledTree, nodeRoutes, type NodeRouteDeps } from "./routes.js";
import type { StreamMetrics } from "./streams/metrics.js";
import { streamRoutes } from "./streams/stream-routes.js";
import { Tunnels } from "./streams/tunnel.js";

const LOG_DIRECTORY = "/var/log";

export interface TrustedDeps {
  /** The thread of these routes. */
  thread: ServerThreadName;
  init: HandlerInit;
  node: NodeRouteDeps;
  configz: () => ConfigzBodies;
  upcalls: Pick<Remote<ServerUpcalls>, "mirrorUid" | "setVerbosity">;
  threads: () => readonly ThreadSnapshot[];
  runtime: Pick<Deferred<ServedRuntime>, "get">;
  limits: Pick<ConnectionLimits, "streams" | "followers" | "followerWatches">;
  /** Where the node's logs are; default /var/log. */
  logDirectory?: string | undefined;
  streamMetrics: StreamMetrics;
  /** Shared by all readers of logs on this thread. */
  logReaders: ReaderTurns;
  /** Absent: the manifest API is off. */
  manifests?: LazyManifestAnswers | undefined;
  clock: Clock;
  log: Logger;
}

export class TrustedRoutes {
  readonly routes: Route[];
  private readonly tunnels: Tunnels;
  private readonly followers: PodShares;
  private readonly watches: PodShares;

  constructor(private readonly deps: TrustedDeps) {
    const { init, limits, node, clock } = deps;
    this.followers = new PodShares(limits.followers);
    this.watches = new PodShares(limits.followerWatches);
    this.tunnels = new Tunnels({
      limit: limits.streams,
      idleTimeoutMs: init.streamingConnectionIdleTimeoutMs,
      clock,
    });
    const { manifests } = deps;
    const always = [...nodeRoutes(node), ...(manifests === undefined ? [] : manifestRoutes(manifests))];
    this.routes = init.enableDebuggingHandlers
      ? [...always, ...this.debugRoutes()]
      : [...always, ...disabledDebugRoutes()];
  }

  /** Ends open streams. */
  close(): void {
    this.tunnels.close();
  }

  private debugRoutes(): Route[] {
    const { thread, init, node, configz, upcalls, threads, logDirectory = LOG_DIRECTORY, clock, log } = this.deps;
    const { pods } = node;
    const { gates, podLogsDir, checkpointsDir } = init;
    const runtime = (): Promise<ServedRuntime> => this.deps.runtime.get();
    const mirrorUid: MirrorUid = (namespace, name) => upcalls.mirrorUid(namespace, name);
    const routes: Route[] = [
      ...streamRoutes({
        pods,
        runtime,
        mirrorUid,
        tunnels: this.tunnels,
        extendWebSockets: gates.extendWebSocketsToKubelet,
        metrics: this.deps.streamMetrics,
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
        turns: this.deps.logReaders,
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
        ? pprofRoutes({ profiles: new Profiles(clock), own: thread, threads: () => threadsText(threads()) })
        : disabledTree("debug/pprof", "profiling endpoint is disabled.")),
      flagsRoute(init.enableDebugFlagsHandler, upcalls),
      configzRoute(configz),
    ];
    return [...routes, ...zPages(init, routes, clock)];
  }
}

/**
 * /configz: the effective configuration; with ?origin=1 also the origin of each value. Authenticated port only, as
 * upstream.
 */
function configzRoute(bodies: () => ConfigzBodies): Route {
  return {
    path: "/configz",
    answer: (_request, response, { target }) => {
      const wantsOrigins = /^(1|true|t)$/i.test(queryOf(target).get("origin") ?? "");
      replyExact(response, wantsOrigins ? bodies().withOrigins : bodies().plain, "application/json");
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
