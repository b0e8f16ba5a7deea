// What the world itself knows of each pod: the measure of the invariants. Names are used once, so they are the keys.

import type { PodShape } from "../plan/pod-shapes.js";
import { NODE_NAME } from "./api.js";

export interface PodFacts {
  shape: PodShape;
  createdAt: number;
  /** Steady moments, ms; undefined: it did not happen. */
  deletedAt?: number;
  graceSeconds: number;
  /** Time without a kubelet before its deletion, ms. */
  downBeforeDeletion: number;
  editedAt?: number;
  /** Its sandbox was killed, or its container, by a fault. */
  disturbedAt?: number;
  /** The runtime lost records of containers that had ended, or all of them. */
  forgottenAt?: number;
  /** CPU of each container, since a resize. */
  cpuMillis?: number;
  /** Uid of its object in the API. */
  uid?: string;
}

export class AllFacts {
  readonly pods = new Map<string, PodFacts>();
  /** Steady moments at which a fault was under way last. */
  lastFaultAt = -Infinity;
  /** Steady moment of the last fault that was more than an end of the kubelet's process. */
  lastOtherFaultAt = -Infinity;
  /** Steady moment at which a fault other than a shortage was under way last. */
  lastDisturbedAt = -Infinity;
  /** Steady moment at which the process of the last kubelet began. */
  launchedAt = 0;
  lastRebootAt = -Infinity;
  /** Steady moment at which an orderly shutdown last began. */
  lastShutdownAt = -Infinity;
  /** Steady moment at which a kubelet last started from a disk with errors. */
  lastUnreadableStartAt = -Infinity;
  /** Steady moment at which a kubelet last completed its start; undefined: none runs that has. */
  startedAt: number | undefined;
  /** A kubelet has completed its start, and so read its records, since then. */
  hasStartedSinceReboot = true;

  /**
   * Nothing on the machine says how often the pod's containers have run: the runtime lost them, and a power loss may
   * have taken their logs; or a shutdown ended the static pod, and a shortage of a disk removed its containers before
   * the machine was off. Upstream's promise (reference of Pod, restartCount): the kubelet makes an effort to always
   * increment the value, and it may be reset to 0 after a restart of the node.
   */
  mayCountAnew({ createdAt, forgottenAt, shape }: PodFacts): boolean {
    const isForgotten = forgottenAt !== undefined || (shape.isStatic && this.losesEndedPods);
    return isForgotten && this.lastRebootAt > createdAt;
  }

  /** Containers of pods that a shutdown ended may be removed before the boot. */
  losesEndedPods = false;
  private downSince: number | undefined = 0;
  private downBefore = 0;

  /** A fault that is more than an end of the kubelet's process is under way, or has just ended. */
  faultEnded(now: number): void {
    this.lastFaultAt = now;
    this.lastOtherFaultAt = Math.max(this.lastOtherFaultAt, now);
  }

  disturbed(now: number): void {
    this.lastDisturbedAt = Math.max(this.lastDisturbedAt, now);
  }

  /** Time without a kubelet that has completed its start, from the beginning to now, ms. */
  downAt(now: number): number {
    return this.downBefore + (this.downSince === undefined ? 0 : now - this.downSince);
  }
  kubeletEnded(now: number): void {
    this.downSince ??= now;
    this.startedAt = undefined;
  }
  kubeletStarted(now: number): void {
    this.downBefore = this.downAt(now);
    this.downSince = undefined;
    this.startedAt = now;
    this.hasStartedSinceReboot = true;
  }

  get wanted(): PodFacts[] {
    return [...this.pods.values()].filter(({ deletedAt }) => deletedAt === undefined);
  }
}

/** The pod's name without the node's, which static pods have at their end. */
export function podNameOf(labels: Readonly<Record<string, string>>): string {
  return plainName(labels["io.kubernetes.pod.name"] ?? "");
}

/** The name of an object in the API, without the node's. */
export function plainName(name: string): string {
  return name.endsWith(`-${NODE_NAME}`) ? name.slice(0, -NODE_NAME.length - 1) : name;
}
