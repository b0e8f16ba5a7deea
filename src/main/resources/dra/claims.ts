// Prepares the ResourceClaims of pods before their containers start, and unprepares them when no pod uses them any
// more.
// Invariant: a driver is called only for claims that are in the checkpoint; a claim leaves it only when every driver
// has unprepared it; one pod at a time changes a claim, and no pod waits for the claims of another.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import type { ResourceClaim } from "../../../shared/kubernetes/api/objects.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { type ContainerClaim } from "./claim-health.js";
import { cdiDevicesOf, claimKey, type ClaimState } from "./claim-state.js";
import type { ClaimStore } from "./claim-store.js";
import { DraError } from "./dra-error.js";
import type { ClaimRef, DriverClient } from "./driver-port.js";
import {
  claimNamed,
  claimsOf,
  driversOf,
  madeFor,
  requestsOf,
  requireUsable,
  type ClaimStatuses,
  type PodClaim,
} from "./pod-claims.js";

export interface ClaimsOptions {
  store: ClaimStore;
  /** @throws DraError */
  driver(name: string): DriverClient;
  /** @throws ApiError, ApiConnectionError */
  readClaim(namespace: string, name: string, signal: AbortSignal): Promise<ResourceClaim>;
  /** The pod's status in the API. */
  apiStatus(podUid: PodUid): PodStatus | undefined;
  /** Gate DRAExtendedResource: the claim that the scheduler made for extended resources of the pod counts. */
  extendedResources: boolean;
  /** Gate DRAWorkloadResourceClaims: claims of the pod's PodGroup count. */
  podGroups: boolean;
  observe: ClaimsObserver;
  clock: Pick<Clock, "monotonic">;
}

export interface ClaimsObserver {
  operation(name: "PrepareResources" | "UnprepareResources", seconds: number, failed: boolean): void;
}

export class Claims {
  /**
   * Changes of one claim run one after the other: pods that share a claim wait for each other. A driver that hangs
   * delays only these.
   */
  private readonly changes = new KeyedSerializer();

  constructor(private readonly options: ClaimsOptions) {}

  /** Idempotent. @throws DraError, PluginCallError */
  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    if (!this.uses(pod)) return;
    await this.measured("PrepareResources", () => {
      const { namespace } = pod.metadata;
      const claims = claimsOf(pod, this.statusOf(pod));
      const keys = claims.map(({ claim }) => claimKey(namespace, claim));
      return this.changes.runAll(keys, () => this.prepareNow(pod, claims, signal));
    });
  }

  /** Idempotent; no container of the pod runs any more. Throws as prepare does. */
  async unprepare(podUid: PodUid, signal: AbortSignal): Promise<void> {
    const keys = this.options.store.of(podUid).map(({ namespace, name }) => claimKey(namespace, name));
    if (keys.length === 0) return;
    await this.measured("UnprepareResources", () => this.changes.runAll(keys, () => this.unprepareNow(podUid, signal)));
  }

  /** Every claim of the pod was prepared for it, perhaps by an earlier kubelet. @throws DraError */
  isKnown(pod: Pod): boolean {
    const { uid, namespace } = pod.metadata;
    return claimsOf(pod, this.statusOf(pod)).every(
      ({ claim }) => this.options.store.get(namespace, claim)?.pods.has(uid) === true,
    );
  }

  /** A driver may have prepared a claim of the pod, and not unprepared it since. */
  holds({ metadata }: Pod): boolean {
    return this.options.store.of(metadata.uid).length > 0;
  }

  /** CDI devices of a container of a prepared pod. @throws DraError */
  cdiDevices(pod: Pod, container: Container): string[] {
    if (!this.uses(pod)) return [];
    const status = this.statusOf(pod);
    return requestsOf(container, claimsOf(pod, status), status).flatMap(({ claim, request }) => {
      const state = this.options.store.get(pod.metadata.namespace, claim);
      if (state === undefined) throw new DraError(`ResourceClaim ${claim} is not prepared`);
      return cdiDevicesOf(state, request);
    });
  }

  /**
   * Prepared claims of the container, as its resources.claims has them. Empty while a claim of a template is not made.
   */
  ofContainer(pod: Pod, container: Container): ContainerClaim[] {
    return (container.resources?.claims ?? []).flatMap(({ name, request = "" }) => {
      const entry = claimNamed(pod.spec, name);
      const claim = entry?.resourceClaimName ?? madeFor(this.statusOf(pod), name);
      const state = claim === undefined ? undefined : this.options.store.get(pod.metadata.namespace, claim);
      return state === undefined ? [] : [{ podName: name, request, state }];
    });
  }

  /** The claims whose devices the container has, each once: those of its extended resources too. */
  listed(pod: Pod, container: Container): ClaimState[] {
    const named = this.ofContainer(pod, container).map(({ state }) => state);
    const { extendedResourceClaimStatus: extended } = this.statusOf(pod);
    const mapped = extended?.requestMappings?.some(({ containerName }) => containerName === container.name) === true;
    const own = mapped ? this.options.store.get(pod.metadata.namespace, extended.resourceClaimName) : undefined;
    return [...new Set([...named, ...(own === undefined ? [] : [own])])];
  }

  /** Claims of pods that are not active any more, by pod. */
  inactive(active: ReadonlySet<PodUid>): Set<PodUid> {
    const pods = this.options.store.all().flatMap((claim) => [...claim.pods]);
    return new Set(pods.filter((uid) => !active.has(uid)));
  }

  /** The pod has claims, or the scheduler made one for its extended resources. */
  uses(pod: Pod): boolean {
    return (pod.spec.resourceClaims ?? []).length > 0 || this.statusOf(pod).extendedResourceClaimStatus !== undefined;
  }

  private statusOf(pod: Pod): ClaimStatuses {
    const status: ClaimStatuses = this.options.apiStatus(pod.metadata.uid) ?? {};
    if (this.options.extendedResources || status.extendedResourceClaimStatus === undefined) return status;
    const { resourceClaimStatuses } = status;
    return resourceClaimStatuses === undefined ? {} : { resourceClaimStatuses };
  }

  private async prepareNow(pod: Pod, claims: readonly PodClaim[], signal: AbortSignal): Promise<void> {
    const { options } = this;
    const { store } = options;
    const { namespace, uid: podUid } = pod.metadata;
    // Everything that can refuse the pod comes before the first change: a refused pod leaves nothing to unprepare.
    const usable: ResourceClaim[] = [];
    for (const podClaim of claims) {
      const claim = await this.fetch(namespace, podClaim.claim, signal);
      requireUsable(pod, podClaim, claim, options.podGroups);
      for (const name of driversOf(claim)) options.driver(name);
      usable.push(claim);
    }
    signal.throwIfAborted();
    const states = usable.map((claim) => this.referTo(claim, namespace, podUid));
    await store.save();
    const open = states.filter(({ prepared }) => !prepared);
    for (const [name, batch] of byDriver(open)) await this.prepareAt(name, batch, signal);
    for (const state of open) state.prepared = true;
    await store.save();
  }

  private async fetch(namespace: string, name: string, signal: AbortSignal): Promise<ResourceClaim> {
    try {
      return await this.options.readClaim(namespace, name, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new DraError(`fetch ResourceClaim ${name}: ${messageOf(cause)}`, { cause });
    }
  }

  /** @throws DraError when an older claim of that name is still in use */
  private referTo(claim: ResourceClaim, namespace: string, podUid: PodUid): ClaimState {
    const { store } = this.options;
    const { name = "", uid = "" } = claim.metadata;
    const known = store.get(namespace, name);
    if (known !== undefined && known.uid !== uid) {
      throw new DraError(
        `an older ResourceClaim of the name ${name} (UID ${known.uid}) is still in use on this node: was its pod deleted by force?`,
      );
    }
    const drivers = new Map(driversOf(claim).map((driver) => [driver, []]));
    const state = known ?? { uid, name, namespace, pods: new Set<PodUid>(), drivers, prepared: false };
    state.pods.add(podUid);
    store.add(state);
    return state;
  }

  private async prepareAt(driver: string, claims: readonly ClaimState[], signal: AbortSignal): Promise<void> {
    const replies = await this.options.driver(driver).prepare(claims.map(refOf), signal);
    requireAll("NodePrepareResources", driver, claims, replies);
    for (const claim of claims) {
      const { error = "", devices = [] } = replies.get(claim.uid) ?? {};
      if (error !== "") {
        throw new DraError(`NodePrepareResources failed for ResourceClaim ${claim.name}: ${error} (driver ${driver})`);
      }
      claim.drivers.set(driver, devices);
    }
  }

  private async unprepareNow(podUid: PodUid, signal: AbortSignal): Promise<void> {
    const { store } = this.options;
    const used = store.of(podUid);
    const last = used.filter(({ pods }) => pods.size === 1);
    for (const [name, claims] of byDriver(last)) {
      const replies = await this.options.driver(name).unprepare(claims.map(refOf), signal);
      requireAll("NodeUnprepareResources", name, claims, replies);
      for (const claim of claims) {
        const error = replies.get(claim.uid) ?? "";
        if (error !== "") {
          throw new DraError(
            `NodeUnprepareResources failed for ResourceClaim ${claim.name}: ${error} (driver ${name})`,
          );
        }
      }
    }
    for (const claim of used) claim.pods.delete(podUid);
    for (const claim of last) store.delete(claim);
    await store.save();
  }

  private async measured(name: Parameters<ClaimsObserver["operation"]>[0], run: () => Promise<void>): Promise<void> {
    const { clock, observe } = this.options;
    const startedAt = clock.monotonic();
    let failed = true;
    try {
      await run();
      failed = false;
    } finally {
      observe.operation(name, (clock.monotonic() - startedAt) / 1000, failed);
    }
  }
}

function refOf({ namespace, uid, name }: ClaimState): ClaimRef {
  return { namespace, uid, name };
}

/** One call per driver with all of its claims. */
function byDriver(claims: readonly ClaimState[]): Map<string, ClaimState[]> {
  const batches = new Map<string, ClaimState[]>();
  for (const claim of claims) {
    for (const driver of claim.drivers.keys()) batches.set(driver, [...(batches.get(driver) ?? []), claim]);
  }
  return batches;
}

/** @throws DraError when the reply lacks a claim of the request, or has another */
function requireAll(
  call: string,
  driver: string,
  claims: readonly ClaimState[],
  replies: ReadonlyMap<string, unknown>,
): void {
  const asked = new Set(claims.map(({ uid }) => uid));
  const foreign = [...replies.keys()].find((uid) => !asked.has(uid));
  if (foreign !== undefined)
    throw new DraError(`${call} of driver ${driver} replied for an unknown ResourceClaim UID ${foreign}`);
  const skipped = claims.filter(({ uid }) => !replies.has(uid)).length;
  if (skipped > 0) throw new DraError(`${call} of driver ${driver} skipped ${skipped} ResourceClaims`);
}
