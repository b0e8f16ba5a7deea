// Allocation of devices to one container through the plugin of the resource: preference, Allocate, PreStartContainer.
// Invariant: devices of a call that is under way are not offered to another container.
// Source: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
import { isSidecar, type Container, type Pod } from "../../../shared/api/pod.js";
import type { Clock } from "../../../shared/clock/clock.js";
import { chooseDevices } from "./choose-devices.js";
import type { DevicePool } from "./device-pool.js";
import type { Endpoints } from "./endpoints.js";
import { groupByNode, type GrantedDevices } from "./granted-devices.js";
import type { DeviceMetrics } from "./metrics.js";
import { callText, DevicePluginError, type PreferenceRequest } from "./plugin-port.js";

export class DeviceAllocator {
  /** Devices chosen for a container whose plugin is being called, by resource. */
  private readonly reserved = new Map<string, Set<string>>();

  constructor(
    private readonly pool: DevicePool,
    private readonly granted: GrantedDevices,
    private readonly endpoints: Endpoints,
    private readonly deps: { metrics: DeviceMetrics; clock: Clock },
  ) {}

  /** The plugin's preferred devices, else any: chosen, allocated by the plugin, recorded. @throws DevicePluginError */
  async allocate(
    pod: Pod,
    container: Container,
    { resource, required, affinity }: { resource: string; required: number; affinity: readonly number[] | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, metrics } = this.deps;
    const devices = this.pool.devices(resource);
    const reusable = this.reusable(pod, container, resource);
    const available = this.available(resource);
    const choice = { resource, required, devices, reusable, available, affinity };
    const ids = await chooseDevices(choice, (request) => this.preferred(resource, request, signal));
    const held = this.hold(resource, ids);
    try {
      const endpoint = this.endpoints.of(resource);
      if (endpoint === undefined) throw new DevicePluginError(`unknown Device Plugin ${resource}`);
      const begun = clock.monotonic();
      const response = await endpoint
        .client()
        .allocate(ids, signal)
        .finally(() => metrics.allocated(resource, clock.monotonic() - begun));
      if (response === undefined) throw new DevicePluginError("no containers return in allocation response");
      signal.throwIfAborted();
      const byNode = groupByNode(ids, (id) => devices.get(id)?.nodes);
      this.granted.put({ podUid: pod.metadata.uid, container: container.name, resource, byNode, response });
    } catch (error) {
      throw new DevicePluginError(callText(error), { cause: error });
    } finally {
      held();
    }
  }

  /** Calls PreStartContainer if the plugin requires it. @throws DevicePluginError */
  async preStart(pod: Pod, container: Container, resource: string, signal: AbortSignal): Promise<void> {
    const endpoint = this.endpoints.of(resource);
    // After a restart of the kubelet a plugin that is not back yet is not waited for.
    if (endpoint === undefined && this.pool.has(resource)) return;
    if (endpoint === undefined) {
      throw new DevicePluginError(`endpoint not found in cache for a registered resource: ${resource}`);
    }
    if (!endpoint.options.preStartRequired) return;
    const ids = this.granted.ids(pod.metadata.uid, container.name, resource);
    if (ids === undefined) {
      throw new DevicePluginError(
        `no devices found allocated in local cache for pod ${pod.metadata.uid}, container ${container.name}, resource ${resource}`,
      );
    }
    try {
      await endpoint.client().preStart([...ids], signal);
    } catch (error) {
      signal.throwIfAborted();
      const text = `device plugin PreStartContainer rpc failed with err: ${callText(error)}`;
      throw new DevicePluginError(text, { cause: error });
    }
  }

  /** Devices that no container has, in the plugin's order. */
  available(resource: string): string[] {
    const taken = this.granted.taken(resource);
    const reserved = this.reserved.get(resource);
    return [...this.pool.usable(resource)].filter((id) => !taken.has(id) && reserved?.has(id) !== true);
  }

  /** Devices of ordinary init containers of the pod that no container uses beside or after this one. */
  reusable(pod: Pod, container: Container, resource: string): string[] {
    const { initContainers = [], containers } = pod.spec;
    const idsOf = ({ name }: Container): string[] => [...(this.granted.ids(pod.metadata.uid, name, resource) ?? [])];
    const others = (list: readonly Container[]): Container[] => list.filter(({ name }) => name !== container.name);
    const staying = new Set([...others(initContainers.filter(isSidecar)), ...others(containers)].flatMap(idsOf));
    const ended = others(initContainers.filter((init) => !isSidecar(init))).flatMap(idsOf);
    const usable = this.pool.usable(resource);
    return [...new Set(ended)].filter((id) => usable.has(id) && !staying.has(id));
  }

  private async preferred(
    resource: string,
    request: PreferenceRequest,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const endpoint = this.endpoints.of(resource);
    if (endpoint === undefined) {
      throw new DevicePluginError(`endpoint not found in cache for a registered resource: ${resource}`);
    }
    if (!endpoint.options.getPreferredAllocationAvailable) return undefined;
    try {
      return await endpoint.client().preferred(request, signal);
    } catch (error) {
      const text = `device plugin GetPreferredAllocation rpc failed with err: ${callText(error)}`;
      throw new DevicePluginError(text, { cause: error });
    }
  }

  /** @returns how to let go of them */
  private hold(resource: string, ids: readonly string[]): () => void {
    const reserved = this.reserved.get(resource) ?? new Set<string>();
    this.reserved.set(resource, reserved);
    for (const id of ids) reserved.add(id);
    return () => {
      for (const id of ids) reserved.delete(id);
    };
  }
}
