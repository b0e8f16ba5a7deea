// Admission of the running node: calls the admit handlers, preempts pods for critical pods, and records the admitted
// pods.
// Invariant: the account changes only here and only in the pod's turn, so that two pods can't be promised the same
// room. A pod that leaves its turn, to wait for somebody else, counts as admitted meanwhile.

import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { type Pod, podDescription } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { resourcesOf, withResources } from "../../model/pod-resources.js";
import type { PodFailure, MissingResource, Refusal } from "../../model/refusal.js";
import { beyondNode } from "../../resources/allocation/resize-rules.js";
import type { ResourceManagers } from "../../resources/assignment/resource-manager.js";
import { isCriticalPod } from "../../resources/oom-score.js";
import type { AdmissionTurn } from "./admission-turns.js";
import { findShortages } from "./free-resources.js";
import type { AdmissionContext, AdmissionNode, ExtendedClaim } from "./handler.js";
import { firstRefusal, placementRefusal, refusalAfterResources, refusalBeforeResources } from "./handlers.js";
import { choosePreempted } from "./preemption.js";
import type { AdmissionVerdict, ResizeRefusal } from "./verdict.js";

const PREEMPTED = {
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
  disruption: "Pod was preempted by Kubelet to accommodate a critical pod.",
} as const satisfies PodFailure;

const NODE_AFFINITY = "NodeAffinity";

export interface NodeAdmissionDeps {
  node: (pod: Pod, signal: AbortSignal) => Promise<AdmissionNode>;
  /**
   * Reads the current Node object from the API server. The scheduler may have used labels that the kubelet does not
   * know yet.
   */
  freshNode?: ((pod: Pod, signal: AbortSignal) => Promise<AdmissionNode>) | undefined;
  /** The pod's status in the API; undefined: the API server does not have the pod. */
  apiStatus: (uid: PodUid) => PodStatus | undefined;
  events: EventRecorder;
  log: Logger;
  /** Fails a pod for good; resolves when no container of it runs. */
  fail: (uid: PodUid, failure: PodFailure) => Promise<void>;
  /** Absent: a node without resource managers. */
  managers?: Pick<ResourceManagers, "admit" | "awaitsPlugin" | "finish" | "refused" | "release">;
  counters: { rejected(reason: string): void; preempted(resource: string): void };
}

/** Admission as the queue calls it. Without `resize`, every resize is granted. */
export type Admission = Pick<NodeAdmission, "admit"> & Partial<Pick<NodeAdmission, "resize" | "updated" | "release">>;

/** A pod that has left its turn. */
interface Waiting {
  pod: Pod;
  /** Resolves when it has its verdict. */
  over: Promise<void>;
  onVerdict: () => void;
}

interface Outcome {
  /** undefined: the pod is admitted. */
  refusal: Refusal | undefined;
  /** It may be another one when the pods that wait now have their verdicts. */
  mayChange: boolean;
}

const ADMITTED: Outcome = { refusal: undefined, mayChange: false };
const final = (refusal: Refusal): Outcome => ({ refusal, mayChange: false });

export class NodeAdmission {
  /** Pods that were let in and have not ended. */
  private readonly admitted = new Map<PodUid, Pod>();
  /** Pods whose admission waits for somebody else, in the order in which they began to. They are in the account. */
  private readonly waiting = new Map<PodUid, Waiting>();
  /** Pods that end because a critical pod needs their room. */
  private readonly preempted = new Map<PodUid, Promise<void>>();

  constructor(private readonly deps: NodeAdmissionDeps) {}

  /**
   * May leave its turn, for example for preemption; other pods are admitted meanwhile. Called once per pod UID, in the
   * order of arrival, pods of an earlier kubelet process first. Called again only for a terminated pod with a new
   * definition, or after this promise rejected.
   */
  async admit(pod: Pod, signal: AbortSignal, turn: AdmissionTurn): Promise<AdmissionVerdict> {
    const first = await this.attempt(pod, signal, turn);
    let { refusal } = first;
    if (first.mayChange && this.waiting.size > 0) {
      // Those pods were first, and may not be admitted in the end: a rejection now would be final.
      const before = Promise.all([...this.waiting.values()].map(({ over }) => over));
      await turn.leave(() => unlessAborted(before, signal));
      ({ refusal } = await this.attempt(pod, signal, turn));
    }
    if (refusal === undefined) return { admit: true };
    this.deps.counters.rejected(refusal.reason);
    return { admit: false, reason: refusal.reason, message: refusal.message };
  }

  private async attempt(pod: Pod, signal: AbortSignal, turn: AdmissionTurn): Promise<Outcome> {
    const { uid } = pod.metadata;
    const { managers } = this.deps;
    const before = await this.deps.node(pod, signal);
    const early = refusalBeforeResources(this.context(pod, before));
    if (early !== undefined) return final(early);
    const unserved = await managers?.admit(pod, signal);
    if (unserved !== undefined) return { refusal: unserved, mayChange: true };
    let isAdmitted = false;
    try {
      // Resources that the managers granted to the pod count as the node's, even if a device became unhealthy since.
      const node = managers === undefined ? before : await this.deps.node(pod, signal);
      let outcome = await this.afterResources(pod, node, signal, turn);
      if (outcome.refusal === undefined && managers?.awaitsPlugin(uid) === true) {
        outcome = await this.afterPlugin(pod, managers, signal, turn);
      }
      isAdmitted = outcome.refusal === undefined;
      if (isAdmitted) this.admitted.set(uid, pod);
      return outcome;
    } finally {
      if (!isAdmitted) managers?.refused(uid);
      this.unreserve(uid);
    }
  }

  /**
   * An admitted pod requests other resources; undefined: they are granted from now on. Preempts no pod: a resize waits
   * for room.
   */
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
  release(uid: PodUid): void {
    this.admitted.delete(uid);
    this.deps.managers?.release(uid);
  }

  private async afterResources(
    pod: Pod,
    known: AdmissionNode,
    signal: AbortSignal,
    turn: AdmissionTurn,
  ): Promise<Outcome> {
    let node = known;
    let refusal = refusalAfterResources(this.context(pod, node));
    const { freshNode } = this.deps;
    if (refusal?.reason === NODE_AFFINITY && freshNode !== undefined) {
      node = await this.reserved(pod, signal, turn, () => freshNode(pod, signal));
      refusal = firstRefusal(this.context(pod, node));
    }
    if (refusal?.missing !== undefined && isCriticalPod(pod) && !isBeyond(this.context(pod, node))) {
      const { missing, message } = refusal;
      refusal =
        placementRefusal(this.context(pod, node)) ??
        (await this.makeRoom(pod, node, { missing, message }, signal, turn));
    }
    if (refusal === undefined) return ADMITTED;
    // Without those that wait, the pod might fit.
    const fits = refusalAfterResources(this.context(pod, node, { withWaiting: false })) === undefined;
    return { refusal, mayChange: fits };
  }

  /** The managers hold what the pod needs, and a plugin has to agree. */
  private async afterPlugin(
    pod: Pod,
    managers: Pick<ResourceManagers, "finish">,
    signal: AbortSignal,
    turn: AdmissionTurn,
  ): Promise<Outcome> {
    const refused = await this.reserved(pod, signal, turn, () => managers.finish(pod, signal));
    if (refused !== undefined) return final(refused);
    signal.throwIfAborted();
    // Meanwhile the node may shut down, or have other labels.
    const refusal = refusalAfterResources(this.context(pod, await this.deps.node(pod, signal)));
    return refusal === undefined ? ADMITTED : final(refusal);
  }

  /** Leaves the turn for as long as `wait` runs. From now on the pod is in the account. */
  private async reserved<T>(pod: Pod, signal: AbortSignal, turn: AdmissionTurn, wait: () => Promise<T>): Promise<T> {
    const { uid } = pod.metadata;
    if (!this.waiting.has(uid)) {
      let onVerdict = (): void => undefined;
      const over = new Promise<void>((resolve) => (onVerdict = resolve));
      this.waiting.set(uid, { pod, over, onVerdict });
    }
    return await turn.leave(() => unlessAborted(wait(), signal));
  }

  private unreserve(uid: PodUid): void {
    this.waiting.get(uid)?.onVerdict();
    this.waiting.delete(uid);
  }

  private context(pod: Pod, node: AdmissionNode, { withWaiting } = { withWaiting: true }): AdmissionContext {
    const { uid } = pod.metadata;
    const waiting = withWaiting ? this.waitingBefore(uid) : [];
    const others = [...this.admitted.values(), ...waiting].filter(({ metadata }) => metadata.uid !== uid);
    return { pod, others, node, extendedClaim: this.extendedClaim(pod) };
  }

  /** Those that began to wait after the pod fitted beside it: they take nothing from it. */
  private waitingBefore(uid: PodUid): Pod[] {
    const all = [...this.waiting.values()].map(({ pod }) => pod);
    const own = all.findIndex(({ metadata }) => metadata.uid === uid);
    return own === -1 ? all : all.slice(0, own);
  }

  private extendedClaim({ metadata }: Pod): ExtendedClaim | undefined {
    return this.deps.apiStatus(metadata.uid)?.extendedResourceClaimStatus;
  }

  private async makeRoom(
    pod: Pod,
    node: AdmissionNode,
    shortage: { missing: readonly MissingResource[]; message: string },
    signal: AbortSignal,
    turn: AdmissionTurn,
  ): Promise<Refusal | undefined> {
    const { log } = this.deps;
    const { missing } = shortage;
    const failed = (error: unknown): Refusal => ({
      reason: "UnexpectedAdmissionError",
      message: `Unexpected error while attempting to recover from admission failure: preemption: ${errorText(error)}; ${shortage.message}`,
    });
    let victims: Pod[];
    try {
      const running = this.context(pod, node).others.filter(({ metadata }) => this.admitted.has(metadata.uid));
      victims = choosePreempted(pod, running, missing);
    } catch (error) {
      return failed(error);
    }
    const [first] = missing;
    const end = (): Promise<unknown> =>
      Promise.all(victims.map((victim) => this.preempt(victim, pod, first?.resource ?? "")));
    await this.reserved(pod, signal, turn, end).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error({ err: error }, `cannot preempt pods for ${podDescription(pod)}: ${errorText(error)}`);
    });
    return firstRefusal(this.context(pod, node));
  }

  /** Two critical pods may choose the same pod: it is ended once. */
  private preempt(victim: Pod, critical: Pod, resource: string): Promise<void> {
    const { uid } = victim.metadata;
    const { events, fail, log, counters } = this.deps;
    const end = async (): Promise<void> => {
      log.warn(
        { pod: uid, for: critical.metadata.uid },
        `pod ${podDescription(victim)} is preempted by critical pod ${podDescription(critical)}`,
      );
      events.pod(victim, { type: "Warning", reason: PREEMPTED.reason, message: PREEMPTED.message });
      counters.preempted(resource);
      try {
        await fail(uid, PREEMPTED);
        this.release(uid);
      } finally {
        this.preempted.delete(uid);
      }
    };
    const ending = this.preempted.get(uid) ?? end();
    this.preempted.set(uid, ending);
    return ending;
  }
}

/** The pod requests more than the node's capacity: preemption cannot make room for it. */
function isBeyond(context: AdmissionContext): boolean {
  return findShortages({ ...context, others: [] }).length > 0;
}
