// Devices as the rest of the node sees them: nothing of it is loaded until a pod asks for a device, or the agent has
// started and lets plugins register.
import type { Pod } from "../../../shared/api/pod.js";
import type { ResourceStatus } from "../../../shared/api/pod-status.js";
import type { Clock } from "../../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../../shared/log/logger.js";
import { deviceMetrics } from "../../../shared/metrics/devices.js";
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";
import type { PluginHandler } from "../../node/plugins/handler.js";
import type { NodeResourcesHolder } from "../node-resources.js";
import type { DeviceManager } from "./device-manager.js";
import { wantsDevices } from "./device-requests.js";
import type { RegistrationServer } from "./registration-server.js";

export interface NodeDevicesOptions {
  rootDir: string;
  numaNodes: () => Promise<readonly number[]>;
  podRuns: (podUid: string) => boolean;
  resources: Pick<NodeResourcesHolder, "setDevices">;
  onHealth: (podUids: readonly string[]) => void;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export class NodeDevices {
  readonly kind = "devices";
  readonly wanted: (pod: Pod) => boolean = wantsDevices;
  private loaded: DeviceManager | undefined;
  private server: RegistrationServer | undefined;
  private stopped = false;
  private readonly log: Logger;
  private readonly directory: string;

  constructor(private readonly options: NodeDevicesOptions) {
    this.log = moduleLogger(options.log, "devices");
    this.directory = `${options.rootDir}/device-plugins`;
  }

  /** The manager, for the list of resource managers, which makes it once. */
  make = async (): Promise<DeviceManager> => {
    const { clock, registry, resources, podRuns, onHealth } = this.options;
    const [{ DeviceManager }, numaNodes] = await Promise.all([import("./device-manager.js"), this.options.numaNodes()]);
    const manager = new DeviceManager({
      directory: this.directory,
      dial: async (socket) => (await import("./plugin-client.js")).dialDevicePlugin(socket, clock),
      numaNodes: () => numaNodes,
      podRuns,
      onDevices: () => resources.setDevices(manager.pool.counts()),
      onHealth,
      metrics: deviceMetrics(registry),
      clock,
      log: this.log,
    });
    this.loaded = manager;
    return manager;
  };

  /** undefined: no device was ever asked for or offered. */
  get manager(): DeviceManager | undefined {
    return this.loaded;
  }

  /** Lets plugins register at kubelet.sock. The manager must have been started. Rejects when the socket can't be made. */
  async serve(manager: DeviceManager): Promise<PluginHandler> {
    const [{ serveRegistration }, { devicePluginHandler, registerPlugin }] = await Promise.all([
      import("./registration-server.js"),
      import("./register-plugin.js"),
    ]);
    const { endpoints } = manager;
    const deps = { endpoints, metrics: deviceMetrics(this.options.registry), directory: this.directory };
    if (!this.isStopped()) {
      const register = registerPlugin;
      this.server = await serveRegistration(
        this.directory,
        (request, signal) => register(request, deps, signal),
        this.log,
      );
      if (this.isStopped()) this.server.stop();
    }
    return devicePluginHandler(deps);
  }

  /** Of each device that the container has: containerStatuses[].allocatedResourcesStatus. */
  health(podUid: string, container: string): ResourceStatus[] {
    const manager = this.loaded;
    if (manager === undefined) return [];
    return [...manager.granted.of(podUid, container)].map(([name, { byNode }]) => ({
      name,
      resources: [...new Set([...byNode.values()].flat())].map((resourceID) => ({
        resourceID,
        // One that its plugin does not know any more, or not yet, counts as upstream counts it.
        health: manager.pool.devices(name).get(resourceID)?.healthy === false ? "Unhealthy" : "Healthy",
      })),
    }));
  }

  private isStopped(): boolean {
    return this.stopped;
  }

  /** Before the manager is stopped. */
  stop(): void {
    this.stopped = true;
    this.server?.stop();
  }
}
