// The addresses in status.hostIPs. Until the Node was read they are those of the machine's interfaces; from then on
// they are the Node's, of every origin (--node-ip, its name, a cloud provider).

import { isIP, isIPv6 } from "node:net";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { EventInput, EventRecorder } from "../../model/event-recorder.js";
import { formatIP } from "../../model/format-ip.js";
import { isFinalPhase } from "../../model/phase.js";

export interface HostIPsChange {
  before: readonly string[];
  now: readonly string[];
  /** `before` was a guess, or an address that an earlier kubelet process wrote to the Node. */
  guessed: boolean;
}

/** Pods with the statuses that are shown of them. */
export interface ShownPods {
  all(): Pod[];
  hostIPsChanged(change: HostIPsChange): void;
}

/** By then this kubelet process has written the node's addresses into the Node. */
const SETTLED_MS = 15_000;

export class HostIPs {
  private readonly settledAt: number;
  private readonly listeners: ((change: HostIPsChange) => void)[] = [];

  /** `ips`: the machine's addresses, the primary first. */
  constructor(
    private ips: readonly string[],
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.settledAt = clock.monotonic() + SETTLED_MS;
  }

  /** The primary first, one per family. */
  get current(): readonly string[] {
    return this.ips;
  }

  /** Calls the listener after each change from now on. */
  onChange(listener: (change: HostIPsChange) => void): void {
    this.listeners.push(listener);
  }

  /** A Node without addresses, as before a cloud provider gave it some, changes nothing. */
  setNode(node: Pick<Node, "status">): void {
    const now = nodeHostIPs(node);
    if (now.length === 0) return;
    const change = { before: this.ips, now, guessed: this.clock.monotonic() < this.settledAt };
    this.ips = now;
    if (now.join() === change.before.join()) return;
    for (const listener of this.listeners) listener(change);
  }
}

/** Every pod shows the node's new addresses. */
export function emitHostIPs(change: HostIPsChange, statuses: ShownPods, events: Pick<EventRecorder, "pod">): void {
  const mismatch = familyMismatch(change);
  if (mismatch !== undefined) {
    for (const pod of statuses.all()) if (!isFinalPhase(pod.status?.phase)) events.pod(pod, mismatch);
  }
  statuses.hostIPsChanged(change);
}

/** The primary address is of another family than the one in pod statuses: the operator must choose the family. */
function familyMismatch({ before, now }: HostIPsChange): EventInput | undefined {
  const [old = "", next = ""] = [before[0], now[0]];
  if (isIP(old) === 0 || isIP(old) === isIP(next)) return undefined;
  const message =
    `Kubelet detected an IPv${isIP(old)} node IP (${old}), but the cloud provider selected an IPv${isIP(next)} node IP ` +
    `(${next}); pass an explicit \`--node-ip\` to kubelet to fix this.`;
  return { type: "Warning", reason: "HostIPsIPFamilyMismatch", message };
}

/** Internal addresses before external ones; the first, and the first of the other family. @internal */
export function nodeHostIPs({ status }: Pick<Node, "status">): string[] {
  const of = (type: string): string[] =>
    (status?.addresses ?? []).flatMap((one) => (one.type === type ? (formatIP(one.address) ?? []) : []));
  const all = [...of("InternalIP"), ...of("ExternalIP")];
  const [first] = all;
  if (first === undefined) return [];
  const second = all.find((ip) => isIPv6(ip) !== isIPv6(first));
  return second === undefined ? [first] : [first, second];
}
