// Pod status (core/v1), as the kubelet computes and reports it, where that says more than the generated types.

import type * as core from "./gen/core.js";

export type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStateWaiting,
  PodPhase,
  PodQOSClass as QOSClass,
} from "./gen/core.js";

export type ConditionStatus = "True" | "False" | "Unknown";

export interface PodCondition extends core.PodCondition {
  status: ConditionStatus;
}

export interface ApiContainerStatus extends core.ContainerStatus {
  state: core.ContainerState;
  lastState: core.ContainerState;
  volumeMounts?: VolumeMountStatus[];
  allocatedResourcesStatus?: ResourceStatus[];
}

export interface VolumeMountStatus extends core.VolumeMountStatus {
  /** The image of an image volume (gate ImageVolumeWithDigest). */
  volumeStatus?: { image: { imageRef: string } };
}

/** Health of a container's devices of one resource. */
export interface ResourceStatus extends core.ResourceStatus {
  /** `message`: gate ResourceHealthStatusMessage. */
  resources: { resourceID: string; health: "Healthy" | "Unhealthy" | "Unknown"; message?: string }[];
}

export interface PodStatus extends core.PodStatus {
  phase: core.PodPhase;
  conditions?: PodCondition[];
  initContainerStatuses?: ApiContainerStatus[];
  containerStatuses?: ApiContainerStatus[];
  ephemeralContainerStatuses?: ApiContainerStatus[];
  /** The claim for extended resources that DRA provides, written by the scheduler. */
  extendedResourceClaimStatus?: core.PodExtendedResourceClaimStatus;
}

export function isConditionTrue(status: Pick<PodStatus, "conditions"> | undefined, wanted: string): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === wanted && value === "True") === true;
}
