// Reads the machine's interfaces, its default route and the addresses of the node's name. This runs apart from the
// heartbeat, because a resolver that hangs must not delay it.

import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { Clock } from "../../shared/base/clock/clock.js";
import { defaultRouteInterface, type Interfaces } from "../../shared/io/net/host-addresses.js";
import { needsResolving, type AddressRules, type HostNetwork } from "./addresses.js";

/** Validity of a reading. */
const FRESH_MS = 60_000;
/** Longest wait for the resolver in one round; a late reply counts in the next. */
const RESOLVE_WAIT_MS = 2000;

export interface NetworkSources {
  interfaces(): Interfaces;
  /** Text of /proc/net/route. */
  routes(): Promise<string>;
  resolve(name: string): Promise<string[]>;
}

const systemNetwork: NetworkSources = {
  interfaces: networkInterfaces,
  routes: () => readFile("/proc/net/route", "utf8"),
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
};

export class HostNetworkWatch {
  private known: HostNetwork = { interfaces: {}, defaultInterface: undefined, resolved: [] };
  private resolved: readonly string[] = [];
  private lookedAt: number | undefined;
  private resolving: Promise<void> | undefined;

  constructor(
    private readonly rules: AddressRules & { nodeName: string },
    private readonly clock: Clock,
    private readonly sources: NetworkSources = systemNetwork,
  ) {}

  /** The last reading if it is fresh, else a new one. Never rejects. */
  async current(): Promise<HostNetwork> {
    const now = this.clock.monotonic();
    if (this.lookedAt !== undefined && now - this.lookedAt < FRESH_MS) return this.known;
    this.lookedAt = now;
    const [routes] = await Promise.all([this.sources.routes().catch(() => ""), this.resolve()]);
    this.known = {
      interfaces: this.sources.interfaces(),
      defaultInterface: defaultRouteInterface(routes),
      resolved: this.resolved,
    };
    return this.known;
  }

  /** The next round reads the network again. */
  expire(): void {
    this.lookedAt = undefined;
  }

  private async resolve(): Promise<void> {
    if (!needsResolving(this.rules)) return;
    this.resolving ??= this.sources
      .resolve(this.rules.nodeName)
      // A name that no longer resolves keeps its addresses. The interfaces decide whether these still belong to the
      // node.
      .then((found) => void (this.resolved = found))
      .catch(() => undefined)
      .finally(() => (this.resolving = undefined));
    await new Promise<void>((done) => {
      const timer = this.clock.after(RESOLVE_WAIT_MS, () => {
        // The reply belongs to the next reading.
        this.expire();
        done();
      });
      void this.resolving?.then(() => {
        timer.cancel();
        done();
      });
    });
  }
}
