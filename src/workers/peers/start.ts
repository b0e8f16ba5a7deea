// Starts probes and hooks whose server a pod chooses (docs/adr/0075). Nothing else runs in their thread.

import type { PeersControl, PeersInit } from "../../shared/contracts/peers.js";
import { runProbes } from "../../shared/node/probes/probe-thread.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import { threadCpu } from "../../shared/thread/thread-cpu.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { PeerActions } from "./run-action.js";
import { RunningHooks } from "./running-hooks.js";

export const startPeers: StartWorker<PeersControl, PeersInit, object> = (context) => {
  const registry = new ThreadRegistry("peers");
  watchThreadUsage(registry);
  const { clock } = context;
  const actions = new PeerActions(
    clock,
    threadCpu(() => clock.monotonic()),
  );
  const hooks = new RunningHooks((hook, signal) => actions.hook(hook, signal));
  const probes = runProbes({ name: "peers", context, registry, runAction: actions.probe });
  return Promise.resolve({
    control: {
      ...probes.control,
      runHook: (id, hook) => hooks.run(id, hook),
      cancelHook(id) {
        hooks.cancel(id);
      },
    },
    async drain() {
      await Promise.all([probes.drain(), hooks.stop()]);
    },
  });
};
