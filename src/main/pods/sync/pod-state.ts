// The state of the pods of this node: events, workers, observed states, records, allocations. It is made before
// everything that reads it. PodSync, which acts on it, is made last.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { forEachIsolated } from "../../../shared/base/turns/for-each-isolated.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import { PodEventStream, type PodSubscriber, type PodSubscriberName } from "../../model/pod-events.js";
import { Allocations } from "../../resources/allocation/allocations.js";
import type { PlegThread } from "../../threads/pleg-thread.js";
import type { ClusterPods } from "./cluster-pods.js";
import { PodCache } from "./pod-cache.js";
import { PodRecords } from "./pod-records.js";
import { PodTable } from "./pod-table.js";
import { podsUsingNode } from "./pods-using-node.js";

export interface PodStateDeps {
  rootDir: string;
  pleg: Pick<PlegThread, "inspect">;
  clock: Clock;
  log: Logger;
}

export class PodState {
  readonly events: PodEventStream;
  readonly pods = new PodTable();
  readonly cache: PodCache;
  readonly records: PodRecords;
  readonly allocations: Allocations;
  /** What the API server has of pods. Undefined until the node has joined a cluster, and on a stand-alone node. */
  cluster: ClusterPods | undefined;
  /**
   * Every source has delivered and the runtime was listed: all wanted pods are known, and the termination of the others
   * has begun.
   */
  settled = false;
  private readonly log: Logger;

  constructor({ rootDir, pleg, clock, log }: PodStateDeps) {
    this.log = log;
    this.events = new PodEventStream(moduleLogger(log, "pod-events"));
    this.cache = new PodCache(clock, pleg);
    this.records = new PodRecords(join(rootDir, "nodelet", "pods"), clock, moduleLogger(log, "pod-records"));
    this.allocations = new Allocations(rootDir, clock, moduleLogger(log, "allocations"));
  }

  /** Reads the state of an earlier kubelet; must complete before any pod is dispatched. */
  async load(): Promise<void> {
    await Promise.all([this.records.load(), this.allocations.load()]);
    this.allocations.keepActuated(new Set(this.records.uids()));
  }

  /** Adds a subscriber that comes late: first it receives the pods that run already, as admitted pods. */
  subscribe(name: PodSubscriberName, subscriber: PodSubscriber): void {
    forEachIsolated(
      podsUsingNode(this.pods.all()),
      (pod) => subscriber.admitted?.({ pod }),
      (error, { metadata: { uid } }: Pod) =>
        this.log.error({ uid, err: error }, `${name} cannot handle pod ${uid}: ${messageOf(error)}`),
    );
    this.events.subscribe(name, subscriber);
  }

  /** The pod has a worker or waits for one, or an earlier kubelet admitted it. */
  isTakenOn(uid: PodUid): boolean {
    return this.pods.has(uid) || this.records.get(uid) !== undefined;
  }

  /** The definition of an admitted pod that has not ended. */
  keptDefinition(uid: PodUid): Pod | undefined {
    return this.records.keptDefinition(uid);
  }
}
