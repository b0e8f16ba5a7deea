// From settings to a running node and back: process set-up, the node, and its orderly end at a signal.
import { readFile } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { systemClock } from "../../shared/clock/clock.js";
import { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { createLogger, type Logger } from "../../shared/log/logger.js";
import type { Settings } from "../command/settings.js";
import { KUBERNETES_VERSION } from "../command/version.js";
import { directoriesOf, isDirectoryError, makeDirectories } from "./directories.js";
import { readMachine } from "./machine.js";
import { defaultRouteInterface, isNodeNameError, nodeIPs, nodeName } from "./node-identity.js";
import { AGENT_NICENESS, raisePriority, setOomScoreAdj } from "./process-limits.js";
import { checkCluster, isClusterError } from "./cluster.js";
import { NodeThreads } from "./node-threads.js";
import { checkPermissions } from "./permissions.js";
import type { NodeSettings } from "./run-node.js";
import { plegInit, serverInit } from "./thread-inits.js";
import { listenForStop } from "./signals.js";

/** Runs until a signal or a failure that only a new process can repair. Resolves with the exit code. */
export async function run(settings: Settings): Promise<number> {
  const log = createLogger({ thread: "main", level: settings.verbosity >= 4 ? "debug" : "info" });
  for (const notice of settings.notices) log.info(notice);
  raisePriority(AGENT_NICENESS, log);
  using stop = listenForStop(process, log);
  try {
    checkPermissions(process.getuid?.(), log);
    await checkCluster({ kubeconfig: settings.kubeconfig, bootstrapKubeconfig: "" }, log);
    const name = nodeName(settings.hostnameOverride, hostname());
    let giveUp: (error: Error) => void = () => undefined;
    const gaveUp = new Promise<Error>((resolve) => {
      giveUp = resolve;
    });
    const registry = new ThreadRegistry("main");
    await using threads = new NodeThreads({
      pleg: plegInit(settings),
      server: serverInit(settings, name),
      registry,
      clock: systemClock,
      log,
      onGiveUp: (error) => giveUp(error),
    });
    const directories = directoriesOf(settings.rootDir, settings.podLogsDir);
    const [{ runNode }, nodeSettings] = await Promise.all([
      import("./run-node.js"),
      nodeSettingsOf(settings, name, directories.containerLogs),
      makeDirectories(directories),
      setOomScoreAdj(settings.oomScoreAdj, log),
    ]);
    const node = await runNode(nodeSettings, { threads, registry, clock: systemClock, log });
    const reason = await Promise.race([stop.requested, gaveUp]);
    await node.stop();
    if (!(reason instanceof Error)) return await ended(log, 0);
    log.error({ err: reason }, `the node can't go on: ${reason.message}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const known =
      isClusterError(error) || isDirectoryError(error) || isNodeNameError(error) || hasOperatorMessage(error);
    log.error(known ? {} : { err: error }, `the kubelet can't start: ${message}`);
  }
  return await ended(log, 1);
}

/** Errors whose message tells an operator all there is to know carry a code of ours. */
function hasOperatorMessage(error: unknown): boolean {
  return error instanceof Error && /^Cgroup/.test(error.name);
}

/** The last lines must be out before the process ends. */
async function ended(log: Logger, code: number): Promise<number> {
  await new Promise<void>((resolve) => log.flush(() => resolve()));
  return code;
}

async function nodeSettingsOf(settings: Settings, name: string, containerLogsDir: string): Promise<NodeSettings> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const machine = readMachine();
  return {
    ...settings,
    nodeName: name,
    nodeIPs: nodeIPs(settings.nodeIPs, networkInterfaces(), defaultRouteInterface(routes)),
    containerLogsDir,
    podPidsLimit: BigInt(settings.podPidsLimit),
    serializeImagePulls: true,
    memoryBytes: BigInt(machine.memoryBytes),
    cpuCount: machine.cpus,
    kubernetesVersion: KUBERNETES_VERSION,
  };
}
