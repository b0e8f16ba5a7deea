// Sockets between the kubelet and plugins of the simulated machine. A plugin calls the kubelet at a socket that the
// kubelet has bound, and the kubelet calls a plugin at the plugin's.

import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import type { GrpcServer } from "../modules/grpc-client.js";

type Answer = (error: object | null, reply?: object) => void;
/** A handler of the kubelet's own server. */
type Handler = (call: { request: object }, answer: Answer) => void;

interface Bound {
  owner: Owner;
  handlers: ReadonlyMap<string, { func: Handler }>;
}

const NO_PLUGIN: GrpcServer = {
  call(_path, _bytes, reply) {
    reply.failed({ code: 14, details: "connect ENOENT" });
    return { cancel: () => undefined };
  },
};

class PluginSockets {
  private readonly bound = new Map<string, Bound>();
  private readonly servers = new Map<string, GrpcServer>();
  /** Sockets whose plugin has closed its connections. */
  private readonly lost = new Set<string>();
  /** Called once at the next change, by socket. */
  private readonly linkWaiters = new Map<string, (() => void)[]>();
  /** Hears of each socket that the kubelet binds. */
  readonly onBound = new Set<(path: string) => void>();

  /** Runs as the kubelet. */
  bind(path: string, server: object): () => void {
    const { handlers } = server as { handlers: Bound["handlers"] };
    const made = { owner: kernel.current, handlers };
    this.bound.set(path, made);
    for (const listener of this.onBound) kernel.post(kernel.world, () => listener(path));
    return () => {
      if (this.bound.get(path) === made) this.bound.delete(path);
    };
  }

  /** A plugin listens. */
  serve(path: string, server: GrpcServer | undefined): void {
    if (server === undefined) this.servers.delete(path);
    else this.servers.set(path, server);
  }
  serverAt(path: string): GrpcServer {
    return this.servers.get(path) ?? NO_PLUGIN;
  }

  /** Connections that the kubelet keeps to the plugin are lost, or made again. */
  setConnected(path: string, connected: boolean): void {
    if (connected === !this.lost.has(path)) return;
    if (connected) this.lost.delete(path);
    else this.lost.add(path);
    const waiters = this.linkWaiters.get(path) ?? [];
    this.linkWaiters.delete(path);
    for (const waiter of waiters) waiter();
  }
  isConnected(path: string): boolean {
    return !this.lost.has(path);
  }
  onLinkChange(path: string, waiter: () => void): void {
    this.linkWaiters.set(path, [...(this.linkWaiters.get(path) ?? []), waiter]);
  }

  /** A call to the kubelet; `answer` runs as the world, if the kubelet lives so long. */
  callKubelet(path: string, method: string, request: object, answer: (error: object | null) => void): void {
    const made = this.bound.get(path);
    const handler = made?.handlers.get(method);
    if (made === undefined || handler === undefined || !made.owner.isAlive) {
      answer({ code: 14 });
      return;
    }
    kernel.post(made.owner, () => handler.func({ request }, (error) => kernel.post(kernel.world, () => answer(error))));
  }
}

export const plugins = new PluginSockets();
