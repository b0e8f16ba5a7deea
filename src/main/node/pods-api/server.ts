// The pods API at <root-dir>/pods-api/pods-api.sock (gate PodsAPI): it gives programs on this node its pods, without
// the API server. KEP-4188. Loaded only with the gate, after the kubelet has started.

import { Server, status, type ServerWritableStream } from "@grpc/grpc-js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import {
  PodsService,
  type PodsServer,
  type WatchPodsEvent,
  type WatchPodsRequest,
} from "../../../shared/kubernetes/plugins/gen/pods.v1alpha1.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { PodSubscriber } from "../../model/pod-events.js";
import { CallRate } from "../call-rate.js";
import { listenOnSocket } from "../local-socket.js";
import { PodsView } from "./pods-view.js";

export const MAX_WATCHERS = 100;
/** Upstream's; the client lists again. */
const TOO_SLOW = { code: status.RESOURCE_EXHAUSTED, details: "watch client channel closed" };
const REFUSED = { code: status.RESOURCE_EXHAUSTED, details: "rejected by rate limit" };

export interface PodsApiOptions {
  /** <root-dir>/pods-api */
  directory: string;
  /** Pods of the node with their statuses. */
  pods: { all(): Iterable<Pod>; get(uid: PodUid): Pod | undefined };
  /** Subscribes to the events of pods; called once. */
  subscribe: (subscriber: PodSubscriber) => void;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export function podWatchMetrics(registry: ThreadRegistry) {
  return registry.counter("kubelet_pod_watch_events_dropped_total", "Cumulative number of pod watch events dropped");
}

/** Rejects when the socket can't be made. */
export async function servePodsApi(options: PodsApiOptions): Promise<{ stop(): Promise<void> }> {
  const { directory, pods, registry, clock, log } = options;
  const dropped = podWatchMetrics(registry);
  const view = new PodsView({ pods: () => pods.all(), dropped: () => dropped.inc(), log });
  const server = new Server();
  server.addService(PodsService, handlers(view, new CallRate(clock)));
  const socket = await listenOnSocket(server, directory, "pods-api.sock");
  // A terminating pod keeps its definition in its worker and its status; clients see the newest one, as upstream's do.
  const redefined = new Map<PodUid, Pod>();
  const changed = ({ pod }: { pod: Pod }): void => {
    const shown = pods.get(pod.metadata.uid) ?? pod;
    const newest = redefined.get(pod.metadata.uid) ?? shown;
    view.changed(shown.status === undefined ? newest : { ...newest, status: shown.status });
  };
  options.subscribe({
    accepted: ({ pod }) => {
      redefined.delete(pod.metadata.uid);
      changed({ pod });
    },
    redefined: ({ pod }) => {
      redefined.set(pod.metadata.uid, pod);
      changed({ pod });
    },
    statusChanged: changed,
    removed: ({ uid }) => {
      redefined.delete(uid);
      view.removed(uid);
    },
  });
  return {
    stop() {
      server.forceShutdown();
      return socket.remove();
    },
  };
}

function handlers(view: PodsView, rate: CallRate): PodsServer {
  return {
    listPods(_call, answer) {
      if (rate.allow()) answer(null, { pods: view.list() });
      else answer(REFUSED);
    },
    getPod({ request: { podUID } }, answer) {
      const pod = rate.allow() ? view.get(podUid(podUID)) : REFUSED;
      if (pod === undefined) answer({ code: status.NOT_FOUND, details: `pod with UID ${podUID} not found` });
      else if ("code" in pod) answer(pod);
      else answer(null, { pod });
    },
    watchPods(call) {
      if (!rate.allow()) call.emit("error", REFUSED);
      else if (view.watching >= MAX_WATCHERS) {
        call.emit("error", { code: status.RESOURCE_EXHAUSTED, details: `${MAX_WATCHERS} clients watch already` });
      } else serveWatch(view, call);
    },
  };
}

function serveWatch(view: PodsView, call: ServerWritableStream<WatchPodsRequest, WatchPodsEvent>): void {
  const watcher = view.watch(
    (event) => call.write(event),
    () => call.emit("error", TOO_SLOW),
  );
  call.on("drain", () => watcher.ready());
  const end = (): void => view.unwatch(watcher);
  call.on("cancelled", () => {
    end();
    call.end();
  });
  call.on("close", end);
  call.on("error", end);
}
