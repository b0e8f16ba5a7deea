// Starts the schedule of probes with commands and TCP connections. No byte of a pod's server is read here.

import type { ProberControl, ProberInit } from "../../shared/contracts/prober.js";
import { runProbes } from "../../shared/node/probes/probe-thread.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { ExecProbes } from "./exec.js";
import { actionRunner } from "./run-action.js";

export const startProber: StartWorker<ProberControl, ProberInit, object> = (context) => {
  const registry = new ThreadRegistry("prober");
  watchThreadUsage(registry);
  const { init, clock, log } = context;
  const { criChannel, endpoint, runtimeRequestTimeoutMs } = init;
  const exec = new ExecProbes({ criChannel, endpoint, runtimeRequestTimeoutMs, clock, registry, log });
  const probes = runProbes({ name: "prober", context, registry, runAction: actionRunner(exec) });
  return Promise.resolve({
    control: probes.control,
    async drain() {
      await probes.drain();
      await exec.close();
    },
  });
};
