// The dockershim thread as main runs it: with --container-runtime=docker beside the node's other threads, with
// --experimental-dockershim alone.

import { join } from "node:path";
import type { DockershimControl, DockershimInit } from "../../shared/contracts/dockershim.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import type { Settings } from "../command/settings.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadHost } from "./thread-host.js";

export interface DockershimThreadOptions {
  context: ThreadHost<"dockershim">;
  init: DockershimInit;
}

/** Streams and stops of the Engine have this time to end. */
const DRAIN_MS = 5000;

export class DockershimThread {
  readonly thread: SupervisedThread<DockershimControl>;

  constructor({ context, init }: DockershimThreadOptions) {
    this.thread = superviseThread<DockershimControl, DockershimInit>({
      ...context.common("dockershim"),
      init: () => init,
      drainDeadlineMs: DRAIN_MS,
      onRunning: () => undefined,
      onExit: (exit) => context.exited(exit),
    });
  }

  /** For /metrics. */
  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}

export function dockershimInit({
  docker,
  rootDir,
  runtime,
}: Pick<Settings, "docker" | "rootDir" | "runtime">): DockershimInit {
  const { containerRuntimeEndpoint, runtimeRequestTimeoutMs } = runtime;
  return {
    socketPath: containerRuntimeEndpoint.slice("unix://".length),
    dockerEndpoint: docker.endpoint,
    rootDir: join(rootDir, "dockershim"),
    podInfraContainerImage: docker.podInfraContainerImage,
    imagePullProgressDeadlineMs: docker.imagePullProgressDeadlineMs,
    requestTimeoutMs: runtimeRequestTimeoutMs,
    network: docker.network,
  };
}
