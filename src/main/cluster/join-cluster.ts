// Joins the node to its cluster. Credentials come first, then the Node object and its heartbeat, then the objects of
// pods, then the pods. Loaded only with a kubeconfig; no static pod waits for it.
// Invariant: components stop in reverse order of their start; a stop takes effect at any moment, bootstrap included.

import { Lifetime } from "../../shared/base/abort/lifetime.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import type { WallTime } from "../../shared/base/clock/moments.js";
import { goPlatform } from "../../shared/base/text/go-platform.js";
import type { ApiAccessFacts } from "../../shared/contracts/nodelet.js";
import { createApiClient, type ConnectedClient } from "../../shared/kubernetes/api/client/client.js";
import type { ClientConfig } from "../../shared/kubernetes/api/client/config.js";
import type { Returns } from "../../shared/kubernetes/api/client/connection/presence.js";
import { PODS } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import { SharedOutage } from "../../shared/kubernetes/api/client/reflect/shared-outage.js";
import { Reflector } from "../../shared/kubernetes/api/client/reflector.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { type PodUid, podUid } from "../../shared/kubernetes/identifiers.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import { restClientMetrics } from "../../shared/telemetry/metrics/rest-client.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { Settings } from "../command/settings.js";
import { Components } from "../model/components.js";
import type { NodeConfiguration } from "../model/node-configuration.js";
import type { PluginHandlers } from "../model/plugin-handler.js";
import { startCsi, type RunningCsi } from "../node/csi/start-csi.js";
import { startNodeStatus, type NodeStatusLink } from "../node/start-node-status.js";
import type { NodeRecorder } from "../pods/events/node-recorder.js";
import type { PodFeed } from "../pods/sources/api-source.js";
import type { Sources } from "../pods/sources/start-sources.js";
import type { HostIPs } from "../pods/status/host-ips.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { NodePressures } from "../resources/eviction/pressures.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import type { NodeThreads } from "../threads/node-threads.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { NodeClusterObjects } from "./cluster-objects.js";
import { startCredentials, type NodeCertificates } from "./credentials.js";
import { startDra, type RunningDra } from "./dra/start-dra.js";
import type { JoinedCluster, Membership } from "./membership.js";
import type { PodCertificatesDeps } from "./pod-certificates/pod-certificates.js";
import { startPodSync, type ApiPods } from "./start-pod-sync.js";
import { UnfinishedPods } from "./unfinished-pods.js";
import type { Follow } from "./watching.js";

/** To make a key: of 4096 bits it takes seconds on a slow machine. */
const POD_KEY_MS = 120_000;

export interface JoinDeps {
  settings: Settings;
  nodeName: string;
  /** The moment at which the process started. */
  startedAtMs: WallTime;
  resources: NodeResourcesHolder;
  hostIPs: HostIPs;
  /** Handlers for sockets of all plugins except CSI drivers. */
  plugins: PluginHandlers;
  threads: NodeThreads;
  state: PodState;
  sync: PodSync;
  sources: Pick<Sources, "changes">;
  /** Undefined: without --dynamic-config-dir. */
  configuration: NodeConfiguration | undefined;
  membership: Pick<Membership, "setObjects">;
  persistent: PersistentVolumes;
  cri: CriClient;
  pressures: NodePressures;
  recorder: NodeRecorder;
  tasks: TasksPool;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  /** The kubelet must end: its certificate has expired for good. */
  giveUp: (reason: string) => void;
}

export function joinCluster(deps: JoinDeps): JoinedCluster {
  return new Joining(deps);
}

class Joining implements JoinedCluster {
  private readonly lifetime = new Lifetime();
  private readonly done: Promise<void>;
  private nodeStatus: NodeStatusLink | undefined;
  private pods: ApiPods | undefined;
  private shuttingDown = false;
  private credentials: NodeCertificates | undefined;
  private readonly components: Components;

  constructor(private readonly deps: JoinDeps) {
    this.components = new Components([], deps.log);
    this.done = this.join().catch((error: unknown) => {
      if (this.lifetime.hasEnded) return;
      deps.log.debug({ err: error }, "joining the cluster failed");
      deps.giveUp(`cannot join the cluster: ${errorText(error)}`);
    });
  }

  onRecord: JoinedCluster["onRecord"] = (record) => this.nodeStatus?.onRecord(record);

  node(): Node | undefined {
    return this.nodeStatus?.node();
  }

  apiAccess(): ApiAccessFacts | undefined {
    if (this.credentials === undefined) return undefined;
    const { client, config } = this.credentials;
    const { clock } = this.deps;
    const { awaySince } = client.presence;
    const { server } = config;
    return awaySince === undefined
      ? { server }
      : { server, awaySince: Math.round(clock.now() - (clock.monotonic() - awaySince)) };
  }

  setShuttingDown(shuttingDown: boolean): void {
    this.shuttingDown = shuttingDown;
    this.nodeStatus?.setShuttingDown(shuttingDown);
  }

  mirrorUid(namespace: string, name: string): PodUid | undefined {
    return this.pods?.mirrorUid(namespace, name);
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.done;
    await this.components.stop();
  }

  private async join(): Promise<void> {
    const { deps, components } = this;
    const { settings } = deps;
    const credentials = await components.add("credentials", () => this.startCredentials());
    this.credentials = credentials;
    const { client } = credentials;
    await components.add("API client", () => () => client.close());
    this.lifetime.signal.throwIfAborted();
    const nodeStatus = await this.startNodeStatus(credentials);
    const dra = await components.add("dynamic resources", () => this.startDra(client));
    const objects = await components.add("objects of pods", () => this.makeObjects(client, dra));
    await components.add("the Node for objects of pods", () =>
      nodeStatus.onNode((node) => node && objects.setNode(node)),
    );
    await components.add("the Node for host IPs", () =>
      nodeStatus.onNode((node) => node && deps.hostIPs.setNode(node)),
    );
    deps.membership.setObjects(objects);
    const events = client.sharing({ qps: orNone(settings.node.eventRecordQPS), burst: settings.node.eventBurst });
    const ready = firstNode(nodeStatus);
    await components.add("plugins", () => this.startCsi(client.sharing(PLUGIN_CALLS), dra, nodeStatus, ready));
    this.pods = await components.add("pods of the API server", () => this.startPods(client, events, nodeStatus, ready));
  }

  private startCredentials(): Promise<NodeCertificates> {
    const { settings, nodeName, tasks, giveUp, registry, clock, log } = this.deps;
    const connect = (config: ClientConfig): ConnectedClient => this.connect(config);
    const { signal } = this.lifetime;
    return startCredentials({ settings, nodeName, tasks, giveUp, connect, signal, registry, clock, log });
  }

  private startDra(client: ApiClient): RunningDra {
    const { settings, nodeName, state, registry, clock, log } = this.deps;
    return startDra({
      rootDir: settings.rootDir,
      nodeName,
      client,
      apiStatus: (uid) => state.cluster?.statusOf(uid),
      activePods: () => (state.settled ? activeUids(state) : undefined),
      gates: settings.runtime,
      onHealth: (uids) => state.events.emit("healthChanged", { uids }),
      registry,
      clock,
      log,
    });
  }

  private makeObjects(client: ConnectedClient, { claims }: RunningDra): NodeClusterObjects {
    const { settings, nodeName, tasks, recorder: events, registry, clock, log } = this.deps;
    const makeKey: PodCertificatesDeps["makeKey"] = (keyType) =>
      tasks.run("makePodKey", { keyType }, { deadlineMs: POD_KEY_MS });
    return new NodeClusterObjects({
      client,
      claims,
      follow: followBy({ client, presence: client.presence, clock, log }),
      clock,
      log,
      strategy: strategyOf(settings.node.configMapAndSecretChangeDetectionStrategy),
      syncFrequencyMs: settings.sources.syncFrequencyMs,
      clusterTrustBundleProjection: settings.node.clusterTrustBundleProjection,
      podCertificates: settings.node.podCertificateRequest ? { nodeName, makeKey, events, registry } : undefined,
    });
  }

  private startCsi(client: ApiClient, dra: RunningDra, nodeStatus: NodeStatusLink, ready: Promise<void>): RunningCsi {
    const { settings, nodeName, persistent, registry, clock, log } = this.deps;
    const plugins = { ...this.deps.plugins, DRAPlugin: dra.handler };
    const { rootDir } = settings;
    return startCsi({ rootDir, nodeName, persistent, client, nodeStatus, ready, plugins, registry, clock, log });
  }

  private startPods(
    client: ConnectedClient,
    eventsClient: ApiClient,
    nodeStatus: NodeStatusLink,
    ready: Promise<void>,
  ): ApiPods {
    const { nodeName, state, sync, sources, recorder, registry, clock, log } = this.deps;
    const { presence } = client;
    return startPodSync({
      nodeName,
      client,
      eventsClient,
      presence,
      reflect: (feed) => reflectPods(feed, { client, presence, nodeName, clock, log }),
      readUnfinished: (feed) => new UnfinishedPods({ client, nodeName, feed, clock }),
      node: () => nodeStatus.node(),
      ready,
      state,
      sync,
      sources,
      recorder,
      registry,
      clock,
      log,
    });
  }

  private async startNodeStatus(credentials: NodeCertificates): Promise<NodeStatusLink> {
    const { deps, components } = this;
    const { configuration, resources, pressures } = deps;
    const link = await components.add("node status", () => this.makeNodeStatus(credentials));
    this.nodeStatus = link;
    link.setShuttingDown(this.shuttingDown);
    await components.add("resources for the node status", () =>
      resources.onChange(({ capacity, allocatable }) => link.setResources(capacity, allocatable)),
    );
    if (configuration !== undefined) {
      const report: Parameters<typeof configuration.onReport>[0] = (now) => link.setConfig(now);
      await components.add("the configuration for the node status", () => configuration.onReport(report));
    }
    await components.add("pressures for the node status", () => pressures.follow((now) => link.setPressures(now)));
    credentials.useNode(link);
    return link;
  }

  private makeNodeStatus({ client, config: clientConfig }: NodeCertificates): NodeStatusLink {
    const { settings, nodeName, startedAtMs, threads, cri, configuration, recorder: events } = this.deps;
    const { state, resources, clock, log } = this.deps;
    return startNodeStatus(settings, {
      nodeName,
      startedAtMs,
      threads,
      cri,
      clientConfig,
      events,
      capacity: resources.capacity,
      allocatable: resources.allocatable,
      runtime: state.cache.runtime,
      relisted: state.cache.complete,
      serverReturned: () => client.presence.seenElsewhere(),
      configuration,
      clock,
      log,
    });
  }

  private connect(config: ClientConfig): ConnectedClient {
    const { settings, registry, clock, log } = this.deps;
    const { kubernetesVersion } = settings;
    return createApiClient({
      config,
      qps: settings.node.kubeAPIQPS,
      burst: settings.node.kubeAPIBurst,
      userAgent: `kubelet/${kubernetesVersion} (${goPlatform()}) kubernetes/nodelet`,
      metrics: restClientMetrics(registry, clock),
      clock,
      log: moduleLogger(log, "api-client"),
    });
  }
}

/** Calls for registrations: plugins that register again and again use up none of the pods' calls. */
const PLUGIN_CALLS = { qps: 5, burst: 20 };

/** When the server is back, pods and their statuses go first: their objects may need hundreds of watches. */
const OBJECTS_WAKE_MS = 5000;

/** Objects that pods refer to are followed over the pods' own connection. */
function followBy(common: { client: ApiClient; presence: Returns; clock: Clock; log: Logger }): Follow {
  const { client, presence, clock } = common;
  const log = moduleLogger(common.log, "objects-watch");
  const outage = new SharedOutage(log);
  return (options) => {
    const reflector = new Reflector({
      client,
      presence,
      clock,
      log,
      outage,
      wakeWithinMs: OBJECTS_WAKE_MS,
      ...options,
    });
    reflector.start();
    // The reflector stops later; it reports nothing after this call.
    return () => void reflector.stop();
  };
}

type Strategy = ConstructorParameters<typeof NodeClusterObjects>[0]["strategy"];

/** The rules reject any other text before. */
function strategyOf(text: string | undefined): Strategy {
  return text === "Cache" || text === "Get" ? text : "Watch";
}

interface PodsFeedDeps {
  client: ApiClient;
  presence: Returns;
  nodeName: string;
  clock: Clock;
  log: Logger;
}

/** Lists and watches the pods of this node. */
function reflectPods(feed: PodFeed, { client, presence, nodeName, clock, log }: PodsFeedDeps): Reflector<Pod> {
  return new Reflector({
    client,
    presence,
    kind: PODS,
    fieldSelector: `spec.nodeName=${nodeName}`,
    clock,
    log: moduleLogger(log, "pods-watch"),
    transform: (pod) => feed.trim(pod),
    onReplace: (pods) => feed.onReplace(pods),
    onEvent: (event) => feed.onEvent(event),
    isKnown: (uid, resourceVersion) => feed.isKnown(podUid(uid), resourceVersion),
    restore: (head) => feed.restore(head),
  });
}

/** Pods whose claims may be in use. */
function activeUids({ pods }: PodState): ReadonlySet<PodUid> {
  const over = ["finished", "terminated"];
  return new Set([...pods.all()].filter(({ state }) => !over.includes(state)).map(({ uid }) => uid));
}

/** 0 events per second: no limit, as the field has it. */
function orNone(qps: number): number {
  return qps === 0 ? -1 : qps;
}

/** Settles when the API server has a Node for this machine. */
function firstNode(link: NodeStatusLink): Promise<void> {
  return new Promise((resolve) => {
    if (link.node() !== undefined) {
      resolve();
      return;
    }
    const end = link.onNode((node) => {
      if (node === undefined) return;
      end();
      resolve();
    });
  });
}
