// Main's connection to the container runtime.

import { readProcessorTimes } from "../../shared/io/os/processor-times.js";
import type { CriClientOptions } from "../../shared/kubernetes/cri/caller.js";
import { clientReports } from "../../shared/kubernetes/cri/client-reports.js";
import { createCriClient, type CriClient } from "../../shared/kubernetes/cri/client.js";
import { podUidsIn } from "../volumes/paths.js";
import type { AgentContext } from "./context.js";

export function connectRuntime({ settings, registry, clock, log }: AgentContext): CriClient {
  const { runtime, rootDir, cpuCount } = settings;
  return createCriClient({
    endpoint: runtime.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: runtime.runtimeRequestTimeoutMs,
    clock,
    channel: settings.criChannel,
    ...clientReports(registry, log),
    concurrency: criConcurrency(cpuCount),
    listStreaming: runtime.criListStreaming,
    podUids: () => podUidsIn(rootDir),
  });
}

/**
 * Limits of concurrent calls per verb: a burst must not overload the runtime. The processors do most of the work of a
 * PodSandbox: with fewer at once the first pods of a burst are Ready, or removed, before the last ones begin.
 */
function criConcurrency(cpuCount: number): NonNullable<CriClientOptions["concurrency"]> {
  // One more than processors: while a call waits for a disk, another one has work.
  const from = Math.min(16, cpuCount + 1);
  const processors = { count: cpuCount, readTimes: readProcessorTimes };
  return {
    RunPodSandbox: { from, to: 16, processors },
    StopPodSandbox: { from, to: 64, processors },
    // Pods that still stop come first: the object of a pod goes before its sandbox is removed.
    RemovePodSandbox: { from, to: 64, processors },
    CreateContainer: 16,
    StartContainer: 16,
    StopContainer: 64,
  };
}
