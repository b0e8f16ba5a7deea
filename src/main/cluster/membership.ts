// The node's membership of a cluster, for components that start before the node has joined. It has the calls that they
// may make to the cluster, and the facts that they report. The cluster's own components are loaded later, while static
// pods already start.

import type { ApiAccessFacts } from "../../shared/contracts/nodelet.js";
import type { PlegRecord } from "../../shared/contracts/pleg.js";
import { NODES } from "../../shared/kubernetes/api/client/kinds.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ClusterAccess, ClusterObjects } from "../model/cluster-access.js";

const FRESH_MS = 2000;

/** A membership that has come about, or is about to. */
export interface JoinedCluster {
  onRecord(record: PlegRecord): void;
  node(): Node | undefined;
  /** undefined: there are no credentials yet. */
  apiAccess(): ApiAccessFacts | undefined;
  setShuttingDown(shuttingDown: boolean): void;
  /** The mirror pod of the static pod with this name; undefined: it has none. */
  mirrorUid(namespace: string, name: string): PodUid | undefined;
  stop(): Promise<void>;
}

export class Membership {
  private objects: ClusterObjects | undefined;
  private readonly listeners: ((objects: ClusterObjects) => void)[] = [];
  private joined: JoinedCluster | undefined;
  private joining: Promise<void> | undefined;
  private stopped = false;
  private shuttingDown = false;

  constructor(private readonly log: Logger) {}

  /** The objects of the cluster; undefined until the node has joined. Bound: parts that start before get it. */
  readonly access: ClusterAccess = () => this.objects;

  /** Called at once when the kubelet has joined already. */
  onJoined(listener: (objects: ClusterObjects) => void): void {
    if (this.objects !== undefined) listener(this.objects);
    else this.listeners.push(listener);
  }

  /** The node has joined. Call once. */
  setObjects(objects: ClusterObjects): void {
    if (this.objects !== undefined) throw new Error("the kubelet is already connected to its cluster");
    this.objects = objects;
    for (const listener of this.listeners.splice(0)) listener(objects);
  }

  /** `join` is not waited for. */
  startJoining(join: () => Promise<JoinedCluster>): void {
    this.joining = join().then(
      async (joined) => {
        this.joined = joined;
        joined.setShuttingDown(this.shuttingDown);
        if (this.stopped) await joined.stop();
      },
      (error: unknown) => {
        const what = errorText(error);
        this.log.error({ err: error }, `cannot join the cluster: ${what}`);
      },
    );
  }

  /** Every record of the pleg thread, beside the sync loop. */
  onRecord(record: PlegRecord): void {
    this.joined?.onRecord(record);
  }

  /** This node's object in the API; undefined before the first read. */
  node(): Node | undefined {
    return this.joined?.node();
  }

  /** The API server as this node's client sees it; undefined before the node has its credentials. */
  apiAccess(): ApiAccessFacts | undefined {
    return this.joined?.apiAccess();
  }

  /** The machine is shutting down, or not any more: the Node's status shows it. */
  setShuttingDown(shuttingDown: boolean): void {
    this.shuttingDown = shuttingDown;
    this.joined?.setShuttingDown(shuttingDown);
  }

  /** The mirror pod of the static pod of that name; undefined: there is none. */
  mirrorUid(namespace: string, name: string): PodUid | undefined {
    return this.joined?.mirrorUid(namespace, name);
  }

  /** This node's object, read now: admission waits for it. Undefined if the server does not respond soon. */
  async freshNode(name: string, signal: AbortSignal): Promise<Node | undefined> {
    try {
      return await this.objects?.client.get(NODES, { name }, { signal, timeoutMs: FRESH_MS });
    } catch (error) {
      signal.throwIfAborted();
      this.log.debug({ err: error }, "cannot read the Node object; using the cached one");
      return undefined;
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.joined?.stop();
    await this.joining;
  }
}
