// The node's membership of a cluster, from the side of a node that starts before it has joined: what it may ask, and what
// it tells. The cluster's own parts are loaded behind it, when static pods are on their way.
import { NODES } from "../../shared/api/client/kinds.js";
import { errorText } from "../../shared/log/error-text.js";
import type { PlegRecord } from "../../shared/contracts/pleg.js";
import type { Node } from "../../shared/api/node.js";
import type { Logger } from "../../shared/log/logger.js";
import { LateCluster } from "./late-cluster.js";

const FRESH_MS = 2000;

/** A membership that has come about, or is about to. */
export interface JoinedCluster {
  onRecord(record: PlegRecord): void;
  node(): Node | undefined;
  setShuttingDown(shuttingDown: boolean): void;
  /** Of the static pod of that name. */
  mirrorUid(namespace: string, name: string): string | undefined;
  stop(): Promise<void>;
}

export class Membership {
  /** For the parts that use the cluster once it is there. */
  readonly late = new LateCluster();
  private joined: JoinedCluster | undefined;
  private joining: Promise<void> | undefined;
  private stopped = false;
  private shuttingDown = false;

  constructor(private readonly log: Logger) {}

  /** `join` is not waited for. */
  begin(join: () => Promise<JoinedCluster>): void {
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

  /** This node as the API server has it; undefined before it was seen. */
  node(): Node | undefined {
    return this.joined?.node();
  }

  /** The machine is about to go down, or is not any more: the Node's status says so. */
  setShuttingDown(shuttingDown: boolean): void {
    this.shuttingDown = shuttingDown;
    this.joined?.setShuttingDown(shuttingDown);
  }

  /** UID of the mirror pod of the static pod of that name; undefined: there is none. */
  mirrorUid(namespace: string, name: string): string | undefined {
    return this.joined?.mirrorUid(namespace, name);
  }

  /** This node's object, asked for now: admission waits for it. Undefined when the server does not say so soon. */
  async freshNode(name: string, signal: AbortSignal): Promise<Node | undefined> {
    try {
      return await this.late.access()?.client.get(NODES, { name }, { signal, timeoutMs: FRESH_MS });
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
