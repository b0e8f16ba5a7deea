// Pods that hold unknown resources, because the state file with them is damaged. They run, they requested resources,
// and no entry has their assignment.
// Invariant: while such a pod runs, nothing of the kind is allocated to another pod. This holds after further restarts,
// too: the damaged file that was set aside is the evidence.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { podDescription } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

/** A state file that existed and could not be used. */
export interface LostState {
  /** Its original path. */
  path: string;
  /** Its new path; undefined: it could not be renamed. */
  aside: string | undefined;
}

export interface UnknownHoldersOptions {
  lost: LostState;
  /** Name of the file in messages, such as "device checkpoint". */
  file: string;
  /** Admitted pods that have not ended. */
  pods: () => Iterable<Pod>;
  /** Pods of which a sandbox or container runs, known to the kubelet or not. */
  runningPods: () => Iterable<PodUid>;
  /** There is an entry of the pod. */
  has: (podUid: PodUid) => boolean;
}

/** Pods named in a message; the others are counted. */
const NAMED_PODS = 5;

export class UnknownHolders {
  /** Running pods whose definition is unknown: each may hold any resource. Set at the first observation. */
  private undefinedPods: Set<PodUid> | undefined;

  constructor(private readonly options: UnknownHoldersOptions) {}

  /**
   * Why `what` cannot be allocated to the pod; undefined: it can.
   * @param isUnknown true for a pod that requested the resource and has no entry
   */
  problem(what: string, podUid: PodUid, isUnknown: (pod: Pod) => boolean): string | undefined {
    const holders = this.holders(isUnknown).filter(({ uid }) => uid !== podUid);
    if (holders.length === 0) return undefined;
    const named = holders.slice(0, NAMED_PODS).map(({ name }) => name);
    const more = holders.length > NAMED_PODS ? ` and ${holders.length - NAMED_PODS} more` : "";
    return (
      `${this.lostText()}, so the ${what} of running pods is unknown; ` +
      `drain the node, or delete these pods: ${named.join(", ")}${more}`
    );
  }

  /**
   * Why a container of such a pod cannot restart: its resources are unknown, and another container may have the rest.
   */
  ownProblem(what: string, container: string): string {
    return (
      `${this.lostText()}, so the ${what} of container ${container} is unknown and the container cannot start again; ` +
      "delete the pod, and its replacement gets a new allocation"
    );
  }

  private lostText(): string {
    const { path, aside } = this.options.lost;
    const kept = aside === undefined ? "" : ` (kept as ${aside})`;
    return `the ${this.options.file} ${path} could not be read${kept}`;
  }

  private holders(isUnknown: (pod: Pod) => boolean): { uid: PodUid; name: string }[] {
    const known = new Map([...this.options.pods()].map((pod) => [pod.metadata.uid, pod]));
    const running = new Set(this.options.runningPods());
    const asking = [...known.values()].filter((pod) => running.has(pod.metadata.uid) && isUnknown(pod));
    return [
      ...asking.map((pod) => ({ uid: pod.metadata.uid, name: podDescription(pod) })),
      ...this.withoutDefinition(known, running).map((uid) => ({ uid, name: `the pod with UID ${uid}` })),
    ];
  }

  /** Only pods of the first observation: later ones were admitted by this kubelet. */
  private withoutDefinition(known: ReadonlyMap<PodUid, Pod>, running: ReadonlySet<PodUid>): PodUid[] {
    this.undefinedPods ??= new Set(running);
    for (const uid of this.undefinedPods) {
      if (known.has(uid) || !running.has(uid) || this.options.has(uid)) this.undefinedPods.delete(uid);
    }
    return [...this.undefinedPods];
  }
}
