// From settings to a running node and back: process set-up, the node, and its orderly end at a signal.
import { readFile } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { systemClock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import { DEFAULT_LOGGING } from "../../shared/log/logging-config.js";
import type { Settings } from "../command/settings.js";
import { KUBERNETES_VERSION } from "../command/version.js";
import { directoriesOf, isDirectoryError, makeDirectories } from "./directories.js";
import { startLogging } from "./logging.js";
import { readMachine } from "./machine.js";
import { defaultRouteInterface, isNodeNameError, nodeIPs, nodeName } from "./node-identity.js";
import { AGENT_NICENESS, raisePriority, setOomScoreAdj } from "./process-limits.js";
import { runNode, type NodeSettings } from "./run-node.js";
import { listenForStop } from "./signals.js";

/** Runs until a signal or a failure that only a new process can repair. Resolves with the exit code. */
export async function run(settings: Settings): Promise<number> {
  const { log } = startLogging(
    {
      ...DEFAULT_LOGGING,
      format: settings.loggingFormat === "json" ? "json" : "text",
      verbosity: settings.verbosity,
    },
    systemClock,
  );
  for (const notice of settings.notices) log.info(notice);
  if (settings.kubeconfig === "") log.info("no --kubeconfig: stand-alone, pods come from files and URLs only");
  raisePriority(AGENT_NICENESS, log);
  using stop = listenForStop(process, log);
  try {
    const directories = directoriesOf(settings.rootDir, settings.podLogsDir);
    const [identity] = await Promise.all([
      nodeSettings(settings, directories.containerLogs),
      makeDirectories(directories),
      setOomScoreAdj(settings.oomScoreAdj, log),
    ]);
    let giveUp: (error: Error) => void = () => undefined;
    const gaveUp = new Promise<Error>((resolve) => {
      giveUp = resolve;
    });
    const node = await runNode(identity, systemClock, log, (error) => giveUp(error));
    const reason = await Promise.race([stop.requested, gaveUp]);
    await node.stop();
    if (!(reason instanceof Error)) return await ended(log, 0);
    log.error({ err: reason }, `the node can't go on: ${reason.message}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const known = isDirectoryError(error) || isNodeNameError(error) || hasOperatorMessage(error);
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

async function nodeSettings(settings: Settings, containerLogsDir: string): Promise<NodeSettings> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const machine = readMachine();
  return {
    ...settings,
    nodeName: nodeName(settings.hostnameOverride, hostname()),
    nodeIPs: nodeIPs(settings.nodeIPs, networkInterfaces(), defaultRouteInterface(routes)),
    containerLogsDir,
    podPidsLimit: BigInt(settings.podPidsLimit),
    serializeImagePulls: true,
    memoryBytes: BigInt(machine.memoryBytes),
    cpuCount: machine.cpus,
    kubernetesVersion: KUBERNETES_VERSION,
  };
}
