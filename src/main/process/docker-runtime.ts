// The Docker Engine as the container runtime. Loaded only with --container-runtime=docker or --experimental-dockershim
// (docs/docker.md).

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../shared/telemetry/metrics/threads.js";
import type { Settings } from "../command/settings.js";
import { dockershimThread } from "../threads/dockershim-thread.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { spawnWorkerThread } from "../threads/spawn-worker.js";
import { ThreadContext } from "../threads/thread-context.js";
import { systemdNotifier } from "./systemd/notify.js";
import { AGENT_NICENESS, raisePriority, setMaxOpenFiles, setOomScoreAdj } from "./unix/process-limits.js";
import type { StopRequest } from "./unix/signals.js";

/** For this kubelet's pods: one more of its threads. The CRI clients wait for its socket as for that of any runtime. */
export function startDockerRuntime(settings: Settings, threads: NodeThreads): void {
  const shim = dockershimThread(threads.context, settings);
  threads.add("dockershim", shim);
  shim.thread.startInBackground();
}

export interface ServerDeps {
  log: Logger;
  clock: Clock;
  stop: Pick<StopRequest, "requested">;
}

/** Serves CRI and nothing else, until a signal. Containers live on. Resolves with the exit code. */
export async function serveDocker(settings: Settings, { log, clock, stop }: ServerDeps): Promise<number> {
  raisePriority(AGENT_NICENESS, log);
  setMaxOpenFiles(settings.cgroups.maxOpenFiles, log);
  await setOomScoreAdj(settings.cgroups.oomScoreAdj, log);
  const registry = new ThreadRegistry("main");
  let giveUp: (exitCode: number) => void = () => undefined;
  const gaveUp = new Promise<number>((resolve) => {
    giveUp = resolve;
  });
  const context = new ThreadContext({
    clock,
    log,
    metrics: threadMetrics(registry),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      log.error({ err: error }, `the dockershim cannot continue: ${error.message}`);
      giveUp(1);
    },
  });
  const shim = dockershimThread(context, settings);
  const systemd = systemdNotifier(process.env, log);
  try {
    await shim.thread.startTried();
    systemd?.ready("serving CRI over the Docker Engine");
    return await Promise.race([stop.requested.then(() => 0), gaveUp]);
  } finally {
    systemd?.stopping();
    await shim.stop();
    await systemd?.flush();
  }
}
