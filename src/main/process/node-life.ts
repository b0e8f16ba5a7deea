// Start and stop of the kubelet. The start takes the lock file and checks the machine. Then it starts threads, the sync
// path and the link to systemd. It waits for a stop request, a restart or a fatal error, then stops everything in
// reverse order.
// Invariant: containers keep running after every kind of stop.

import { hostname } from "node:os";
import { systemClock, type Clock } from "../../shared/base/clock/clock.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { enableNativeHistograms, ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import type { RunningTracing } from "../../shared/telemetry/tracing/start-tracing.js";
import type { TracingConfig } from "../../shared/telemetry/tracing/tracing-config.js";
import type { Settings } from "../command/settings.js";
import { nodeSettingsOf } from "../kubelet/node-settings.js";
import { nodeConfigFiles, servingFiles } from "../node/certificates/certificate-files.js";
import { checkSwap } from "../node/swap.js";
import { NodeThreads } from "../threads/node-threads.js";
import { spawnWorkerThread } from "../threads/spawn-worker.js";
import { createTasksPool } from "../threads/tasks-pool.js";
import type { ThreadFacts } from "../threads/thread-host.js";
import { tracesIn } from "../threads/traced-threads.js";
import { checkCluster } from "./cluster.js";
import { directoriesOf, makeCertDir, makeDirectories } from "./directories.js";
import type { DynamicConfig } from "./dynamic-config/dynamic-config.js";
import type { FollowDeps } from "./dynamic-follow.js";
import { watchGates } from "./gate-metrics.js";
import { nodeName } from "./node-identity.js";
import { runOnce } from "./run-once.js";
import { checkServerAuth } from "./server-auth.js";
import { shareRootDirectory } from "./shared-root.js";
import { linkToSystemd } from "./systemd/systemd.js";
import { watchdogInterval } from "./systemd/watchdog.js";
import { acquireLockFile, type HeldLock } from "./unix/lock-file.js";
import type { Logging } from "./unix/logging.js";
import { checkPermissions } from "./unix/permissions.js";
import { AGENT_NICENESS, raisePriority, setMaxOpenFiles, setOomScoreAdj } from "./unix/process-limits.js";
import type { StopRequest } from "./unix/signals.js";

export interface Outcome {
  exitCode: number;
  /** For standard output. */
  report?: string;
  /** The reason for a restart in place; undefined: the process exits. */
  restart?: string;
}

export interface LifeDeps {
  log: Logger;
  logging: Logging;
  stop: StopRequest;
  dynamic: DynamicConfig | undefined;
}

export async function runNode(given: Settings, deps: LifeDeps): Promise<Outcome> {
  const { log, stop } = deps;
  const settings =
    given.apiServerPort === 0 ? given : await (await import("./own-api.js")).withOwnApi(given, systemClock, log);
  raisePriority(AGENT_NICENESS, log);
  checkPermissions(process.getuid?.(), log);
  const feedEveryMs = settings.config.gate("SystemdWatchdog") ? watchdogInterval(process.env) : undefined;
  const lock = await acquireLockFile({
    path: settings.lockFile,
    exitOnContention: settings.exitOnLockContention,
    log,
    signal: stop.aborted,
  });
  try {
    const inCluster = await checkCluster(settings, log);
    checkServerAuth({ kubeconfig: settings.kubeconfig, ...settings.server });
    await checkSwap(settings.cgroups.failSwapOn);
    if (settings.cgroups.protectKernelDefaults)
      await (await import("../node/kernel-defaults.js")).checkKernelDefaults();
    return await withNode(settings, deps, { lock, feedEveryMs, inCluster });
  } finally {
    await lock.release();
  }
}

async function withNode(
  settings: Settings,
  deps: LifeDeps,
  { lock, feedEveryMs, inCluster }: { lock: HeldLock; feedEveryMs: number | undefined; inCluster: boolean },
): Promise<Outcome> {
  const { log, logging, stop, dynamic } = deps;
  const [clock, startedAtMs] = [systemClock, systemClock.now()];
  const name = nodeName(settings.hostnameOverride, hostname());
  let end: (outcome: Outcome) => void = () => undefined;
  const ended = new Promise<Outcome>((resolve) => {
    end = resolve;
  });
  const registry = await makeRegistry(settings);
  const directories = directoriesOf(settings.rootDir, settings.containerLogs.podLogsDir);
  // The directory exists before the server thread reads its certificate from it.
  if (settings.server.enableServer) await makeCertDir(settings.certDir, directories.root);
  const tracing = settings.tracing && { ...settings.tracing, hostName: name };
  const facts = factsOf(settings, { nodeName: name, directories, tracing });
  const giveUp = (reason: string, fields: object = {}): void => {
    log.error(fields, `the kubelet cannot continue: ${reason}`);
    end({ exitCode: 1 });
  };
  await using threads = new NodeThreads({
    facts,
    registry,
    clock,
    log,
    spawn: spawnWorkerThread,
    setVerbosity: (verbosity) => setVerbosity(logging, verbosity, log),
    onGiveUp: (error) => giveUp(error.message, { err: error }),
  });
  if (settings.docker.mode === "node") (await import("./docker-runtime.js")).startDockerRuntime(settings, threads);
  if (settings.apiServerPort !== 0) (await import("./own-api.js")).startOwnApi(settings, threads, clock, log);
  setMaxOpenFiles(settings.cgroups.maxOpenFiles, log);
  const [{ buildAgent }, nodeSettings, mainTracing] = await Promise.all([
    import("../kubelet/agent.js"),
    nodeSettingsOf(settings, name, directories.containerLogs),
    traceMain(tracing, clock, log),
    makeDirectories(directories).then(() => shareRootDirectory(directories.root, log)),
    setOomScoreAdj(settings.cgroups.oomScoreAdj, log),
  ]);
  const agent = await buildAgent({
    settings: nodeSettings,
    threads,
    createTasksPool,
    startOtherThreads: () => startOthers(logging, threads),
    registry,
    clock,
    log,
    serving: settings.server.enableServer ? servingFiles(settings) : undefined,
    cluster: inCluster ? { settings, startedAtMs, giveUp } : undefined,
    configuration: dynamic,
  });
  // Until here an uncaught error exits the process, so that the start is repeated. From here on pods and clients
  // depend on this process.
  logging.surviveUncaught((origin) => threads.context.uncaughtInMain(origin));
  const systemd = linkToSystemd({ node: agent, threads, clock, log, feedEveryMs });
  const followed = await follow(deps, { threads, registry, events: agent.events, inCluster }, (reason) =>
    end({ exitCode: 0, restart: reason }),
  );
  endWith({ stop, lock, log }, end);
  if (settings.runOnce) void runOnce(agent, clock, stop.aborted).then(end);
  const outcome = await ended;
  systemd?.stopping();
  await followed?.stop();
  await agent.stop();
  await mainTracing?.stop();
  await systemd?.end();
  return outcome;
}

function startOthers(logging: Logging, threads: NodeThreads): void {
  logging.startThread();
  threads.startOthers();
}

async function makeRegistry({ config }: Settings): Promise<ThreadRegistry> {
  if (config.gate("NativeHistograms")) await enableNativeHistograms();
  const registry = new ThreadRegistry("main");
  watchThreadUsage(registry);
  watchGates(registry, (gate) => config.gate(gate));
  return registry;
}

function factsOf(
  settings: Settings,
  parts: Pick<ThreadFacts, "nodeName" | "directories"> & { tracing: TracingConfig | undefined },
): ThreadFacts {
  const { nodeName, directories, tracing } = parts;
  return {
    settings,
    nodeName,
    directories,
    serving: servingFiles(settings),
    api: settings.kubeconfig === "" ? undefined : nodeConfigFiles(settings),
    tracing,
    nativeHistograms: settings.config.gate("NativeHistograms"),
  };
}

function setVerbosity(logging: Logging, verbosity: number, log: Logger): void {
  logging.verbosity = verbosity;
  log.info({ verbosity }, "the verbosity was changed by a request to /debug/flags/v");
}

/** A request to stop, or another process that wants the lock file, ends the node. */
function endWith(
  { stop, lock, log }: Pick<LifeDeps, "stop" | "log"> & { lock: HeldLock },
  end: (outcome: Outcome) => void,
): void {
  void stop.requested.then(() => end({ exitCode: 0 }));
  void lock.contended.then((what) => {
    log.info(`exiting for another process: ${what}`);
    end({ exitCode: 0 });
  });
}

/** Follows changes of the configuration. The module is loaded only with dynamic configuration. */
async function follow(
  { dynamic, logging }: LifeDeps,
  node: Pick<FollowDeps, "threads" | "registry" | "events" | "inCluster">,
  restart: (reason: string) => void,
): Promise<{ stop(): Promise<void> } | undefined> {
  if (dynamic === undefined) return undefined;
  const { followChanges } = await import("./dynamic-follow.js");
  return followChanges({ dynamic, logging, ...node, restart });
}

async function traceMain(
  config: TracingConfig | undefined,
  clock: Clock,
  log: Logger,
): Promise<RunningTracing | undefined> {
  if (config === undefined) return undefined;
  log.info(config, `tracing to ${config.target}`);
  const own = tracesIn("main", config);
  return own && (await import("../../shared/telemetry/tracing/start-tracing.js")).startTracing(own, clock, log);
}
