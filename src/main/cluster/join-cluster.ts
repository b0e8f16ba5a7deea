// Joins the node to its cluster. Credentials come first, then the Node object and its heartbeat, then the objects of pods, then the pods.
// Loaded only with a kubeconfig; no static pod waits for it.
// Invariant: components stop in reverse order of their start; a stop takes effect at any moment, bootstrap included.
import type { Node } from "../../shared/api/node.js";
import { errorText } from "../../shared/log/error-text.js";
import { createApiClient, type ConnectedClient } from "../../shared/api/client/client.js";
import type { Returns } from "../../shared/api/client/connection/presence.js";
import type { ClientConfig } from "../../shared/api/client/config.js";
import { PODS } from "../../shared/api/client/kinds.js";
import { Reflector } from "../../shared/api/client/reflector.js";
import { SharedOutage } from "../../shared/api/client/reflect/shared-outage.js";
import type { ApiClient } from "../../shared/api/client/port.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import type { ApiAccessFacts } from "../../shared/contracts/nodelet.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { restClientMetrics } from "../../shared/metrics/rest-client.js";
import { goPlatform } from "../../shared/text/go-platform.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { Settings } from "../command/settings.js";
import { Components } from "../model/components.js";
import type { NodeConfiguration } from "../model/node-configuration.js";
import type { NodeRecorder } from "../events/node-recorder.js";
import type { NodePressures } from "../eviction/pressures.js";
import { startCsi } from "../node/csi/start-csi.js";
import type { HostIPs } from "../status/host-ips.js";
import { startNodeStatus, type NodeStatusLink } from "../node/start-node-status.js";
import type { PluginHandlers } from "../model/plugin-handler.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import type { Sources } from "../sources/start-sources.js";
import type { NodeThreads } from "../threads/node-threads.js";
import type { NodeSync } from "../sync/node-sync.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import { NodeClusterObjects } from "./cluster-objects.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { startCredentials, type NodeCertificates } from "./credentials.js";
import type { LateCluster, JoinedCluster } from "./membership.js";
import type { Follow } from "./watching.js";
import { startDra } from "./dra/start-dra.js";
import { startPodSync, type PodSync } from "./start-pod-sync.js";
import { UnfinishedPods } from "./unfinished-pods.js";

/** To make a key: of 4096 bits it takes seconds on a slow machine. */
const POD_KEY_MS = 120_000;

export interface JoinDeps {
  settings: Settings;
  nodeName: string;
  /** Wall time at which the process started, ms. */
  startedAtMs: number;
  resources: NodeResourcesHolder;
  hostIPs: HostIPs;
  /** Of plugins other than CSI drivers. */
  plugins: PluginHandlers;
  threads: NodeThreads;
  sync: NodeSync;
  sources: Pick<Sources, "changes">;
  /** Absent: without --dynamic-config-dir. */
  configuration?: NodeConfiguration;
  late: LateCluster;
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
  private readonly abort = new AbortController();
  private readonly done: Promise<void>;
  private nodeStatus: NodeStatusLink | undefined;
  private pods: PodSync | undefined;
  private shuttingDown = false;
  private credentials: NodeCertificates | undefined;
  private readonly components: Components;

  constructor(private readonly deps: JoinDeps) {
    this.components = new Components([], deps.log);
    this.done = this.join().catch((error: unknown) => {
      if (this.abort.signal.aborted) return;
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

  mirrorUid(namespace: string, name: string): string | undefined {
    return this.pods?.mirrorUid(namespace, name);
  }

  async stop(): Promise<void> {
    this.abort.abort(new Error("the kubelet is stopping"));
    await this.done;
    await this.components.stop();
  }

  private async join(): Promise<void> {
    const { deps, components } = this;
    const { settings, clock, log } = deps;
    const { signal } = this.abort;
    const connect = (config: ClientConfig): ConnectedClient => this.connect(config);
    const credentials = await components.add("credentials", () => startCredentials({ ...deps, signal, connect }));
    this.credentials = credentials;
    const { client } = credentials;
    await components.add("API client", () => () => client.close());
    signal.throwIfAborted();
    const nodeStatus = await this.startNodeStatus(credentials);
    const dra = await components.add("dynamic resources", () =>
      startDra({
        ...deps,
        rootDir: settings.rootDir,
        client,
        apiStatus: (uid) => deps.sync.cluster?.statusOf(uid),
        activePods: () => (deps.sync.loop.settled ? activeUids(deps.sync) : undefined),
        gates: settings.runtime,
        onHealth: (uids) => uids.forEach((uid) => deps.sync.statuses.refresh(uid)),
      }),
    );
    const objects = await components.add(
      "objects of pods",
      () =>
        new NodeClusterObjects({
          client,
          claims: dra.claims,
          follow: followBy({ client, presence: client.presence, clock, log }),
          clock,
          log,
          strategy: strategyOf(settings.node.configMapAndSecretChangeDetectionStrategy),
          syncFrequencyMs: settings.sources.syncFrequencyMs,
          clusterTrustBundleProjection: settings.node.clusterTrustBundleProjection,
          ...(settings.node.podCertificateRequest && {
            podCertificates: {
              nodeName: deps.nodeName,
              makeKey: (keyType) => deps.tasks.run("makePodKey", { keyType }, { deadlineMs: POD_KEY_MS }),
              events: deps.recorder,
              registry: deps.registry,
            },
          }),
        }),
    );
    await components.add("the Node for objects of pods", () =>
      nodeStatus.onNode((node) => node && objects.setNode(node)),
    );
    await components.add("the Node for host IPs", () =>
      nodeStatus.onNode((node) => node && deps.hostIPs.setNode(node)),
    );
    deps.late.join(objects);
    const events = client.sharing({ qps: orNone(settings.node.eventRecordQPS), burst: settings.node.eventBurst });
    const ready = firstNode(nodeStatus);
    const plugins = { ...deps.plugins, DRAPlugin: dra.handler };
    const { rootDir } = settings;
    const own = client.sharing(PLUGIN_CALLS);
    await components.add("plugins", () => startCsi({ ...deps, plugins, rootDir, client: own, nodeStatus, ready }));
    this.pods = await components.add("pods of the API server", () =>
      startPodSync({
        ...deps,
        client,
        eventsClient: events,
        presence: client.presence,
        reflect: (feed) =>
          new Reflector({
            client,
            presence: client.presence,
            kind: PODS,
            fieldSelector: `spec.nodeName=${deps.nodeName}`,
            clock,
            log: moduleLogger(log, "pods-watch"),
            transform: (pod) => feed.trim(pod),
            onReplace: (pods) => feed.onReplace(pods),
            onEvent: (event) => feed.onEvent(event),
            isKnown: (uid, resourceVersion) => feed.isKnown(uid, resourceVersion),
          }),
        readUnfinished: (feed) => new UnfinishedPods({ client, nodeName: deps.nodeName, feed, clock }),
        node: () => nodeStatus.node(),
        ready,
      }),
    );
  }

  private async startNodeStatus(credentials: NodeCertificates): Promise<NodeStatusLink> {
    const { deps, components } = this;
    const { sync, resources, pressures } = deps;
    const link = await components.add("node status", () =>
      startNodeStatus(deps.settings, {
        ...deps,
        capacity: deps.resources.capacity,
        allocatable: deps.resources.allocatable,
        clientConfig: credentials.config,
        events: deps.recorder,
        runtime: sync.cache.runtime,
        relisted: sync.cache.complete,
        serverReturned: () => credentials.client.presence.seenElsewhere(),
      }),
    );
    this.nodeStatus = link;
    link.setShuttingDown(this.shuttingDown);
    await components.add("resources for the node status", () =>
      resources.onChange(({ capacity, allocatable }) => link.setResources(capacity, allocatable)),
    );
    const { configuration } = deps;
    if (configuration !== undefined) {
      const report: Parameters<typeof configuration.onReport>[0] = (now) => link.setConfig(now);
      await components.add("the configuration for the node status", () => configuration.onReport(report));
    }
    await components.add("pressures for the node status", () => pressures.follow((now) => link.setPressures(now)));
    credentials.useNode(link);
    return link;
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
  const log = moduleLogger(common.log, "objects-watch");
  const outage = new SharedOutage(log);
  return (options) => {
    const reflector = new Reflector({ ...common, log, outage, wakeWithinMs: OBJECTS_WAKE_MS, ...options });
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

/** Pods whose claims may be in use. */
function activeUids({ workers }: NodeSync): ReadonlySet<string> {
  const over = ["finished", "terminated"];
  return new Set([...workers.all()].filter(({ state }) => !over.includes(state)).map(({ uid }) => uid));
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
