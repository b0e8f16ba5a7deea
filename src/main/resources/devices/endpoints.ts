// The device plugins that are connected, one per resource: the one that registered last.
//
//   register ── options ──▶ connected (stream of devices) ── stream ended, or deregistered ──▶ stopped ── forgotten
//
// Invariant: messages of an earlier plugin of a resource are ignored; a plugin that stopped keeps its options, and is
// not called any more; every stream is ended by stop(). The limits of plugin-limits.ts hold for all plugins together.

import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { ListSizes, MAX_RESOURCES, PendingRegistrations } from "./plugin-limits.js";
import {
  callText,
  DevicePluginError,
  type DevicePluginClient,
  type Devices,
  type OnDevices,
  type DialDevicePlugin,
  type PluginOptions,
} from "./plugin-port.js";

export interface Endpoint {
  readonly socket: string;
  readonly options: PluginOptions;
  /** @throws DevicePluginError when the plugin has stopped */
  client(): DevicePluginClient;
}

export interface EndpointEvents {
  /** Whether the node may offer the resource: it does already, or there is room for another name. */
  hasRoomFor(resource: string): boolean;
  onConnected(resource: string): void;
  /** The list is dropped if the plugin is not the current one any more when its turn comes. */
  onDevices(resource: string, devices: Devices, isCurrent: () => boolean): Promise<void> | undefined;
  onStopped(resource: string): void;
}

class Connection implements Endpoint {
  private readonly ended = new AbortController();
  isLive = true;
  /** Settles when the stream has ended. */
  done: Promise<void> = Promise.resolve();

  constructor(
    readonly socket: string,
    readonly options: PluginOptions,
    private readonly plugin: DevicePluginClient,
  ) {}

  client(): DevicePluginClient {
    if (!this.isLive) throw new DevicePluginError(`endpoint ${this.socket} has been stopped`);
    return this.plugin;
  }

  watch(onDevices: OnDevices): Promise<void> {
    return this.plugin.watch(onDevices, this.ended.signal);
  }

  /** @returns false when it had ended before */
  end(): boolean {
    if (!this.isLive) return false;
    this.isLive = false;
    this.ended.abort(new Error("the kubelet stopped listening to the device plugin"));
    this.plugin.close();
    return true;
  }
}

export class Endpoints {
  private readonly current = new Map<string, Connection>();
  private readonly streams = new Set<Promise<void>>();
  private readonly sizes = new ListSizes();
  private readonly pending = new PendingRegistrations();
  private stopping = false;

  constructor(
    private readonly dial: DialDevicePlugin,
    private readonly events: EndpointEvents,
    private readonly log: Logger,
  ) {}

  /** Resolves when the plugin has responded; its devices come later. @throws DevicePluginError */
  async register(resource: string, socket: string, signal: AbortSignal): Promise<void> {
    await this.pending.run(signal, (own) => this.connect(resource, socket, own));
  }

  private async connect(resource: string, socket: string, signal: AbortSignal): Promise<void> {
    this.requireRoom(resource);
    const plugin = await this.dial(socket);
    let connection: Connection;
    try {
      connection = new Connection(socket, await plugin.options(signal), plugin);
    } catch (error) {
      plugin.close();
      throw new DevicePluginError(`failed to get device plugin options: ${callText(error)}`, { cause: error });
    }
    if (this.stopping || signal.aborted) {
      plugin.close();
      throw new DevicePluginError(
        `${resource} is not registered: the kubelet is stopping, or the plugin has disconnected`,
      );
    }
    try {
      // Again: other names may have registered meanwhile.
      this.requireRoom(resource);
    } catch (error) {
      plugin.close();
      throw error;
    }
    this.current.get(resource)?.end();
    this.current.set(resource, connection);
    this.events.onConnected(resource);
    const stream = this.follow(resource, connection).finally(() => this.streams.delete(stream));
    this.streams.add(stream);
  }

  /** Only the plugin of that very socket is meant. */
  deregister(resource: string, socket: string): void {
    const connection = this.current.get(resource);
    if (connection?.socket === socket) this.ended(resource, connection);
  }

  of(resource: string): Endpoint | undefined {
    return this.current.get(resource);
  }

  /** Its plugin has been away for long. */
  forget(resource: string): void {
    this.current.delete(resource);
    this.sizes.forget(resource);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    for (const connection of this.current.values()) connection.end();
    await Promise.all(this.streams);
  }

  /** Never rejects. */
  private async follow(resource: string, connection: Connection): Promise<void> {
    const isCurrent = (): boolean => connection.isLive && this.current.get(resource) === connection && !this.stopping;
    let why = "the plugin closed it";
    try {
      await connection.watch((devices, bytes) => {
        if (!isCurrent()) return undefined;
        this.sizes.replace(resource, bytes);
        return this.events.onDevices(resource, devices, isCurrent);
      });
    } catch (error) {
      why = callText(error);
    }
    if (!isCurrent()) return;
    this.log.warn({ resource, socket: connection.socket }, `ListAndWatch of device plugin ${resource} ended: ${why}`);
    this.ended(resource, connection);
  }

  /** @throws DevicePluginError */
  private requireRoom(resource: string): void {
    if (this.events.hasRoomFor(resource)) return;
    throw new DevicePluginError(
      `${resource} is not registered: device plugins have registered ${MAX_RESOURCES} resources, and the kubelet takes no more`,
    );
  }

  private ended(resource: string, connection: Connection): void {
    if (connection.end()) this.events.onStopped(resource);
  }
}
