// The DRA drivers of this node: plugins that registered by the plugin watcher. A driver may have several plugins at
// once, while a new version takes over from an old one; the newest connected one is called.
// Invariant: a driver without a connected plugin for WIPE_DELAY_MS loses the ResourceSlices of this node; no pod is
// then scheduled to devices that cannot be prepared; a plugin that comes back in time keeps them.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { type PluginHandler, type PluginInfo } from "../../model/plugin-handler.js";
import { PluginRefusedError, requireDriverName } from "../../model/plugin-refused.js";
import { DraError } from "./dra-error.js";
import { DRA_SERVICES, HEALTH_SERVICES, type DriverClient, type DriverServices } from "./driver-port.js";

/** Upstream's: long enough for a plugin's restart. */
const WIPE_DELAY_MS = 30_000;

export interface DriversOptions {
  dial(driver: string, endpoint: string, services: DriverServices): Promise<DriverClient>;
  /** Deletes the node's ResourceSlices of the driver; retries by itself until the signal aborts. */
  wipeSlices(driver: string, signal: AbortSignal): void;
  /** Follows the health of the driver's devices until the signal aborts. Absent: gate ResourceHealthStatus is off. */
  watchHealth?(driver: string, client: DriverClient, signal: AbortSignal): void;
  clock: Clock;
  log: Logger;
}

interface Plugin {
  endpoint: string;
  client: DriverClient;
  /** The kubelet is connected to its service; a plugin may keep its registration without one. */
  connected: boolean;
  /** Aborts when the plugin is deregistered. */
  gone: AbortController;
}

export class Drivers implements PluginHandler {
  /** By driver, in the order of registration. */
  private readonly plugins = new Map<string, Plugin[]>();
  private readonly wipes = new Map<string, { timer: Timer; abort: AbortController }>();

  constructor(private readonly options: DriversOptions) {}

  /** @throws PluginRefusedError */
  validate({ name, endpoint, versions }: PluginInfo): void {
    requireDriverName("DRA", name);
    if (versions.length === 0)
      throw new PluginRefusedError(`DRA driver ${name}: its plugin at ${endpoint} names no gRPC service`);
    if (servicesOf(versions) === undefined) {
      throw new PluginRefusedError(
        `DRA driver ${name}: the kubelet knows none of the gRPC services ${versions.join(", ")} of its plugin at ${endpoint}; ` +
          `it knows ${DRA_SERVICES.join(", ")}`,
      );
    }
  }

  async register({ name, endpoint, versions }: PluginInfo): Promise<void> {
    const services = servicesOf(versions);
    if (services === undefined) return;
    const others = this.plugins.get(name) ?? [];
    if (others.some((plugin) => plugin.endpoint === endpoint)) {
      throw new PluginRefusedError(`DRA driver ${name}: endpoint ${endpoint} is registered already`);
    }
    const client = await this.options.dial(name, endpoint, services);
    const plugin: Plugin = { endpoint, client, connected: false, gone: new AbortController() };
    this.plugins.set(name, [...(this.plugins.get(name) ?? []), plugin]);
    this.options.watchHealth?.(name, client, plugin.gone.signal);
    const { claims: service } = services;
    this.options.log.info({ driver: name, endpoint, service }, `DRA driver ${name} is registered at ${endpoint}`);
    this.decideSlices(name);
    client.watchConnection((connected) => this.onConnection(name, plugin, connected));
  }

  deregister({ name, endpoint }: PluginInfo): Promise<void> {
    const plugins = this.plugins.get(name) ?? [];
    const gone = plugins.find((plugin) => plugin.endpoint === endpoint);
    if (gone === undefined) return Promise.resolve();
    close(gone);
    const left = plugins.filter((plugin) => plugin !== gone);
    this.options.log.info(
      { driver: name, endpoint, plugins: left.length },
      `DRA driver ${name} is no longer registered at ${endpoint}`,
    );
    if (left.length > 0) this.plugins.set(name, left);
    else this.plugins.delete(name);
    this.decideSlices(name);
    return Promise.resolve();
  }

  /** The newest connected plugin of the driver, or else the newest. @throws DraError */
  client(driver: string): DriverClient {
    const plugins = this.plugins.get(driver) ?? [];
    const newest = plugins.findLast(({ connected }) => connected) ?? plugins.at(-1);
    if (newest === undefined) throw new DraError(`DRA driver ${driver} is not registered`);
    return newest.client;
  }

  stop(): void {
    for (const driver of [...this.wipes.keys()]) this.keepSlices(driver);
    for (const plugin of [...this.plugins.values()].flat()) close(plugin);
    this.plugins.clear();
  }

  private onConnection(driver: string, plugin: Plugin, connected: boolean): void {
    if (plugin.gone.signal.aborted || plugin.connected === connected) return;
    plugin.connected = connected;
    const { endpoint } = plugin;
    const what = connected ? "is connected to" : "has lost the connection to";
    this.options.log.info({ driver, endpoint, connected }, `DRA driver ${driver}: the kubelet ${what} ${endpoint}`);
    this.decideSlices(driver);
  }

  /** A wipe that is due already keeps its time, also when more is lost meanwhile. */
  private decideSlices(driver: string): void {
    const usable = this.plugins.get(driver)?.some(({ connected }) => connected) === true;
    if (usable) this.keepSlices(driver);
    else if (!this.wipes.has(driver)) this.wipeLater(driver);
  }

  private wipeLater(driver: string): void {
    const abort = new AbortController();
    const timer = this.options.clock.after(WIPE_DELAY_MS, () => this.options.wipeSlices(driver, abort.signal));
    this.wipes.set(driver, { timer, abort });
  }

  private keepSlices(driver: string): void {
    const wipe = this.wipes.get(driver);
    wipe?.timer.cancel();
    wipe?.abort.abort(new Error(`DRA driver ${driver} is usable again`));
    this.wipes.delete(driver);
  }
}

function close({ client, gone }: Plugin): void {
  gone.abort(new Error("the plugin is no longer registered"));
  client.close();
}

/** For claims, the first supported service in the plugin's list, as upstream chooses; for health, the newest. */
function servicesOf(versions: readonly string[]): DriverServices | undefined {
  const claims = versions.flatMap((version) => DRA_SERVICES.find((service) => service === version) ?? [])[0];
  const health = HEALTH_SERVICES.find((service) => versions.includes(service)) ?? "v1alpha1.DRAResourceHealth";
  return claims && { claims, health };
}
