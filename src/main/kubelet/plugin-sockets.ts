// Sockets that external programs use and no pod waits for: device plugin registration, pod resources, the pods API. The
// kubelet creates them after its start, so that no static pod waits for the code.
// Invariant: a failure here is retried and never prevents the kubelet from running pods.

import { Deferred } from "../../shared/base/turns/deferred.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import type { PodResourcesPorts } from "../node/pod-resources/lister.js";
import { podResourcesMetrics } from "../node/pod-resources/metrics.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { ResourceManagers } from "../resources/assignment/resource-manager.js";
import type { NodeDevices } from "../resources/devices/node-devices.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";

/** Plugins watch for the socket; the first pods come before. */
const AFTER_START_MS = 1000;
const AGAIN_MS = 10_000;

interface Running {
  stop(): unknown;
}

export interface SocketParts {
  foundation: Pick<Foundation, "membership">;
  state: Pick<PodState, "events">;
  sync: Pick<PodSync, "statuses">;
  devices: NodeDevices;
  managers: ResourceManagers;
}

/** Undefined: off on this node. */
export function pluginSockets(context: AgentContext, parts: SocketParts): (Deferred<Running> | undefined)[] {
  const { devices } = parts;
  const { podsApi } = context.settings.runtime;
  const register = async (): Promise<Running> => {
    await devices.serve();
    return devices;
  };
  return [
    deferredSocket(context, "the registration of device plugins", register),
    deferredSocket(context, "pod resources", () => servePods(context, parts)),
    podsApi ? deferredSocket(context, "the pods API", () => serveApi(context, parts)) : undefined,
    // In a cluster CSI's part watches the directory.
    context.cluster === undefined
      ? deferredSocket(context, "plugins_registry", () => watchPlugins(context, devices))
      : undefined,
  ];
}

/** `load` is repeated until it succeeds. */
function deferredSocket({ clock, log }: AgentContext, what: string, load: () => Promise<Running>): Deferred<Running> {
  const own = moduleLogger(log, "plugin-sockets");
  return new Deferred({
    name: `the socket for ${what}`,
    when: {
      ms: AFTER_START_MS,
      againMs: AGAIN_MS,
      clock,
      failed: (error) => own.error({ err: error }, `cannot serve ${what}: ${errorText(error)}; trying again`),
    },
    load,
    end: (running) => running.stop(),
  });
}

async function servePods({ settings, registry, clock }: AgentContext, parts: SocketParts): Promise<Running> {
  const { foundation, sync, devices, managers } = parts;
  const [{ servePodResources }, { PodResourcesLister }, { listedDevices, listedClaims }] = await Promise.all([
    import("../node/pod-resources/server.js"),
    import("../node/pod-resources/lister.js"),
    import("../node/pod-resources/listed-devices.js"),
  ]);
  const ports: PodResourcesPorts = {
    exclusive: managers,
    pods: () => sync.statuses.all(),
    devices: listedDevices(() => devices.manager),
    claims: listedClaims(() => foundation.membership?.access()?.claims),
  };
  return servePodResources({
    directory: `${settings.rootDir}/pod-resources`,
    lister: new PodResourcesLister(ports, settings.runtime.podResourcesListUseActivePods),
    metrics: podResourcesMetrics(registry),
    clock,
  });
}

async function serveApi({ settings, registry, clock, log }: AgentContext, parts: SocketParts): Promise<Running> {
  const { servePodsApi } = await import("../node/pods-api/server.js");
  return servePodsApi({
    pods: parts.sync.statuses,
    registry,
    clock,
    log: moduleLogger(log, "plugin-sockets"),
    directory: `${settings.rootDir}/pods-api`,
    subscribe: (subscriber) => parts.state.events.subscribe("pods-api", subscriber),
  });
}

async function watchPlugins({ settings, registry, clock, log }: AgentContext, devices: NodeDevices): Promise<Running> {
  const { PluginManager } = await import("../node/plugins/plugin-manager.js");
  const handlers = { DevicePlugin: devices.handler };
  const plugins = new PluginManager({ rootDir: settings.rootDir, registry, clock, log, handlers });
  await plugins.start();
  return plugins;
}
