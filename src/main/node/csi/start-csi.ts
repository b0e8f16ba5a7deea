// CSI on this node, once it is joining its cluster. Plugins register, and CSINode follows them. The node's status lists
// the volumes that must not be detached.
// Invariant: the node is not Ready before its CSINode object is there; nothing here is waited for by pods that have no
// such volumes.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { PluginHandlers } from "../../model/plugin-handler.js";
import { csiMetrics } from "../../volumes/csi/metrics.js";
import type { CsiNodeOptions } from "../../volumes/csi/node-client.js";
import type { CsiNode } from "../../volumes/csi/node-port.js";
import type { PersistentVolumes } from "../../volumes/persistent/persistent-volumes.js";
import { PluginManager } from "../plugins/plugin-manager.js";
import type { NodeStatusLink } from "../start-node-status.js";
import { CsiHandler } from "./csi-handler.js";
import { CsiNodeObject } from "./csi-node-object.js";

/** After that time drivers are registered without the node's object: volumes have to be torn down. */
const LONGEST_WAIT_MS = 10_000;
const RECOVER_AGAIN_MS = 5_000;

export interface CsiDeps {
  rootDir: string;
  nodeName: string;
  persistent: PersistentVolumes;
  client: ApiClient;
  nodeStatus: Pick<NodeStatusLink, "setVolumesInUse" | "setStorageProblem">;
  /** Settles when the API server has a Node for this machine. */
  ready: Promise<void>;
  /** Handlers for sockets of all plugins except CSI drivers. */
  plugins: PluginHandlers;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export interface RunningCsi {
  stop(): Promise<void>;
}

export function startCsi(deps: CsiDeps): RunningCsi {
  const { persistent, nodeStatus, clock, client, nodeName } = deps;
  const log = moduleLogger(deps.log, "csi");
  const metrics = csiMetrics(deps.registry);
  const lifetime = new Lifetime();
  const { signal } = lifetime;
  const csiNode = new CsiNodeObject({
    nodeName,
    client,
    clock,
    log,
    onReady: () => nodeStatus.setStorageProblem(""),
  });
  nodeStatus.setStorageProblem(csiNode.problem() ?? "");
  const handler = new CsiHandler({
    nodeName,
    client,
    clock,
    log,
    csiNode,
    drivers: persistent.drivers,
    connect: (driver, endpoint) => connectLate({ driver, endpoint, clock, metrics }),
    driverSpec: async (driver) => (await persistent.csi()).context.objects.get(driver),
  });
  const plugins = new PluginManager({
    rootDir: deps.rootDir,
    registry: deps.registry,
    clock,
    log: deps.log,
    handlers: { ...deps.plugins, CSIPlugin: handler },
  });
  const endInUse = persistent.onVolumesInUse((names) => nodeStatus.setVolumesInUse(names));
  const starting = start().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, "cannot watch the plugin directory; plugins cannot register");
  });

  async function start(): Promise<void> {
    const recovering = recover();
    await firstOf(deps.ready, clock.sleep(LONGEST_WAIT_MS, signal));
    if (signal.aborted) return;
    csiNode.start();
    await plugins.start();
    await recovering;
  }

  async function recover(): Promise<void> {
    while (!signal.aborted) {
      try {
        await persistent.recover();
        nodeStatus.setVolumesInUse(persistent.volumesInUse());
        return;
      } catch (error) {
        log.error({ err: error }, "cannot read the volumes that the previous kubelet left; trying again");
      }
      await clock.sleep(RECOVER_AGAIN_MS, signal).catch(() => undefined);
    }
  }

  return {
    async stop() {
      lifetime.end();
      endInUse();
      await starting;
      handler.stop();
      await plugins.stop();
      await csiNode.stop();
      await persistent.stop();
    },
  };
}

/** Resolves with the first of the two, and never rejects. */
function firstOf(one: Promise<unknown>, other: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => resolve();
    one.then(done, done);
    other.then(done, done);
  });
}

/** A driver's node service whose code, and gRPC, is loaded at its first call. */
function connectLate(options: CsiNodeOptions): CsiNode {
  let connected: Promise<CsiNode> | undefined;
  let closed = false;
  const node = (): Promise<CsiNode> => {
    connected ??= import("../../volumes/csi/node-client.js").then(({ connectCsiNode }) => {
      const made = connectCsiNode(options);
      if (closed) made.close();
      return made;
    });
    return connected;
  };
  return {
    info: async (signal) => (await node()).info(signal),
    capabilities: async (signal) => (await node()).capabilities(signal),
    stage: async (request, signal) => (await node()).stage(request, signal),
    unstage: async (request, signal) => (await node()).unstage(request, signal),
    publish: async (request, signal) => (await node()).publish(request, signal),
    unpublish: async (request, signal) => (await node()).unpublish(request, signal),
    stats: async (request, signal) => (await node()).stats(request, signal),
    expand: async (request, signal) => (await node()).expand(request, signal),
    close() {
      closed = true;
      connected?.then(
        (made) => made.close(),
        () => undefined,
      );
    },
  };
}
