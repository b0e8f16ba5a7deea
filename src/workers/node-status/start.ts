// Starts the node's heartbeat with its own connection to the API server, main and the board.

import { access } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { later } from "../../shared/base/clock/moments.js";
import type { NodeStatusControl, NodeStatusInit, NodeStatusUpcalls } from "../../shared/contracts/node-status.js";
import { createApiClient } from "../../shared/kubernetes/api/client/client.js";
import { loadNodeConfig } from "../../shared/kubernetes/api/client/kubeconfig/node-config.js";
import { restClientMetrics } from "../../shared/telemetry/metrics/rest-client.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { HostNetworkWatch } from "./host-network.js";
import { readMachine } from "./machine.js";
import { nodeStatusMetrics } from "./metrics.js";
import { NodeStatusKeeper } from "./node-status.js";

export const startNodeStatus: StartWorker<NodeStatusControl, NodeStatusInit, NodeStatusUpcalls> = async (context) => {
  const { init, log, clock, upcalls, generation, boardReader } = context;
  const registry = new ThreadRegistry("node-status");
  watchThreadUsage(registry);
  const [config, machine] = await Promise.all([loadNodeConfig(init.api), readMachine()]);
  const client = createApiClient({
    config,
    // A heartbeat waits neither for the rate limit nor for a response that would come too late.
    qps: -1,
    timeoutMs: Math.min(init.nodeLeaseDurationSeconds * 1000, init.nodeStatusUpdateFrequencyMs),
    userAgent: init.userAgent,
    metrics: restClientMetrics(registry, clock),
    clock,
    log,
  });
  const configSource = init.configSources
    ? new (await import("./config-source/follow-config-source.js")).ConfigSourceFollower({
        allowed: init.configSources,
        client,
        presence: client.presence,
        clock,
        log,
        random: () => Math.random(),
        send: (source) => upcalls.onConfigSource(source),
      })
    : undefined;
  const keeper = new NodeStatusKeeper(init, {
    client,
    presence: client.presence,
    main: upcalls,
    board: boardReader,
    machine,
    machineStartedAt: later(clock.now(), -uptime() * 1000),
    network: new HostNetworkWatch(init, clock),
    freshMachine: async () => {
      const checkpoint = join(init.rootDir, "device-plugins", "kubelet_internal_checkpoint");
      return await access(checkpoint).then(
        () => false,
        () => true,
      );
    },
    generation,
    clock,
    log,
    metrics: nodeStatusMetrics(registry),
    configSource,
    random: () => Math.random(),
  });
  keeper.start();
  return {
    control: {
      setFacts(facts) {
        keeper.setFacts(facts);
      },
      readNode: () => keeper.readNode(),
      reloadCredentials: () => client.reload(),
      metrics: () => registry.exportSnapshot(),
    },
    async drain() {
      await keeper.stop();
      client.close();
    },
  };
};
