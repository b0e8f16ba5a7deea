// Admission of the running node: calls the admit handlers, preempts pods for critical pods, and records the admitted
// pods.
// Invariant: the account changes only here, so that two pods can't be promised the same room.
import { type Pod, podDescription } from "../../shared/api/pod.js";
import type { PodStatus } from "../../shared/api/pod-status.js";
import type { Logger } from "../../shared/log/logger.js";
import { errorText } from "../../shared/log/error-text.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { resourcesOf, withResources } from "../model/pod-resources.js";
import type { ResourceManagers } from "../resources/managers/port.js";
import { beyondNode } from "../resources/allocation/resize-rules.js";
import { isCriticalPod } from "../resources/oom-score.js";
import { firstRefusal, placementRefusal, refusalAfterResources, refusalBeforeResources } from "./handlers.js";
import type { AdmissionContext, AdmissionNode, ExtendedClaim } from "./handler.js";
import type { AdmissionVerdict, ResizeRefusal } from "./verdict.js";
import { choosePreempted } from "./preemption.js";
import { findShortages } from "./free-resources.js";
import type { PodFailure, MissingResource, Refusal } from "../model/refusal.js";

const PREEMPTED = {
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
  disruption: "Pod was preempted by Kubelet to accommodate a critical pod.",
} as const satisfies PodFailure;

const NODE_AFFINITY = "NodeAffinity";

export interface NodeAdmissionDeps {
  node: (pod: Pod, signal: AbortSignal) => Promise<AdmissionNode>;
  /** Reads the current Node object from the API server. The scheduler may have used labels that the kubelet does not know yet. */
  freshNode?: (pod: Pod, signal: AbortSignal) => Promise<AdmissionNode>;
  /** The pod's status in the API; undefined: the API server does not have the pod. */
  apiStatus: (uid: string) => PodStatus | undefined;
  events: EventRecorder;
  log: Logger;
  /** Fails a pod for good; resolves when no container of it runs. */
  fail: (uid: string, failure: PodFailure) => Promise<void>;
  /** Absent: a node without resource managers. */
  managers?: Pick<ResourceManagers, "admit" | "refused" | "release">;
  counters: { rejected(reason: string): void; preempted(resource: string): void };
}

/** Admission as the queue calls it. Without `resize`, every resize is granted. */
export type Admission = Pick<NodeAdmission, "admit"> & Partial<Pick<NodeAdmission, "resize" | "updated" | "release">>;

export class NodeAdmission {
  /** Pods that were let in and have not ended, by UID. */
  private readonly admitted = new Map<string, Pod>();

  constructor(private readonly deps: NodeAdmissionDeps) {}

  /**
   * May wait, for example for preemption; the next pod is admitted when this promise settles. Called once per pod UID, in the
   * order of arrival, pods of an earlier kubelet process first. Called again only for a terminated pod with a new definition,
   * or after this promise rejected.
   */
  async admit(pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
    const { uid } = pod.metadata;
    const { managers } = this.deps;
    const before = await this.deps.node(pod, signal);
    let refusal = refusalBeforeResources(this.context(pod, before)) ?? (await managers?.admit(pod, signal));
    if (refusal === undefined) {
      let admitted = false;
      try {
        // Resources that the managers granted to the pod count as the node's, even if a device became unhealthy since.
        const node = managers === undefined ? before : await this.deps.node(pod, signal);
        refusal = await this.afterResources(pod, node, signal);
        admitted = refusal === undefined;
      } finally {
        if (!admitted) managers?.refused(uid);
      }
    }
    if (refusal === undefined) {
      this.admitted.set(uid, pod);
      return { admit: true };
    }
    this.deps.counters.rejected(refusal.reason);
    return { admit: false, reason: refusal.reason, message: refusal.message };
  }

  /** An admitted pod requests other resources; undefined: they are granted from now on. Preempts no pod: a resize waits for room. */
  async resize(pod: Pod, signal: AbortSignal): Promise<ResizeRefusal | undefined> {
    const { uid } = pod.metadata;
    const node = await this.deps.node(pod, signal);
    const context = this.context(pod, node);
    const never = beyondNode(pod, node.allocatable);
    if (never !== undefined) return { reason: "Infeasible", message: never.message, infeasible: never.detail };
    const refusal = firstRefusal(context);
    if (refusal !== undefined) return { reason: refusal.reason, message: refusal.message };
    // One that ended while its turn came has nothing to be resized.
    if (this.admitted.has(uid)) this.admitted.set(uid, pod);
    return undefined;
  }

  /** The pod's definition changed. CPU and memory stay as granted last: a resize may be pending. */
  updated(pod: Pod): void {
    const { uid } = pod.metadata;
    const known = this.admitted.get(uid);
    if (known !== undefined) this.admitted.set(uid, withResources(pod, resourcesOf(known)));
  }

  /** The pod is terminated or removed: its resources are free. */
  release(uid: string): void {
    this.admitted.delete(uid);
    this.deps.managers?.release(uid);
  }

  private async afterResources(pod: Pod, known: AdmissionNode, signal: AbortSignal): Promise<Refusal | undefined> {
    let node = known;
    let refusal = refusalAfterResources(this.context(pod, node));
    if (refusal?.reason === NODE_AFFINITY && this.deps.freshNode !== undefined) {
      node = await this.deps.freshNode(pod, signal);
      refusal = firstRefusal(this.context(pod, node));
    }
    if (refusal?.missing !== undefined && isCriticalPod(pod) && !isBeyond(this.context(pod, node))) {
      const { missing, message } = refusal;
      refusal =
        placementRefusal(this.context(pod, node)) ?? (await this.makeRoom(pod, node, { missing, message }, signal));
    }
    return refusal;
  }

  private context(pod: Pod, node: AdmissionNode): AdmissionContext {
    const others = [...this.admitted.values()].filter((other) => other.metadata.uid !== pod.metadata.uid);
    return { pod, others, node, extendedClaim: this.extendedClaim(pod) };
  }

  private extendedClaim({ metadata }: Pod): ExtendedClaim | undefined {
    return this.deps.apiStatus(metadata.uid)?.extendedResourceClaimStatus;
  }

  private async makeRoom(
    pod: Pod,
    node: AdmissionNode,
    shortage: { missing: readonly MissingResource[]; message: string },
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const { events, fail, log, counters } = this.deps;
    const { missing } = shortage;
    const failed = (error: unknown): Refusal => ({
      reason: "UnexpectedAdmissionError",
      message: `Unexpected error while attempting to recover from admission failure: preemption: ${errorText(error)}; ${shortage.message}`,
    });
    let victims: Pod[];
    try {
      victims = choosePreempted(pod, this.context(pod, node).others, missing);
    } catch (error) {
      return failed(error);
    }
    await Promise.all(
      victims.map(async (victim) => {
        log.warn(
          { pod: victim.metadata.uid, for: pod.metadata.uid },
          `pod ${podDescription(victim)} is preempted by critical pod ${podDescription(pod)}`,
        );
        events.pod(victim, { type: "Warning", reason: PREEMPTED.reason, message: PREEMPTED.message });
        counters.preempted(missing[0]?.resource ?? "");
        await fail(victim.metadata.uid, PREEMPTED);
        this.release(victim.metadata.uid);
      }),
    ).catch((error: unknown) => {
      log.error({ err: error }, `cannot preempt pods for ${podDescription(pod)}: ${errorText(error)}`);
    });
    signal.throwIfAborted();
    return firstRefusal(this.context(pod, node));
  }
}

/** The pod requests more than the node's capacity: preemption cannot make room for it. */
function isBeyond(context: AdmissionContext): boolean {
  return findShortages({ ...context, others: [] }).length > 0;
}
