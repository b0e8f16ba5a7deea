// Input and results of admission. Handlers are pure: a resize calls them again.

import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { DeclarableFeature } from "../../model/declared-features.js";
import type { Refusal } from "../../model/refusal.js";
import type { NodeResources } from "../../resources/node-capacity.js";

export type ExtendedClaim = NonNullable<PodStatus["extendedResourceClaimStatus"]>;

export interface AdmissionContext {
  pod: Pod;
  /** Pods that were admitted and have not ended. */
  others: readonly Pod[];
  node: AdmissionNode;
  /** The claim that the scheduler made for extended resources of the pod; undefined: none. */
  extendedClaim?: ExtendedClaim | undefined;
}

/** The node's facts for admission. */
export interface AdmissionNode {
  name: string;
  labels: Readonly<Record<string, string>>;
  allocatable: NodeResources;
  taints: readonly { key: string; value?: string; effect: string }[];
  /** Condition types of the node's pressures: "MemoryPressure". */
  pressures: readonly string[];
  shuttingDown: boolean;
  /** [major, minor] */
  kernel: readonly [number, number];
  allowedUnsafeSysctls: readonly string[];
  /** Why AppArmor profiles can't be enforced here; undefined: they can. */
  appArmorProblem: string | undefined;
  /** undefined: the runtime has not reported it yet. */
  supplementalGroupsPolicy: boolean | undefined;
  podLevelResources: boolean;
  /** undefined: they are not checked. */
  declaredFeatures: readonly DeclarableFeature[] | undefined;
}

/** undefined: no objection. */
export type AdmissionHandler = (context: AdmissionContext) => Refusal | undefined;
