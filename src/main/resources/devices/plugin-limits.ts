// Limits of what device plugins claim together, so that one that registers under made-up names, or never answers,
// leaves room for the others.

import { Scope } from "../../../shared/base/abort/scope.js";
import { DevicePluginError } from "./plugin-port.js";

/**
 * Names of resources that plugins of this node offer, or have offered. Each is a row of the Node object and of the
 * metrics.
 */
export const MAX_RESOURCES = 256;
/** Registrations that wait for their plugin. @internal */
export const MAX_PENDING = 64;
/** Bytes of the last lists of all plugins: twice the largest message of one. @internal */
export const MAX_LISTS_BYTES = 8 * 1024 * 1024;

/** Sizes of the lists that are kept. */
export class ListSizes {
  private readonly sizes = new Map<string, number>();
  private sum = 0;

  /** @throws DevicePluginError for a list with which all lists would exceed the limit; the earlier one counts on */
  replace(resource: string, bytes: number): void {
    const sum = this.sum - (this.sizes.get(resource) ?? 0) + bytes;
    if (sum > MAX_LISTS_BYTES) {
      throw new DevicePluginError(
        `the lists of all device plugins would have ${sum} bytes, and the kubelet keeps at most ${MAX_LISTS_BYTES}`,
      );
    }
    this.sizes.set(resource, bytes);
    this.sum = sum;
  }

  forget(resource: string): void {
    this.sum -= this.sizes.get(resource) ?? 0;
    this.sizes.delete(resource);
  }
}

/**
 * Registrations under way. Beyond the limit, the one that has waited longest is given up: a plugin that serves answers
 * at once.
 */
export class PendingRegistrations {
  private readonly pending = new Set<Scope>();

  /** Settles as `work` does, whose signal aborts when the registration is given up. */
  async run<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const [oldest] = this.pending;
    if (oldest !== undefined && this.pending.size >= MAX_PENDING) {
      oldest.abort(new DevicePluginError(`given up: ${MAX_PENDING} other device plugins wait for their registration`));
    }
    using own = new Scope(signal);
    this.pending.add(own);
    // Gone at once, so that the next one gives up another.
    own.signal.addEventListener("abort", () => this.pending.delete(own), { once: true });
    try {
      return await work(own.signal);
    } finally {
      this.pending.delete(own);
    }
  }
}
