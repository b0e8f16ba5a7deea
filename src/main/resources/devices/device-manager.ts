// Allocates the devices of plugins to containers.
// Invariant: no device is allocated to two pods, even if a damaged checkpoint lacks the devices of running pods. A
// container has its devices before it is created. It keeps them over restarts of container, plugin and kubelet until
// its pod is released. An allocation is on disk before the pod is admitted.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { quote } from "../../../shared/base/text/quote.js";
import { finishInTurns, LoopShare } from "../../../shared/base/turns/loop-share.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import {
  AllocationError,
  type ContainerGrant,
  type ResourceHints,
  type ResourceManager,
  type TopologyHint,
} from "../assignment/resource-manager.js";
import { UnknownHolders } from "../assignment/unknown-holders.js";
import { CheckpointFile } from "./checkpoint-file.js";
import { containerGrant } from "./container-grant.js";
import { DeviceAllocator } from "./device-allocator.js";
import { deviceHints, hasTopology } from "./device-hints.js";
import { DevicePool, type ListChange } from "./device-pool.js";
import { containerRequests, podDeviceRequests } from "./device-requests.js";
import { Endpoints } from "./endpoints.js";
import { GrantedDevices } from "./granted-devices.js";
import type { DeviceMetrics } from "./metrics.js";
import { callText, DevicePluginError, type Devices, type DialDevicePlugin } from "./plugin-port.js";

export interface DeviceManagerOptions {
  /** <root-dir>/device-plugins */
  directory: string;
  dial: DialDevicePlugin;
  /** NUMA nodes of the machine. */
  numaNodes: () => readonly number[];
  /** A container of the pod runs: it keeps its devices, even if plugins report others now. */
  podRuns: (podUid: PodUid) => boolean;
  /** Pods of which a sandbox or container runs, known to the kubelet or not. */
  runningPods: () => Iterable<PodUid>;
  /** Which devices the node has changed. */
  onDevices: () => void;
  /** Devices of these pods are healthy now, or no longer. */
  onHealth: (podUids: readonly PodUid[]) => void;
  metrics: DeviceMetrics;
  clock: Clock;
  log: Logger;
}

export class DeviceManager implements ResourceManager {
  readonly kind = "devices";
  readonly pool = new DevicePool();
  readonly granted = new GrantedDevices();
  readonly endpoints: Endpoints;
  private readonly allocator: DeviceAllocator;
  private readonly file: CheckpointFile;
  private readonly loop: LoopShare;
  private expiry: Timer | undefined;
  private pods: () => Iterable<Pod> = () => [];
  private swept = false;
  /** Set when a checkpoint of this node was damaged. */
  private unknown: UnknownHolders | undefined;
  /** With a damaged checkpoint: pods that ran before this kubelet admitted the first one. */
  private ranBefore: ReadonlySet<PodUid> = new Set();

  constructor(private readonly options: DeviceManagerOptions) {
    const { directory, clock, log } = options;
    const loop = new LoopShare(clock);
    this.loop = loop;
    this.file = new CheckpointFile({
      directory,
      clock,
      log,
      loop,
      content: () => ({
        entries: [...this.granted.entries()],
        registered: new Map(this.pool.names().map((name) => [name, [...this.pool.usable(name)]])),
      }),
    });
    this.endpoints = new Endpoints(
      options.dial,
      {
        hasRoomFor: (resource) => this.pool.hasRoomFor(resource),
        onConnected: (resource) => {
          this.pool.connected(resource);
          options.onDevices();
        },
        onDevices: (resource, devices, isCurrent) => this.update(resource, devices, isCurrent),
        onStopped: (resource) => this.stopped(resource),
      },
      log,
    );
    this.allocator = new DeviceAllocator(this.pool, this.granted, this.endpoints, options);
  }

  async start(pods: () => Iterable<Pod>): Promise<void> {
    this.pods = pods;
    const { content, lost } = await this.file.read();
    if (lost !== undefined) {
      const { runningPods } = this.options;
      const has = (uid: PodUid): boolean => this.granted.has(uid);
      this.unknown = new UnknownHolders({ lost, file: "device checkpoint", pods, runningPods, has });
    }
    if (content === undefined) return;
    for (const entry of content.entries) this.granted.put(entry);
    for (const resource of content.registered.keys()) this.pool.restore(resource, this.options.clock.monotonic());
    this.expireLater();
    this.options.onDevices();
  }

  /** How many devices of each resource containers have, or are held for containers. */
  totals(): ReadonlyMap<string, number> {
    return this.allocator.totals();
  }

  hints(pod: Pod, container: Container): ResourceHints {
    this.sweep(pod);
    const { uid } = pod.metadata;
    return this.hintsFor(
      containerRequests(container),
      (resource) => this.granted.ids(uid, container.name, resource),
      (resource) => this.allocator.reusable(pod, container, resource),
    );
  }

  podHints(pod: Pod): ResourceHints {
    this.sweep(pod);
    const had = (resource: string): ReadonlySet<string> => this.granted.podIds(pod.metadata.uid, resource);
    return this.hintsFor(podDeviceRequests(pod), had, () => []);
  }

  /** Holds the devices. @throws AllocationError; or the signal's reason */
  async allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    // To choose among tens of thousands takes some milliseconds for each container.
    if (containerRequests(container).size > 0) await this.loop.turn();
    signal.throwIfAborted();
    this.sweep(pod);
    try {
      for (const [resource, required] of containerRequests(container)) {
        if (!this.isOurs(resource)) continue;
        if (this.isSettled(pod, container, resource, required)) continue;
        this.allocator.hold(pod, container, { resource, required, affinity: affinity?.nodes });
      }
    } catch (error) {
      throw allocationError(error);
    }
  }

  awaitsPlugin(podUid: PodUid): boolean {
    return this.allocator.isHolding(podUid);
  }

  /** @throws AllocationError; or the signal's reason */
  async finish(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.allocator.finish(pod, signal);
      signal.throwIfAborted();
      await this.file.save();
    } catch (error) {
      signal.throwIfAborted();
      throw allocationError(error);
    }
  }

  cancel(podUid: PodUid): void {
    this.allocator.cancel(podUid);
  }

  /** A container without an entry was admitted before its plugin, or ran when the checkpoint was lost. */
  async ensure(pod: Pod, container: Container, signal: AbortSignal): Promise<void> {
    const { uid } = pod.metadata;
    const requests = [...containerRequests(container)];
    const missing = requests.filter(([resource]) => this.granted.ids(uid, container.name, resource) === undefined);
    if (missing.length === 0) return;
    try {
      for (const [resource, required] of missing) {
        if (this.unknown !== undefined && this.ranBefore.has(uid)) {
          throw new DevicePluginError(this.unknown.ownProblem(`${resource} allocation`, container.name));
        }
        if (!this.isOurs(resource)) continue;
        this.checkAllocatable(pod, resource, undefined);
        const held = this.allocator.hold(pod, container, { resource, required, affinity: undefined });
        await this.allocator.finishOne(pod, container, held, signal);
        await this.file.save().catch((error: unknown) => {
          this.granted.remove(uid, container.name, resource);
          throw error;
        });
      }
    } catch (error) {
      signal.throwIfAborted();
      throw allocationError(error);
    }
  }

  grant(pod: Pod, container: Container): ContainerGrant {
    const granted = this.granted.of(pod.metadata.uid, container.name);
    return containerGrant(new Map([...granted].map(([resource, { response }]) => [resource, response])));
  }

  async preStart(pod: Pod, container: Container, signal: AbortSignal): Promise<void> {
    for (const resource of containerRequests(container).keys()) {
      if (this.isOurs(resource)) await this.allocator.preStart(pod, container, resource, signal);
    }
  }

  release(podUid: PodUid): void {
    this.allocator.cancel(podUid);
    if (this.granted.forget(podUid)) this.saveLater();
  }

  async stop(): Promise<void> {
    this.expiry?.cancel();
    await this.endpoints.stop();
    await this.file.settled();
  }

  /**
   * Once, when the first pod is admitted: what pods have that ended while no kubelet ran is free. Pods that run count
   * though no source has named them yet: another kubelet may have started them.
   */
  private sweep({ metadata }: Pod): void {
    if (this.swept) return;
    this.swept = true;
    if (this.unknown !== undefined) this.ranBefore = new Set(this.options.runningPods());
    const known = new Set([...this.pods()].map((pod) => pod.metadata.uid));
    for (const uid of this.granted.uids()) {
      if (uid !== metadata.uid && !known.has(uid) && !this.options.podRuns(uid)) this.release(uid);
    }
  }

  private hintsFor(
    requests: ReadonlyMap<string, number>,
    had: (resource: string) => ReadonlySet<string> | undefined,
    reusableOf: (resource: string) => readonly string[],
  ): ResourceHints {
    const hints = new Map<string, readonly TopologyHint[] | undefined>();
    for (const [resource, request] of requests) {
      if (!this.isOurs(resource)) continue;
      const devices = this.pool.devices(resource);
      if (!hasTopology(devices)) {
        hints.set(resource, undefined);
        continue;
      }
      const given = had(resource);
      const again = given !== undefined && given.size > 0;
      const reusable = again ? [] : reusableOf(resource);
      const available = again ? given : new Set(this.allocator.available(resource));
      const enough = again ? given.size === request : new Set([...available, ...reusable]).size >= request;
      const numaNodes = this.options.numaNodes();
      const input = { devices, numaNodes, available, reusable: new Set(reusable), request };
      hints.set(resource, enough ? deviceHints(input) : []);
    }
    return hints;
  }

  /** Some plugin offers it, or has. */
  private isOurs(resource: string): boolean {
    return this.pool.has(resource) || this.granted.isUsed(resource);
  }

  /** No device can be allocated. @throws DevicePluginError if the container can't have its devices */
  private isSettled(pod: Pod, { name }: Container, resource: string, required: number): boolean {
    const { uid } = pod.metadata;
    const had = this.granted.ids(uid, name, resource);
    if (had !== undefined && had.size !== required) {
      throw new DevicePluginError(
        `pod ${quote(uid)} container ${quote(name)} changed request for resource ${quote(resource)} from ${had.size} to ${required}`,
      );
    }
    if (this.options.podRuns(uid)) return true;
    this.checkAllocatable(pod, resource, had);
    return had !== undefined;
  }

  /**
   * @param had device ids that the container has.
   * @throws DevicePluginError when it cannot have it, or nothing may be allocated
   */
  private checkAllocatable({ metadata: { uid } }: Pod, resource: string, had: ReadonlySet<string> | undefined): void {
    if (!this.pool.has(resource)) throw new DevicePluginError(`cannot allocate unregistered device ${resource}`);
    const usable = this.pool.usable(resource);
    if (usable.size === 0) {
      throw new DevicePluginError(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
    }
    if (had !== undefined && ![...had].every((id) => usable.has(id))) {
      throw new DevicePluginError(
        `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
      );
    }
    if (had !== undefined) return;
    const problem = this.unknown?.problem(`${resource} allocation`, uid, (other) => this.isUnknown(other, resource));
    if (problem !== undefined) throw new DevicePluginError(problem);
  }

  /** The pod requested the resource, and no entry has its devices. */
  private isUnknown({ metadata, spec }: Pod, resource: string): boolean {
    return containersOf(spec).some(
      (container) =>
        containerRequests(container).has(resource) &&
        this.granted.ids(metadata.uid, container.name, resource) === undefined,
    );
  }

  /** In pieces: a plugin may report tens of thousands of devices. A list of a few counts at once. */
  private update(resource: string, devices: Devices, isCurrent: () => boolean): Promise<void> | undefined {
    const comparison = this.pool.compare(resource, devices);
    const first = comparison.next();
    if (first.done === true) {
      this.replace(resource, devices, first.value);
      return undefined;
    }
    return finishInTurns(comparison, this.loop).then((change) => {
      if (isCurrent()) this.replace(resource, devices, change);
    });
  }

  private replace(resource: string, devices: Devices, change: ListChange): void {
    const { health } = change;
    // Many plugins repeat their list: nothing is written then.
    if (!this.pool.update(resource, devices, change)) return;
    this.options.onDevices();
    const holders = health.length === 0 ? [] : this.granted.holders(resource, health);
    if (holders.length > 0) this.options.onHealth(holders);
    this.saveLater();
  }

  private stopped(resource: string): void {
    this.pool.stopped(resource, this.options.clock.monotonic());
    this.options.onDevices();
    this.expireLater();
    this.saveLater();
  }

  /** Looks again when a plugin has been away for the grace period. */
  private expireLater(): void {
    const { clock, log } = this.options;
    this.expiry?.cancel();
    const next = this.pool.nextExpiry();
    if (next === undefined) return;
    this.expiry = clock
      .after(Math.max(0, next - clock.monotonic()), () => {
        for (const resource of this.pool.expire(clock.monotonic())) {
          this.endpoints.forget(resource);
          log.info({ resource }, `removed devices ${resource} from the node: their plugin is unavailable`);
        }
        this.options.onDevices();
        this.saveLater();
        this.expireLater();
      })
      .unref();
  }

  private saveLater(): void {
    this.file.save().catch((error: unknown) => {
      this.options.log.error(
        { err: error },
        `cannot write the device checkpoint: ${errorText(error)}; a restarted kubelet may not know which devices are in use`,
      );
    });
  }
}

function allocationError(error: unknown): AllocationError {
  return new AllocationError("UnexpectedAdmissionError", callText(error), { cause: error });
}
