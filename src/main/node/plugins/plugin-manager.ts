// Node plugins register by a socket below <root-dir>/plugins_registry and are deregistered when the socket is removed.
// A socket there that never responds delays only itself.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { FairTurns } from "../../../shared/base/turns/fair-turns.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { DialRegistration, PluginHandlers } from "../../model/plugin-handler.js";
import { type PluginLabels, labelPluginFolders } from "./plugin-labels.js";
import { PluginSocket } from "./plugin-socket.js";
import { SocketWatch } from "./socket-watch.js";

/** Registrations under way: each holds a connection and calls of the API server. */
const AT_ONCE = 16;

export interface PluginManagerOptions {
  rootDir: string;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  /** By type of plugin; a type without one is refused. */
  handlers: PluginHandlers;
  /** For tests; default: gRPC, loaded with the first socket. */
  dial?: DialRegistration;
}

export function pluginMetrics(registry: ThreadRegistry) {
  return registry.gauge("plugin_manager_total_plugins", "Number of plugins in Plugin Manager", [
    "socket_path",
    "state",
  ]);
}

export class PluginManager {
  private readonly sockets = new Map<string, PluginSocket>();
  private readonly watch: SocketWatch;
  private readonly labels: PluginLabels;
  private readonly deps: ConstructorParameters<typeof PluginSocket>[1];

  constructor(options: PluginManagerOptions) {
    const { rootDir, clock } = options;
    const log = moduleLogger(options.log, "plugins");
    const dial = options.dial ?? (async (path: string) => (await import("./dial.js")).dialRegistration(path, clock));
    const turns = new FairTurns({ limit: AT_ONCE, share: 1 });
    this.deps = { handlers: new Map(Object.entries(options.handlers)), dial, turns, clock, log };
    this.labels = { rootDir, log };
    const onSockets = (found: ReadonlyMap<string, string>): void => this.onSockets(found);
    this.watchSockets(options.registry);
    this.watch = new SocketWatch({ directory: `${rootDir}/plugins_registry`, clock, log, onSockets });
  }

  /** Resolves when the directory has been read once; registrations continue in the background. */
  async start(): Promise<void> {
    await this.watch.start();
    await labelPluginFolders(this.labels);
  }

  async stop(): Promise<void> {
    await this.watch.stop();
    await Promise.all([...this.sockets.values()].map((socket) => socket.stop()));
  }

  private watchSockets(registry: ThreadRegistry): void {
    const total = pluginMetrics(registry);
    registry.onSnapshot(() => {
      total.reset();
      for (const [path, { isWanted, isRegistered }] of this.sockets) {
        if (isWanted) total.set({ socket_path: path, state: "desired_state_of_world" }, 1);
        if (isRegistered) total.set({ socket_path: path, state: "actual_state_of_world" }, 1);
      }
    });
  }

  private onSockets(found: ReadonlyMap<string, string>): void {
    for (const [path, socket] of this.sockets) {
      if (!found.has(path)) socket.want(undefined);
      if (socket.idle) this.sockets.delete(path);
    }
    for (const [path, identity] of found) {
      let socket = this.sockets.get(path);
      if (socket === undefined) this.sockets.set(path, (socket = new PluginSocket(path, this.deps)));
      socket.want(identity);
    }
  }
}
