// Joins a node's sync path to its cluster. Pods come from the API server; statuses, mirror pods and events go to it.
// Loaded only with a kubeconfig. Invariant: static pods and running pods wait for none of it; nothing is started before
// the sync path listens.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Returns } from "../../shared/kubernetes/api/client/connection/presence.js";
import { PODS } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { PodStatus } from "../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, podFullName, type Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { isFinalPhase } from "../model/phase.js";
import { podIdentity } from "../model/slim-pod.js";
import type { NodeRecorder } from "../pods/events/node-recorder.js";
import { EventSink } from "../pods/events/sink/event-sink.js";
import { eventSinkMetrics } from "../pods/events/sink/metrics.js";
import { ApiSource, type ApiPodsWatcher, type PodFeed } from "../pods/sources/api-source.js";
import { DefinitionBudget } from "../pods/sources/definition-budget.js";
import type { Sources } from "../pods/sources/start-sources.js";
import { ApiView, isMirrorPod } from "../pods/status/manager/api-view.js";
import { podStatusMetrics, type PodStatusMetrics } from "../pods/status/manager/metrics.js";
import { foreignConditions } from "../pods/status/manager/shown-status.js";
import { StatusManager } from "../pods/status/manager/status-manager.js";
import { MirrorManager } from "../pods/status/mirror/mirror-manager.js";
import type { ClusterPods } from "../pods/sync/cluster-pods.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import { HeldPods } from "./held-pods.js";

export interface ApiPodsDeps {
  nodeName: string;
  /** For pods and their statuses. */
  client: ApiClient;
  /** For events: with separate rate limits (eventRecordQPS, eventBurst). */
  eventsClient: ApiClient;
  /** Reports when the API server returns; absent: each caller waits out its back-off. */
  presence?: Returns;
  /** Lists and watches the pods of this node: field selector "spec.nodeName=<name>". */
  reflect(feed: PodFeed): Reflecting;
  /** Reads those of them that have not ended, once. */
  readUnfinished(feed: PodFeed): Reflecting;
  /** The latest known object of this node; undefined before the first read. */
  node(): Node | undefined;
  /** The node is registered and its object was read. */
  ready: Promise<void>;
  state: Pick<PodState, "isTakenOn" | "keptDefinition">;
  sync: Pick<PodSync, "join" | "onApiStatus" | "endedStatus" | "settleRecord" | "onHeldPod">;
  sources: Pick<Sources, "changes">;
  recorder: Pick<NodeRecorder, "sendTo">;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

interface Reflecting {
  start(): void;
  stop(): Promise<void>;
}

export interface ApiPods {
  /** The mirror pod of the static pod with this name; undefined: it has none. */
  mirrorUid(namespace: string, name: string): PodUid | undefined;
  /** Pods keep running. The next kubelet process sends the statuses that the server has not received. */
  stop(): Promise<void>;
}

export function startPodSync(deps: ApiPodsDeps): ApiPods {
  const { client, clock, registry, sync } = deps;
  const metrics = podStatusMetrics(registry);
  const view = new ApiView((object, before) => {
    held.seen(object.metadata.uid);
    const { status } = object;
    if (status === undefined || isMirrorPod(object) || !concerns(status, before?.status)) return;
    sync.onApiStatus(object.metadata.uid, status);
  });
  const held = new HeldPods(view, (uid) => sync.onHeldPod(uid));
  const statuses = new StatusManager({
    client,
    view,
    clock,
    log: moduleLogger(deps.log, "status-manager"),
    synced: (seconds) => metrics.synced(seconds),
  });
  const mirrors = new MirrorManager({
    client,
    view,
    node: () => mirrorNode(deps.node()),
    clock,
    log: moduleLogger(deps.log, "mirror-pods"),
    created: (mirror) => statuses.onObject(mirror),
    deleted: (mirror) => statuses.onObjectDeleted(mirror),
  });
  const sink = eventSink(deps);
  const watcher = objectsWatcher({ view, held, statuses, mirrors, metrics });
  const budget = new DefinitionBudget({
    read: ({ namespace, name }, signal) => client.get(PODS, { namespace, name }, { signal }),
    arrived: (object) => source.onEvent({ type: "MODIFIED", object }),
    clock,
    log: moduleLogger(deps.log, "api-source"),
  });
  const source: ApiSource = new ApiSource(
    deps.sources.changes,
    view,
    watcher,
    moduleLogger(deps.log, "api-source"),
    ({ metadata, status }) => sync.endedStatus(metadata.uid, status),
    budget,
    deps.state,
  );
  const reflector = deps.reflect(source);
  const unfinished = deps.readUnfinished(source);
  const cleanedUp = (uid: PodUid): void => {
    sync.settleRecord(uid, view.get(uid)?.status);
    source.slim(uid);
  };
  sync.join(clusterPods({ view, statuses, mirrors, held, budget, cleanedUp }));
  deps.recorder.sendTo(sink);
  unfinished.start();
  reflector.start();
  const endPresence = deps.presence?.onReturn(() => statuses.serverReturned());
  let stopped = false;
  void deps.ready.then(() => {
    if (!stopped) source.start();
  });
  return {
    mirrorUid: (namespace, name) => view.mirror(podFullName({ metadata: { namespace, name } }))?.metadata.uid,
    async stop() {
      stopped = true;
      endPresence?.();
      await Promise.all([unfinished.stop(), reflector.stop()]);
      await Promise.all([budget.stop(), statuses.stop(), mirrors.stop(), sink.stop()]);
    },
  };
}

function eventSink({ eventsClient, registry, clock, log }: ApiPodsDeps): EventSink {
  const counters = eventSinkMetrics(registry);
  return new EventSink({ client: eventsClient, clock, log: moduleLogger(log, "event-sink"), counters });
}

interface WatcherParts {
  view: ApiView;
  held: HeldPods;
  statuses: StatusManager;
  mirrors: MirrorManager;
  metrics: Pick<PodStatusMetrics, "mirrorPods">;
}

/** Passes each pod object that was read or deleted to those that compare it with the node. */
function objectsWatcher({ view, held, statuses, mirrors, metrics }: WatcherParts): ApiPodsWatcher {
  return {
    seen(object) {
      statuses.onObject(object);
      metrics.mirrorPods(view.mirrorCount);
      if (isMirrorPod(object)) mirrors.onChange(object);
    },
    dropped(object) {
      held.dropped(object.metadata.uid);
      statuses.onObjectDeleted(object);
      metrics.mirrorPods(view.mirrorCount);
      if (isMirrorPod(object)) mirrors.onChange(object);
    },
    synced: () => mirrors.onSynced(),
  };
}

interface ClusterPodParts {
  view: ApiView;
  statuses: StatusManager;
  mirrors: MirrorManager;
  held: HeldPods;
  budget: DefinitionBudget;
  cleanedUp: (uid: PodUid) => void;
}

function clusterPods({ view, statuses, mirrors, held, budget, cleanedUp }: ClusterPodParts): ClusterPods {
  const statics = new Map<PodUid, Pod>();
  return {
    statusOf: (uid) => view.get(uid)?.status,
    heldPods: held,
    waits: (uid) => budget.waits(uid),
    subscriber: {
      accepted({ pod }) {
        if (!isStaticPod(pod)) return;
        statics.set(pod.metadata.uid, podIdentity(pod));
        mirrors.want(pod);
      },
      admitted: ({ pod }) => budget.decided(pod.metadata.uid),
      statusComputed: ({ pod, status }) => statuses.set(pod, status),
      cleanedUp: ({ uid }) => cleanedUp(uid),
      left: ({ uid }) => statuses.gone(uid),
      removed({ uid }) {
        held.removed(uid);
        const pod = statics.get(uid);
        if (pod === undefined) return;
        statics.delete(uid);
        mirrors.onStaticPodGone(pod);
      },
      staticsKnown: () => mirrors.onStaticsKnown(),
    },
  };
}

/** A change of the status that the sync path has to know of: one that it did not make. */
function concerns(status: PodStatus, before: PodStatus | undefined): boolean {
  if (isFinalPhase(status.phase) && !isFinalPhase(before?.phase)) return true;
  return foreignConditions(status) !== foreignConditions(before);
}

function mirrorNode(node: Node | undefined): { name: string; uid: string } | undefined {
  const { name, uid } = node?.metadata ?? {};
  return name === undefined || uid === undefined ? undefined : { name, uid };
}
