// Starts a CRI v1 server over the Docker Engine API (docs/docker.md).

import type { DockershimControl, DockershimInit } from "../../shared/contracts/dockershim.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { containerVerbs } from "./containers/verbs.js";
import { ContainerEvents } from "./events/verbs.js";
import { execVerbs } from "./exec/exec-sync.js";
import { imageVerbs } from "./images/verbs.js";
import { listStreams } from "./list-streams.js";
import { dockershimMetrics } from "./metrics.js";
import { runtimeVerbs } from "./runtime-verbs.js";
import { sandboxVerbs } from "./sandboxes/verbs.js";
import { CriServer } from "./server.js";
import { Shim } from "./shim.js";
import { statsVerbs } from "./stats/verbs.js";
import { Streaming } from "./streaming/verbs.js";

export const startDockershim: StartWorker<DockershimControl, DockershimInit, object> = async (context) => {
  const { init, log, clock } = context;
  const registry = new ThreadRegistry("dockershim");
  watchThreadUsage(registry);
  const metrics = dockershimMetrics(registry);
  const shim = new Shim(init, clock, log);
  const streaming = new Streaming(shim);
  const events = new ContainerEvents(shim);
  const verbs = {
    ...runtimeVerbs(shim),
    ...sandboxVerbs(shim),
    ...containerVerbs(shim),
    ...execVerbs(shim),
    ...streaming.verbs(),
    ...imageVerbs(shim),
    ...statsVerbs(shim),
  };
  const server = new CriServer({
    socketPath: init.socketPath,
    verbs,
    streams: { ...listStreams(verbs), ...events.verbs() },
    onCall: (method, durationMs, failed) => metrics.call(method, durationMs, failed),
    now: () => clock.monotonic(),
    log,
  });
  await server.start();
  shim.start();
  log.info(`serving CRI on ${init.socketPath} over the Docker Engine at ${init.dockerEndpoint}`);
  return {
    control: { metrics: () => registry.exportSnapshot() },
    async drain() {
      await server.stop();
      await events.stop();
      await streaming.stop();
      await shim.stop();
    },
  };
};
