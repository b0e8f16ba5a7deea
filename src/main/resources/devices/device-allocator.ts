// Allocation of devices to one container through the plugin of the resource: preference, Allocate, PreStartContainer.
// Enough devices are held for the container before the first call, so a plugin that hangs delays only pods that need
// its devices.
// Invariant: devices that are held for a container, or of a call that is under way, are not offered to another one.
// Source: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/

import type { Clock } from "../../../shared/base/clock/clock.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { isSidecar, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { chooseDevices, type DeviceChoice } from "./choose-devices.js";
import type { DevicePool } from "./device-pool.js";
import type { Endpoints } from "./endpoints.js";
import { groupByNode, type GrantedDevices } from "./granted-devices.js";
import { HeldDevices, type HeldRequest } from "./held-devices.js";
import type { DeviceMetrics } from "./metrics.js";
import { callText, DevicePluginError, type PreferenceRequest } from "./plugin-port.js";

export interface DeviceRequest {
  resource: string;
  /** The number of devices. */
  required: number;
  /** NUMA nodes that the devices should be near to; undefined: no preference. */
  affinity: readonly number[] | undefined;
}

export class DeviceAllocator {
  private readonly held = new HeldDevices();
  /** Plugins expect one allocation at a time. */
  private readonly calls = new KeyedSerializer();

  constructor(
    private readonly pool: DevicePool,
    private readonly granted: GrantedDevices,
    private readonly endpoints: Endpoints,
    private readonly deps: { metrics: DeviceMetrics; clock: Clock },
  ) {}

  /**
   * Holds devices for the container, until `finish` or `cancel`.
   * @throws DevicePluginError when there are not enough
   */
  hold(pod: Pod, container: Container, request: DeviceRequest): HeldRequest {
    const chosen = this.choose(pod, container, request, undefined);
    const held: HeldRequest = { podUid: pod.metadata.uid, container: container.name, ...request, ...chosen };
    this.held.put(held);
    return held;
  }

  isHolding(podUid: PodUid): boolean {
    return this.held.of(podUid).length > 0;
  }

  /** Plugins allocate the devices held for the pod, in the order of its containers. @throws DevicePluginError */
  async finish(pod: Pod, signal: AbortSignal): Promise<void> {
    const containers = new Map(containersOf(pod.spec).map((container) => [container.name, container]));
    for (const held of this.held.of(pod.metadata.uid)) {
      const container = containers.get(held.container);
      if (container !== undefined) await this.finishOne(pod, container, held, signal);
    }
  }

  /**
   * The plugin's preferred devices, else those that are held: allocated by the plugin, recorded.
   * @throws DevicePluginError
   */
  async finishOne(pod: Pod, container: Container, held: HeldRequest, signal: AbortSignal): Promise<void> {
    try {
      await this.calls.run(held.resource, () => this.call(pod, container, held, signal), signal);
    } finally {
      this.held.remove(held);
    }
  }

  /** Frees the devices that are held for the pod. */
  cancel(podUid: PodUid): void {
    this.held.forget(podUid);
  }

  private async call(pod: Pod, container: Container, held: HeldRequest, signal: AbortSignal): Promise<void> {
    const { clock, metrics } = this.deps;
    const { resource, podUid } = held;
    this.requireHeld(held);
    const { request } = this.choice(pod, container, held);
    const preferred = request === undefined ? undefined : await this.preferred(resource, request, signal);
    this.requireHeld(held);
    Object.assign(held, this.choose(pod, container, held, preferred));
    const { ids } = held;
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
      this.requireHeld(held);
      const devices = this.pool.devices(resource);
      const byNode = groupByNode(ids, (id) => devices.get(id)?.nodes);
      this.granted.put({ podUid, container: container.name, resource, byNode, response });
    } catch (error) {
      throw new DevicePluginError(callText(error), { cause: error });
    }
  }

  /** @throws DevicePluginError when the pod was given up during a call */
  private requireHeld(held: HeldRequest): void {
    if (!this.held.has(held))
      throw new DevicePluginError(`pod ${held.podUid} no longer needs devices ${held.resource}`);
  }

  private choice(pod: Pod, container: Container, { resource, required, affinity }: DeviceRequest): DeviceChoice {
    const devices = this.pool.devices(resource);
    const reusable = this.reusable(pod, container, resource);
    const available = this.available(resource, { podUid: pod.metadata.uid, container: container.name });
    return chooseDevices({ resource, required, devices, reusable, available, affinity });
  }

  private choose(
    pod: Pod,
    container: Container,
    request: DeviceRequest,
    preferred: readonly string[] | undefined,
  ): Pick<HeldRequest, "fresh" | "ids"> {
    const ids = this.choice(pod, container, request).with(preferred);
    const again = new Set(this.reusable(pod, container, request.resource));
    return { ids, fresh: ids.filter((id) => !again.has(id)) };
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

  /** Devices that no container has, in the plugin's order. Those that are held for `own` count as free. */
  available(resource: string, own?: { podUid: PodUid; container: string }): string[] {
    const taken = this.granted.taken(resource);
    const held = this.held.taken(resource, own);
    return [...this.pool.usable(resource)].filter((id) => !taken.has(id) && !held.has(id));
  }

  /** How many devices of each resource containers have, or are held for containers. */
  totals(): Map<string, number> {
    const totals = this.granted.totals();
    for (const resource of this.pool.names()) {
      const held = this.held.taken(resource).size;
      if (held > 0) totals.set(resource, (totals.get(resource) ?? 0) + held);
    }
    return totals;
  }

  /** Devices of ordinary init containers of the pod that no container uses beside or after this one. */
  reusable(pod: Pod, container: Container, resource: string): string[] {
    const { initContainers = [], containers } = pod.spec;
    const { uid } = pod.metadata;
    const held = this.held.before(uid, container.name).filter((one) => one.resource === resource);
    const idsOf = ({ name }: Container): readonly string[] => [
      ...(this.granted.ids(uid, name, resource) ?? held.find((one) => one.container === name)?.ids ?? []),
    ];
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
}
