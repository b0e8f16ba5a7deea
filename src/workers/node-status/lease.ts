// The node's lease: "this node was alive at renewTime", renewed every quarter of its duration.
// Invariant: it is renewed only while main is healthy (health-monitor.ts); each update starts from the result of the
// previous one, without a read, because no other client writes the lease; before the Node exists there is no lease.

import type { Clock } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { Backoff } from "../../shared/base/turns/backoff.js";
import { Loop } from "../../shared/base/turns/loop.js";
import { isConflict, isNotFound } from "../../shared/kubernetes/api/client/errors.js";
import { LEASES } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { Lease } from "../../shared/kubernetes/api/gen/coordination.js";
import { apiMicroTime } from "../../shared/kubernetes/api/time.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { LeaseMetrics } from "./metrics.js";

const LEASE_NAMESPACE = "kube-node-lease";
/** Part of the lease's duration between two renewals. */
const RENEW_FRACTION = 0.25;
const JITTER = 0.04;
const UPDATE_TRIES = 5;
/** Asked for by others, it is not renewed more often than this. */
const GAP_MS = 1000;
const RETRY = { initialMs: 200, maxMs: 7000 };

export interface LeaseKeeperOptions {
  client: Pick<ApiClient, "get" | "create" | "update">;
  nodeName: string;
  durationSeconds: number;
  clock: Clock;
  log: Logger;
  metrics: LeaseMetrics;
  random: () => number;
  /** Why the lease must run out; [] when it may be renewed. */
  stalls: () => readonly string[];
  /** Returns the UID of the Node; undefined while there is none. */
  nodeUid: (signal: AbortSignal) => Promise<string | undefined>;
  /** The server took a renewal. */
  onRenewed: () => void;
  /** Called when calls fail repeatedly: the connection may be broken. */
  onRepeatedFailure: (error: unknown) => void;
}

export class LeaseKeeper {
  private readonly loop: Loop;
  private latest: Lease | undefined;
  private withheld = false;
  private readonly errors: LastingErrors;

  constructor(private readonly options: LeaseKeeperOptions) {
    const { clock, log, random, durationSeconds } = options;
    this.errors = new LastingErrors({ clock, log, level: "error" });
    this.loop = new Loop({
      round: async (signal) => {
        await this.round(signal);
        return undefined;
      },
      periodMs: () => durationSeconds * 1000 * RENEW_FRACTION * (1 + JITTER * random()),
      gapMs: GAP_MS,
      failed: (error) => {
        log.error(
          { err: error },
          `cannot renew the node's lease; trying again in the next period: ${errorText(error)}`,
        );
        return undefined;
      },
      clock,
    });
  }

  start(): void {
    this.loop.start();
  }

  /** The Node exists now, or a stuck thread responds again. */
  requestRound(): void {
    this.loop.requestRound();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async round(signal: AbortSignal): Promise<void> {
    if (!this.mayRenew()) return;
    if (this.latest !== undefined) {
      try {
        await this.update(this.latest, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        this.errors.report("lease", `cannot renew the node's lease; reading it again: ${errorText(error)}`);
        this.latest = undefined;
      }
    }
    const { lease, created } = await this.ensure(signal);
    if (lease !== undefined && !created) await this.update(lease, signal);
  }

  private renewedNow(): void {
    this.options.metrics.renewed(true);
    this.errors.resolved("lease", "renewing the node's lease succeeded again");
    this.options.onRenewed();
  }

  private mayRenew(): boolean {
    const { stalls, log, metrics } = this.options;
    const [why] = stalls();
    if (why === undefined) {
      if (this.withheld) log.info("renewing the node's lease again: no thread of the kubelet is stuck");
      this.withheld = false;
      return true;
    }
    metrics.withheld();
    if (!this.withheld) log.error(`not renewing the node's lease: ${why}`);
    this.withheld = true;
    return false;
  }

  /** @throws the error of the last try */
  private async update(from: Lease, signal: AbortSignal): Promise<void> {
    const { client, metrics } = this.options;
    let base = from;
    for (let tries = 1; ; tries++) {
      if (!this.mayRenew()) return;
      try {
        const renewed = await this.renewed(base, signal);
        this.latest = await client.update(LEASES, renewed, { signal });
        this.renewedNow();
        return;
      } catch (error) {
        signal.throwIfAborted();
        metrics.renewed(false);
        if (tries > 1) this.options.onRepeatedFailure(error);
        // A deleted lease is created again.
        if (tries === UPDATE_TRIES || isNotFound(error)) throw error;
        if (!isConflict(error)) continue;
        // Also the error for a deleted lease, because its UID differs from the known one.
        const { lease, created } = await this.ensure(signal);
        if (lease === undefined) throw error;
        if (created) return;
        base = lease;
      }
    }
  }

  /** Repeated until there is a lease. undefined only if the Node does not exist yet, or renewal has stopped. */
  private async ensure(signal: AbortSignal): Promise<{ lease: Lease | undefined; created: boolean }> {
    const { nodeName, clock } = this.options;
    const backoff = new Backoff(RETRY);
    while (this.mayRenew()) {
      try {
        return await this.getOrCreate(signal);
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = backoff.next();
        this.errors.report(
          "lease",
          `the lease ${LEASE_NAMESPACE}/${nodeName} cannot be read or created; trying again: ${errorText(error)}`,
        );
        // Calls on a broken connection would hang again.
        this.options.onRepeatedFailure(error);
        await clock.sleep(waitMs, signal);
      }
    }
    return { lease: undefined, created: false };
  }

  private async getOrCreate(signal: AbortSignal): Promise<{ lease: Lease | undefined; created: boolean }> {
    const { client, nodeName, durationSeconds } = this.options;
    try {
      const lease = await client.get(LEASES, { namespace: LEASE_NAMESPACE, name: nodeName }, { signal });
      return { lease, created: false };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const made: Lease = await this.renewed(
      {
        apiVersion: `${LEASES.group}/${LEASES.version}`,
        kind: LEASES.kind,
        metadata: { name: nodeName, namespace: LEASE_NAMESPACE },
        spec: { holderIdentity: nodeName, leaseDurationSeconds: durationSeconds },
      },
      signal,
    );
    // Without an owner it would outlive the Node.
    if (made.metadata.ownerReferences === undefined) return { lease: undefined, created: false };
    this.latest = await client.create(LEASES, made, { signal });
    this.renewedNow();
    return { lease: this.latest, created: true };
  }

  private async renewed(base: Lease, signal: AbortSignal): Promise<Lease> {
    const { nodeName, durationSeconds, clock } = this.options;
    const { metadata } = base;
    let owners = metadata.ownerReferences ?? [];
    if (owners.length === 0) {
      const uid = await this.options.nodeUid(signal);
      if (uid !== undefined) owners = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }];
    }
    return {
      ...base,
      metadata: omitUndefined({ ...metadata, ownerReferences: owners.length > 0 ? owners : undefined }),
      spec: {
        ...base.spec,
        holderIdentity: nodeName,
        leaseDurationSeconds: durationSeconds,
        renewTime: apiMicroTime(clock.now()),
      },
    };
  }
}
