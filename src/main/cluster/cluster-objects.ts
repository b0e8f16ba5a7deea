// Builds the access of pods to objects of the cluster: objects that they refer to, tokens, services, classes.

import type { Clock } from "../../shared/base/clock/clock.js";
import { isNotFound } from "../../shared/kubernetes/api/client/errors.js";
import { RUNTIME_CLASSES, CONFIG_MAPS, SECRETS } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient, ResourceKind } from "../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { ConfigMap, RuntimeClass, Secret, Service } from "../../shared/kubernetes/api/objects.js";
import { isStaticPod, type Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ClusterObjects } from "../model/cluster-access.js";
import type { PodClaims } from "../model/pod-claims.js";
import { Collection } from "./collections/collection.js";
import { servicesCollection, servicesNotReadError } from "./collections/services.js";
import { TrustBundles } from "./collections/trust-bundles.js";
import { CachedObjects } from "./objects/cached-objects.js";
import { DirectObjects, type KeptObject, type ObjectManager } from "./objects/object-manager.js";
import { notedReferences, referencesOf } from "./objects/references.js";
import { WatchedObjects } from "./objects/watched-objects.js";
import { PodCertificatesOnDemand } from "./pod-certificates/pod-certificates-on-demand.js";
import type { PodCertificatesDeps } from "./pod-certificates/pod-certificates.js";
import { TokenCache } from "./tokens/token-cache.js";
import type { Follow } from "./watching.js";

export interface ClusterObjectsOptions {
  client: ApiClient;
  follow: Follow;
  clock: Clock;
  log: Logger;
  claims: PodClaims;
  /** configMapAndSecretChangeDetectionStrategy. */
  strategy: "Watch" | "Cache" | "Get";
  syncFrequencyMs: number;
  /** The gate of this name. */
  clusterTrustBundleProjection: boolean;
  /** Absent: gate PodCertificateRequest is off. */
  podCertificates?: Pick<PodCertificatesDeps, "nodeName" | "makeKey" | "events" | "registry"> | undefined;
}

/** The annotation that a controller sets by the size of the cluster: seconds. */
const TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl";
const DEFAULT_TTL_MS = 60_000;
const LEAST_IDLE_MS = 60_000;

export class NodeClusterObjects implements ClusterObjects {
  readonly client: ApiClient;
  readonly configMaps: ObjectManager<ConfigMap>;
  readonly secrets: ObjectManager<Secret>;
  readonly claims: PodClaims;
  readonly tokens: TokenCache;
  readonly trustAnchors: TrustBundles;
  readonly podCertificates: PodCertificatesOnDemand;
  private readonly serviceList: Collection<Service>;
  private readonly classes: Collection<RuntimeClass>;
  private readonly listeners = new Set<(uid: PodUid) => void>();
  private readonly trusting = new Set<PodUid>();
  private ownNode: Node | undefined;

  constructor(private readonly options: ClusterObjectsOptions) {
    const { client, follow, clock, log } = options;
    this.client = client;
    this.claims = options.claims;
    this.configMaps = this.manager(CONFIG_MAPS);
    this.secrets = this.manager(SECRETS);
    this.tokens = new TokenCache({ client, clock, log: moduleLogger(log, "tokens") });
    this.serviceList = servicesCollection({ follow, clock });
    this.classes = new Collection({ kind: RUNTIME_CLASSES, follow, clock });
    this.trustAnchors = new TrustBundles({
      client,
      follow,
      clock,
      enabled: options.clusterTrustBundleProjection,
      onChange: () => this.changed([...this.trusting]),
    });
    this.podCertificates = new PodCertificatesOnDemand(this.certificatesDeps(), log);
  }

  async services(signal: AbortSignal): Promise<readonly Service[]> {
    const services = await this.serviceList.all(signal);
    if (services === undefined) throw servicesNotReadError();
    return services;
  }

  knownServices(): readonly Service[] | undefined {
    this.serviceList.start();
    return this.serviceList.peek();
  }

  knownRuntimeClass(name: string): RuntimeClass | undefined {
    return this.classes.peek()?.find(({ metadata }) => metadata.name === name);
  }

  async runtimeClass(name: string, signal: AbortSignal): Promise<RuntimeClass | undefined> {
    await this.classes.all(signal);
    const known = this.knownRuntimeClass(name);
    if (known !== undefined) return known;
    // A class made with its first pod may come later than the pod.
    try {
      return await this.client.get(RUNTIME_CLASSES, { name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  node(): Node | undefined {
    return this.ownNode;
  }

  /** The watcher of the Node object reports each new version here. */
  setNode(node: Node): void {
    this.ownNode = node;
  }

  podWanted(pod: Pod): void {
    const { uid, namespace } = pod.metadata;
    const { configMaps, secrets, trustBundles, certificates } = referencesOf(pod);
    this.configMaps.setReferences(uid, namespace, notedReferences(configMaps));
    this.secrets.setReferences(uid, namespace, notedReferences(secrets));
    if (trustBundles) this.trusting.add(uid);
    if (certificates) this.podCertificates.wanted(pod);
    // Begun now, there by the time that the first container needs them.
    if (!isStaticPod(pod)) this.serviceList.start();
    if ((pod.spec.runtimeClassName ?? "") !== "") this.classes.start();
  }

  podRemoved(uid: PodUid): void {
    this.configMaps.podRemoved(uid);
    this.secrets.podRemoved(uid);
    this.tokens.podRemoved(uid);
    this.trusting.delete(uid);
    this.podCertificates.podRemoved(uid);
  }

  onChange(listener: (uid: PodUid) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Ends all that is followed. The client is its owner's to close. */
  async stop(): Promise<void> {
    this.configMaps.stop();
    this.secrets.stop();
    this.trustAnchors.stop();
    this.serviceList.stop();
    this.classes.stop();
    this.listeners.clear();
    await this.podCertificates.stop();
  }

  private manager<T extends KeptObject>(kind: ResourceKind<T>): ObjectManager<T> {
    const { client, follow, clock, strategy, syncFrequencyMs } = this.options;
    const onChange = (uids: readonly PodUid[]): void => this.changed(uids);
    if (strategy === "Get") return new DirectObjects({ client, kind });
    if (strategy === "Cache") return new CachedObjects({ client, kind, clock, ttlMs: () => this.ttlMs() });
    const idleMs = Math.max(syncFrequencyMs, LEAST_IDLE_MS);
    return new WatchedObjects({ client, kind, follow, clock, onChange, idleMs });
  }

  private certificatesDeps(): PodCertificatesDeps | undefined {
    const { client, follow, clock, log, podCertificates } = this.options;
    if (podCertificates === undefined) return undefined;
    return {
      ...podCertificates,
      client,
      follow,
      clock,
      log: moduleLogger(log, "pod-certificates"),
      node: () => this.ownNode,
      onChange: (uid) => this.changed([uid]),
    };
  }

  private ttlMs(): number {
    const text = this.ownNode?.metadata.annotations?.[TTL_ANNOTATION] ?? "";
    return /^\d+$/.test(text) ? Number(text) * 1000 : DEFAULT_TTL_MS;
  }

  private changed(uids: readonly PodUid[]): void {
    for (const uid of uids) for (const listener of this.listeners) listener(uid);
  }
}
