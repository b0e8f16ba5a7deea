// A device plugin of the simulated machine. It registers with each kubelet, and lists its devices to it. A container
// learns its devices from a variable.
// Invariant: the plugin itself keeps no account of who has a device.

import {
  DevicePluginService,
  type ContainerPreferredAllocationRequest,
} from "../../../src/shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";
import { kernel } from "../kernel/kernel.js";
import type { GrpcServer } from "../modules/grpc-client.js";
import { ROOT } from "./machine-files.js";
import { plugins } from "./plugin-sockets.js";
import type { Reply, Served } from "./runtime.js";

export const RESOURCE = "example.com/device";
/** Variable with the devices of a container. */
export const VARIABLE = "DEVICES";

export type PluginFault =
  | { do: "plugin-dies"; ms: number }
  /** Allocate takes longer. */
  | { do: "plugin-slow"; lateMs: number; ms: number }
  | { do: "device-sick"; pick: number; ms: number };

const FOLDER = `${ROOT}/device-plugins`;
const KUBELET = `${FOLDER}/kubelet.sock`;
const ENDPOINT = "device.sock";
const REGISTER = "/v1beta1.Registration/Register";
/** To the next attempt to register. */
const AGAIN_MS = 5000;
const MOST_ANSWER_MS = 20;

export interface Preference {
  available: readonly string[];
  mustInclude: readonly string[];
  size: number;
  /** What the plugin answers. */
  preferred: readonly string[];
}

/** Part of the preferences that cannot be followed. */
const USELESS = 0.15;

export class DevicePlugin {
  private readonly healthy = new Map<string, boolean>();
  /** Hears of each answer to GetPreferredAllocation. */
  readonly onPreference = new Set<(preference: Preference) => void>();
  /** Hears of the devices that the kubelet gives to a container. */
  readonly onAllocate = new Set<(ids: readonly string[]) => void>();
  private readonly options: { preStartRequired: boolean; getPreferredAllocationAvailable: boolean };
  private readonly lists = new Set<Reply>();
  /** Steady moment at which it first listed its devices. */
  firstListAt: number | undefined;
  private isUp = true;
  /** Added to each answer of Allocate, ms. */
  private lateMs = 0;
  private readonly server: GrpcServer = {
    call: (path, bytes, reply) => this.call(path.slice(path.lastIndexOf("/") + 1), bytes, reply),
  };

  constructor(
    count: number,
    private readonly nodes: number,
    prefers: boolean,
  ) {
    this.options = { preStartRequired: false, getPreferredAllocationAvailable: prefers };
    for (let at = 0; at < count; at++) this.healthy.set(`device-${at}`, true);
    plugins.serve(`${FOLDER}/${ENDPOINT}`, this.server);
    plugins.onBound.add((path) => {
      if (path === KUBELET) this.register();
    });
  }

  /** A fault, which ends by itself. */
  perform(fault: PluginFault): void {
    switch (fault.do) {
      case "plugin-dies":
        this.die(fault.ms);
        return;
      case "plugin-slow":
        this.lateMs = fault.lateMs;
        kernel.after(kernel.world, fault.ms, () => {
          this.lateMs = 0;
        });
        return;
      case "device-sick": {
        const id = [...this.healthy.keys()][fault.pick % this.healthy.size];
        if (id === undefined) return;
        this.setHealth(id, false);
        kernel.after(kernel.world, fault.ms, () => this.setHealth(id, true));
      }
    }
  }

  /** The plugin's process ends, and comes back after `ms`. */
  private die(ms: number): void {
    if (!this.isUp) return;
    this.isUp = false;
    plugins.serve(`${FOLDER}/${ENDPOINT}`, undefined);
    for (const list of this.lists) list.failed({ code: 14, details: "the plugin has ended" });
    this.lists.clear();
    kernel.after(kernel.world, ms, () => {
      this.isUp = true;
      plugins.serve(`${FOLDER}/${ENDPOINT}`, this.server);
      this.register();
    });
  }

  isHealthy(id: string): boolean {
    return this.healthy.get(id) === true;
  }

  private setHealth(id: string, healthy: boolean): void {
    this.healthy.set(id, healthy);
    for (const list of this.lists) this.sendList(list);
  }

  private register(): void {
    if (!this.isUp) return;
    kernel.after(kernel.world, kernel.random.between(1, 500), () => {
      const { options } = this;
      const request = { version: "v1beta1", endpoint: ENDPOINT, resourceName: RESOURCE, options };
      plugins.callKubelet(KUBELET, REGISTER, request, (error) => {
        if (error !== null && this.lists.size === 0) kernel.after(kernel.world, AGAIN_MS, () => this.register());
      });
    });
  }

  private call(method: string, bytes: Buffer, reply: Reply): Served {
    const { getDevicePluginOptions, allocate, getPreferredAllocation } = DevicePluginService;
    switch (method) {
      case "ListAndWatch":
        this.firstListAt ??= kernel.monotonic;
        this.lists.add(reply);
        this.sendList(reply);
        return { cancel: () => void this.lists.delete(reply) };
      case "GetDevicePluginOptions": {
        reply.message(Buffer.from(getDevicePluginOptions.responseSerialize(this.options)));
        return { cancel: () => undefined };
      }
      case "Allocate": {
        const { containerRequests } = allocate.requestDeserialize(bytes);
        for (const { devicesIds } of containerRequests) for (const listener of this.onAllocate) listener(devicesIds);
        const containerResponses = containerRequests.map(({ devicesIds }) => ({
          envs: { [VARIABLE]: devicesIds.join(",") },
          mounts: [],
          devices: [],
          annotations: {},
          cdiDevices: [],
        }));
        return this.answer(reply, () => allocate.responseSerialize({ containerResponses }));
      }
      case "GetPreferredAllocation": {
        const { containerRequests } = getPreferredAllocation.requestDeserialize(bytes);
        return this.answer(reply, () => {
          const containerResponses = containerRequests.map((request) => ({ deviceIDs: this.prefer(request) }));
          return getPreferredAllocation.responseSerialize({ containerResponses });
        });
      }
      default:
        reply.failed({ code: 12, details: `${method} is not implemented` });
        return { cancel: () => undefined };
    }
  }

  /** The last ones, and now and then devices that are not free, or too few. */
  private prefer({
    availableDeviceIDs: available,
    mustIncludeDeviceIDs: mustInclude,
    allocationSize: size,
  }: ContainerPreferredAllocationRequest): string[] {
    const others = available.filter((id) => !mustInclude.includes(id)).reverse();
    const isUseless = kernel.random.chance(USELESS);
    const preferred = isUseless ? [...this.healthy.keys()].slice(0, 1) : [...mustInclude, ...others].slice(0, size);
    for (const listener of this.onPreference) listener({ available, mustInclude, size, preferred });
    return preferred;
  }

  private answer(reply: Reply, bytes: () => Uint8Array): Served {
    const ms = kernel.random.between(1, MOST_ANSWER_MS) + this.lateMs;
    const timer = kernel.after(kernel.world, ms, () => {
      if (this.isUp) reply.message(Buffer.from(bytes()));
      else reply.failed({ code: 14, details: "the plugin has ended" });
    });
    return { cancel: () => timer.cancel() };
  }

  private sendList(reply: Reply): void {
    const devices = [...this.healthy].map(([id, isHealthy], at) => ({
      ID: id,
      health: isHealthy ? "Healthy" : "Unhealthy",
      topology: { nodes: [{ ID: BigInt(at % this.nodes) }] },
    }));
    reply.message(Buffer.from(DevicePluginService.listAndWatch.responseSerialize({ devices })));
  }
}
