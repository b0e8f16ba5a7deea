// Devices of the node, for other folders. Their code is loaded when a pod requests a device, or when the kubelet has
// started and lets plugins register.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ResourceStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { PluginHandler } from "../../model/plugin-handler.js";
import type { NodeResources } from "../node-capacity.js";
import { raisedTo, type NodeResourcesHolder } from "../node-resources.js";
import type { MachineReading } from "../topology/machine-topology.js";
import type { DeviceManager } from "./device-manager.js";
import { podDeviceRequests, wantsDevices } from "./device-requests.js";
import { deviceMetrics } from "./metrics.js";
import { preparePluginDirectory } from "./plugin-directory.js";
import { devicePluginHandler, registerPlugin } from "./register-plugin.js";
import type { RegistrationServer } from "./registration-server.js";

const REGISTRATION_FAILED =
  "device registration error: device plugin registration gRPC server failed and no device plugins can register";

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export interface NodeDevicesOptions {
  rootDir: string;
  podRuns: (podUid: PodUid) => boolean;
  /** Pods of which a sandbox or container runs. */
  runningPods: () => Iterable<PodUid>;
  resources: Pick<NodeResourcesHolder, "setDevices">;
  /** Creates the manager, which reads its checkpoint; at most once. */
  load: () => Promise<void>;
  onHealth: (podUids: readonly PodUid[]) => void;
  /** Why plugins cannot register; "": they can. Upstream's text of /healthz/device-plugin. */
  onRegistration: (problem: string) => void;
  machine: MachineReading;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export class NodeDevices {
  readonly kind = "devices";
  readonly wanted: (pod: Pod) => boolean = wantsDevices;
  /** Handles sockets below plugins_registry. */
  readonly handler: PluginHandler;
  private loaded: DeviceManager | undefined;
  private server: RegistrationServer | undefined;
  private readonly log: Logger;
  private readonly directory: string;
  private readonly prepared: Promise<void>;

  constructor(private readonly options: NodeDevicesOptions) {
    this.log = moduleLogger(options.log, "devices");
    this.directory = `${options.rootDir}/device-plugins`;
    this.prepared = preparePluginDirectory(this.directory).catch((error: unknown) => {
      this.log.error({ err: error }, `${this.directory} is not as device plugins need it: ${errorText(error)}`);
    });
    this.handler = devicePluginHandler({
      register: async (resource, socket, signal) => (await this.started()).endpoints.register(resource, socket, signal),
      deregister: (resource, socket) => this.loaded?.endpoints.deregister(resource, socket),
    });
  }

  /** The manager, for the list of resource managers, which makes it once and starts it. */
  make = async (): Promise<DeviceManager> => {
    const { clock, registry, resources, podRuns, runningPods, onHealth, machine } = this.options;
    const [{ DeviceManager }, { numaNodes }] = await Promise.all([import("./device-manager.js"), machine()]);
    const nodes = numaNodes.map(({ id }) => id);
    const manager = new DeviceManager({
      directory: this.directory,
      dial: async (socket) => (await import("./plugin-client.js")).dialDevicePlugin(socket, clock),
      numaNodes: () => nodes,
      podRuns,
      runningPods,
      onDevices: () => resources.setDevices(manager.pool.counts()),
      onHealth,
      metrics: deviceMetrics(registry),
      clock,
      log: this.log,
    });
    this.loaded = manager;
    return manager;
  };

  /** undefined: no device was ever requested or offered. */
  get manager(): DeviceManager | undefined {
    return this.loaded;
  }

  /** Lets plugins register at kubelet.sock. Rejects when the socket can't be made. */
  async serve(): Promise<void> {
    try {
      await this.listen();
      this.options.onRegistration("");
    } catch (error) {
      this.options.onRegistration(`${REGISTRATION_FAILED}: ${errorText(error)}`);
      throw error;
    }
  }

  private async listen(): Promise<void> {
    const [{ endpoints }, { serveRegistration }] = await Promise.all([
      this.started(),
      import("./registration-server.js"),
      this.prepared,
    ]);
    const deps = { endpoints, metrics: deviceMetrics(this.options.registry), directory: this.directory };
    this.server = await serveRegistration(
      this.directory,
      (request, signal) => registerPlugin(request, deps, signal),
      this.log,
    );
  }

  /**
   * The allocatable resources for admission. Resources of device plugins are those that the plugins offer now, not
   * those of the API server. A pod that has its devices fits, though their plugin is away; one that runs has them,
   * though it is not known which.
   */
  allocatable(pod: Pod, known: NodeResources): NodeResources {
    const manager = this.loaded;
    if (manager === undefined) return known;
    const { uid } = pod.metadata;
    const offered = manager.pool.counts().allocatable;
    const own = raisedTo(new Map([...known].filter(([name]) => !offered.has(name))), offered);
    const raised = manager.granted.has(uid) ? raisedTo(own, manager.totals()) : own;
    if (!this.options.podRuns(uid)) return raised;
    return raisedTo(raised, new Map([...podDeviceRequests(pod).keys()].map((name) => [name, NO_LIMIT])));
  }

  /** Health of each device that the container has: containerStatuses[].allocatedResourcesStatus. */
  health(podUid: PodUid, container: string): ResourceStatus[] {
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

  /** Before the manager is stopped. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    await server?.stop();
  }

  private async started(): Promise<DeviceManager> {
    await this.options.load();
    if (this.loaded === undefined) throw new Error("the device manager was not made");
    return this.loaded;
  }
}
