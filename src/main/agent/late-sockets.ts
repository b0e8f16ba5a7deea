// Sockets that external programs use and no pod waits for: device plugin registration and pod resources. The kubelet
// creates them after its start, so that no static pod waits for the code.
// Invariant: a failure here is retried and never prevents the kubelet from running pods.
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import { errorText } from "../../shared/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { podResourcesMetrics } from "../node/pod-resources/metrics.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { PodResourcesPorts } from "../node/pod-resources/lister.js";
import type { PodsApiOptions } from "../node/pods-api/server.js";
import type { PodEventStream } from "../model/pod-events.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import type { PluginHandler } from "../model/plugin-handler.js";
import type { NodeDevices } from "../resources/devices/node-devices.js";

/** Plugins watch for the socket; the first pods come before. */
const AFTER_START_MS = 1000;
const AGAIN_MS = 10_000;

export interface LateSocketsDeps {
  rootDir: string;
  devices: NodeDevices;
  /** On a stand-alone node plugins register here; in a cluster CSI's part watches the directory. */
  watchPlugins: boolean;
  pods: () => Iterable<Pod>;
  /** NUMA resources that other managers hold. */
  ports: Pick<PodResourcesPorts, "exclusive">;
  cluster: ClusterAccess;
  /** Gate KubeletPodResourcesListUseActivePods. */
  activePodsOnly: boolean;
  /** Gate PodsAPI. */
  podsApi?: { pods: PodsApiOptions["pods"]; events: Pick<PodEventStream, "subscribe"> };
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export interface LateSockets {
  stop(): Promise<void>;
}

export function startLateSockets(deps: LateSocketsDeps): LateSockets {
  const { rootDir, devices, clock } = deps;
  const { podsApi } = deps;
  const log = moduleLogger(deps.log, "late-sockets");
  const ending = new AbortController();
  const { signal } = ending;
  const stops: (() => Promise<void> | void)[] = [];

  const keepTrying = async (what: string, start: () => Promise<() => Promise<void> | void>): Promise<void> => {
    while (!signal.aborted) {
      try {
        stops.push(await start());
        return;
      } catch (error) {
        log.error({ err: error }, `cannot serve ${what}: ${errorText(error)}; trying again`);
      }
      await clock.sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  };

  const run = async (): Promise<void> => {
    await clock.sleep(AFTER_START_MS, signal).catch(() => undefined);
    await Promise.all([
      keepTrying("the registration of device plugins", async () => {
        await devices.serve();
        return () => devices.stop();
      }),
      keepTrying("pod resources", async () => {
        const [{ servePodResources }, { PodResourcesLister }, { listedDevices }, { listedClaims }] = await Promise.all([
          import("../node/pod-resources/server.js"),
          import("../node/pod-resources/lister.js"),
          import("../node/pod-resources/listed-devices.js"),
          import("../node/pod-resources/listed-devices.js"),
        ]);
        const ports = {
          ...deps.ports,
          pods: deps.pods,
          devices: listedDevices(() => devices.manager),
          claims: listedClaims(() => deps.cluster()?.claims),
        };
        const server = await servePodResources({
          directory: `${rootDir}/pod-resources`,
          lister: new PodResourcesLister(ports, deps.activePodsOnly),
          metrics: podResourcesMetrics(deps.registry),
          clock,
        });
        return () => server.stop();
      }),
      ...(podsApi === undefined ? [] : [keepTrying("the pods API", () => servePods(podsApi))]),
      ...(deps.watchPlugins ? [keepTrying("plugins_registry", () => watchPlugins(devices.handler))] : []),
    ]);
  };

  const servePods = async ({ pods, events }: NonNullable<LateSocketsDeps["podsApi"]>): Promise<() => Promise<void>> => {
    const { servePodsApi } = await import("../node/pods-api/server.js");
    const server = await servePodsApi({
      ...{ pods, clock, log, registry: deps.registry },
      directory: `${rootDir}/pods-api`,
      subscribe: (subscriber) => events.subscribe("pods-api", subscriber),
    });
    return () => server.stop();
  };

  const watchPlugins = async (handler: PluginHandler): Promise<() => Promise<void>> => {
    const { PluginManager } = await import("../node/plugins/plugin-manager.js");
    const plugins = new PluginManager({
      ...{ rootDir, clock, registry: deps.registry, log: deps.log },
      handlers: { DevicePlugin: handler },
    });
    await plugins.start();
    return () => plugins.stop();
  };

  const running = run();
  return {
    async stop() {
      ending.abort(new Error("the kubelet is stopping"));
      await running;
      for (const stop of stops.reverse()) await stop();
    },
  };
}
