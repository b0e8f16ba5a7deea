// A device manager with plugins that live in the test: no sockets, no time of its own.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { DeviceManager, type DeviceManagerOptions } from "../../../../src/main/resources/devices/device-manager.js";
import type { DevicePool } from "../../../../src/main/resources/devices/device-pool.js";
import type {
  ContainerAllocateResponse,
  DevicePluginClient,
  Devices,
  OnDevices,
  PluginDevice,
  PluginOptions,
} from "../../../../src/main/resources/devices/plugin-port.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { createLogger } from "../../../../src/shared/telemetry/log/logger.js";
import { noDeviceMetrics } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { container, pod } from "../pods.js";

export const GPU = "example.com/gpu";
export const never = new AbortController().signal;

export function response(fields: Partial<ContainerAllocateResponse> = {}): ContainerAllocateResponse {
  return { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [], ...fields };
}

/** IDs to devices: healthy ones, near the nodes given. */
export function devices(given: Readonly<Record<string, Partial<PluginDevice>>>): Devices {
  return new Map(Object.entries(given).map(([id, device]) => [id, { healthy: true, nodes: [], ...device }]));
}

/** A new list, compared in one piece. */
export function replaceList(pool: DevicePool, resource: string, list: Devices): { health: string[]; changed: boolean } {
  const steps = pool.compare(resource, list);
  for (;;) {
    const step = steps.next();
    if (step.done !== true) continue;
    return { health: [...step.value.health], changed: pool.update(resource, list, step.value) };
  }
}

export class FakePlugin implements DevicePluginClient {
  readonly allocated: string[][] = [];
  readonly preStarted: string[][] = [];
  readonly asked: { available: readonly string[]; mustInclude: readonly string[]; size: number }[] = [];
  readonly given: PluginOptions = { preStartRequired: false, getPreferredAllocationAvailable: false };
  preferredIds: readonly string[] = [];
  failure: Error | undefined;
  closed = false;
  /** Settles when the last list counts; undefined: at once. */
  said: Promise<void> | undefined;
  private send: OnDevices | undefined;
  private end: (() => void) | undefined;

  constructor(
    private list: Devices,
    options: Partial<PluginOptions> = {},
  ) {
    Object.assign(this.given, options);
  }

  options = (): Promise<PluginOptions> => this.orFail(this.given);
  watch(onDevices: OnDevices, signal: AbortSignal): Promise<void> {
    this.send = onDevices;
    void onDevices(this.list, this.list.size);
    return new Promise((resolve) => {
      this.end = resolve;
      signal.addEventListener("abort", () => resolve());
    });
  }
  preferred(request: FakePlugin["asked"][number]): Promise<readonly string[]> {
    this.asked.push(request);
    return this.orFail(this.preferredIds);
  }
  allocate(ids: readonly string[]): Promise<ContainerAllocateResponse | undefined> {
    this.allocated.push([...ids]);
    return this.orFail(response({ envs: { IDS: ids.join(",") } }));
  }
  preStart(ids: readonly string[]): Promise<void> {
    this.preStarted.push([...ids]);
    return this.orFail(undefined);
  }
  close(): void {
    this.closed = true;
  }

  say(list: Devices): void {
    this.list = list;
    this.said = this.send?.(list, list.size);
  }
  async die(): Promise<void> {
    this.end?.();
    await turn();
  }

  private orFail<T>(value: T): Promise<T> {
    return this.failure === undefined ? Promise.resolve(value) : Promise.reject(this.failure);
  }
}

export interface Kit {
  manager: DeviceManager;
  clock: SteppedClock;
  directory: string;
  /** Pods that count as running. */
  running: Set<string>;
  healthOf: string[][];
  warnings: string[];
  plug: (resource: string, plugin: FakePlugin) => Promise<void>;
  /** The next kubelet: of the same directory. */
  again: (known?: readonly Pod[]) => Promise<Kit>;
}

export async function kit(t: TestContext, more: Partial<DeviceManagerOptions> = {}): Promise<Kit> {
  const directory = await mkdtemp(`${tmpdir()}/nodelet-devices-`);
  const managers: DeviceManager[] = [];
  t.after(async () => {
    for (const manager of managers) await manager.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return made(managers, directory, [], more);
}

async function made(
  managers: DeviceManager[],
  directory: string,
  known: readonly Pod[],
  more: Partial<DeviceManagerOptions>,
): Promise<Kit> {
  const clock = new SteppedClock();
  const running = new Set<PodUid>();
  const healthOf: string[][] = [];
  const plugins = new Map<string, FakePlugin>();
  const warnings: string[] = [];
  const sink = {
    write: (line: string, severe: boolean) => {
      if (severe) warnings.push(line);
    },
    flush: (done: () => void) => done(),
    flushSync: () => undefined,
  };
  const log = createLogger({ thread: "test", sink });
  const manager = new DeviceManager({
    directory,
    dial: (socket) => {
      const plugin = plugins.get(socket);
      return plugin === undefined ? Promise.reject(new Error("no such plugin")) : Promise.resolve(plugin);
    },
    numaNodes: () => [0, 1],
    podRuns: (uid) => running.has(uid),
    runningPods: () => running,
    onDevices: () => undefined,
    onHealth: (uids) => void healthOf.push([...uids]),
    metrics: noDeviceMetrics,
    clock,
    log,
    ...more,
  });
  managers.push(manager);
  await manager.start(() => known);
  return {
    ...{ manager, clock, directory, running, healthOf, warnings },
    async plug(resource, plugin) {
      const socket = `${resource}#${plugins.size}`;
      plugins.set(socket, plugin);
      await manager.endpoints.register(resource, socket, never);
    },
    async again(next = []) {
      await manager.stop();
      return made(managers, directory, next, more);
    },
  };
}

/** A container that wants `count` of the resource. */
export function wanting(name: string, count: number, resource = GPU, rest: Partial<Container> = {}): Container {
  return container(name, undefined, { [resource]: String(count) }, rest);
}

export const podOf = (uid: string, ...containers: Container[]): Pod => pod(containers, {}, uid);

/** The devices of a container. */
export function idsOf(manager: DeviceManager, { metadata }: Pod, name: string, resource = GPU): string[] | undefined {
  const ids = manager.granted.ids(metadata.uid, name, resource);
  return ids && [...ids];
}

/** As before the creation of the pod's containers. */
export async function start(manager: DeviceManager, pod: Pod): Promise<void> {
  for (const one of pod.spec.containers) await manager.ensure(pod, one, never);
}

/** As the joined managers do it. */
export async function allocate(manager: DeviceManager, pod: Pod, nodes?: readonly number[]): Promise<void> {
  const affinity = nodes && { nodes, preferred: true };
  for (const one of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    await manager.allocate(pod, one, affinity, never);
  }
  await manager.finish(pod, never);
}
