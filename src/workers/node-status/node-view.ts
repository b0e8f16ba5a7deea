// The latest known Node: reports to main when it changes, when it becomes (un)schedulable, and its pod CIDRs.
// Invariant: main gets one call per change; an older version never replaces a newer one.

import type { NodeStatusUpcalls, SeenNode } from "../../shared/contracts/node-status.js";
import type { EventReason } from "../../shared/kubernetes/api/event-reasons.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { Remote } from "../../shared/thread/remote-calls.js";

export type NodeStatusMain = Pick<Remote<NodeStatusUpcalls>, "onNode" | "onPodCIDR" | "serverReturned" | "event">;

export interface NodeViewOptions {
  main: NodeStatusMain;
  nodeName: string;
  log: Logger;
  /** Known cordon state before the Node is read; undefined: use the Node's. */
  unschedulable: boolean | undefined;
  /** Each version of the Node; absent: no other part follows it. */
  onUpdate?: ((node: Node) => void) | undefined;
}

export class NodeView {
  private node: Node | undefined;
  /** The last report to main; undefined: none, or that the Node was deleted. */
  private published: string | undefined;
  private podCIDR = "";
  private unschedulable: boolean | undefined;

  constructor(private readonly options: NodeViewOptions) {
    this.unschedulable = options.unschedulable;
  }

  get current(): Node | undefined {
    return this.node;
  }

  update(node: Node): void {
    this.node = node;
    const seen = seenNode(node);
    const text = JSON.stringify({ ...seen, metadata: { ...seen.metadata, resourceVersion: "" } });
    if (text !== this.published) {
      this.published = text;
      // Cleared after a failure, so that the next check delivers it again.
      this.send("the Node object", this.options.main.onNode(seen), () => (this.published = undefined));
    }
    this.lookAtCordon(node);
    this.options.onUpdate?.(node);
    this.lookAtPodCIDR(node);
  }

  /** The server has no such Node. */
  gone(): void {
    const wasThere = this.node !== undefined;
    this.node = undefined;
    this.published = undefined;
    if (wasThere) this.send("that the Node object was deleted", this.options.main.onNode(undefined));
  }

  /** The newer of two pictures; versions of one kind of object can be compared as numbers. */
  newest(read: Node): Node {
    const { node } = this;
    if (node === undefined || node.metadata.uid !== read.metadata.uid) return read;
    return versionOf(node) > versionOf(read) ? node : read;
  }

  event(type: "Normal" | "Warning", reason: EventReason, message: string): void {
    this.send(`the event ${reason}`, this.options.main.event(type, reason, message));
  }

  /** Main's own waits for the server may be longer than the heartbeat's. */
  serverReturned(): void {
    this.send("that the API server is back", this.options.main.serverReturned());
  }

  private lookAtCordon({ spec = {} }: Node): void {
    const now = spec.unschedulable === true;
    const before = this.unschedulable ?? now;
    this.unschedulable = now;
    if (now === before) return;
    const reason = now ? "NodeNotSchedulable" : "NodeSchedulable";
    this.event("Normal", reason, `Node ${this.options.nodeName} status is now: ${reason}`);
  }

  private lookAtPodCIDR({ spec = {} }: Node): void {
    const podCIDR = (spec.podCIDRs ?? (spec.podCIDR === undefined ? [] : [spec.podCIDR])).join(",");
    if (podCIDR === "" || podCIDR === this.podCIDR) return;
    this.podCIDR = podCIDR;
    this.send(`the pod CIDR ${podCIDR}`, this.options.main.onPodCIDR(podCIDR), () => (this.podCIDR = ""));
  }

  private send(what: string, call: Promise<void>, failed: () => void = () => undefined): void {
    call.catch((error: unknown) => {
      failed();
      this.options.log.warn({ err: error }, `main did not accept ${what}: ${errorText(error)}`);
    });
  }
}

function versionOf({ metadata }: Node): bigint {
  const version = metadata.resourceVersion ?? "";
  return /^\d+$/.test(version) ? BigInt(version) : 0n;
}

/** Removes fields that are large or change with every heartbeat. */
export function seenNode(node: Node): SeenNode {
  const metadata = { ...node.metadata } as Node["metadata"] & { managedFields?: unknown };
  delete metadata.managedFields;
  const status = { ...node.status };
  delete status.images;
  delete status.conditions;
  return { ...node, metadata, status };
}
