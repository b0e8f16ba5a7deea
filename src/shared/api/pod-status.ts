// Pod status (core/v1), as the kubelet computes and reports it.
import type { ResourceList, ResourceRequirements, Time } from "./meta.js";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
export type QOSClass = "Guaranteed" | "Burstable" | "BestEffort";
export type ConditionStatus = "True" | "False" | "Unknown";

export interface PodCondition {
  type: string;
  status: ConditionStatus;
  observedGeneration?: number;
  lastProbeTime?: Time | null;
  lastTransitionTime?: Time | null;
  reason?: string;
  message?: string;
}

export interface ContainerStateWaiting {
  reason?: string;
  message?: string;
}
interface ContainerStateRunning {
  startedAt?: Time | null;
}
export interface ContainerStateTerminated {
  exitCode: number;
  signal?: number;
  reason?: string;
  message?: string;
  startedAt?: Time | null;
  finishedAt?: Time | null;
  containerID?: string;
}
/** At most one member is set. */
export interface ContainerState {
  waiting?: ContainerStateWaiting;
  running?: ContainerStateRunning;
  terminated?: ContainerStateTerminated;
}

export interface ApiContainerStatus {
  name: string;
  state: ContainerState;
  lastState: ContainerState;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
  started?: boolean;
  allocatedResources?: ResourceList;
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMountStatus[];
  user?: { linux?: { uid: number; gid: number; supplementalGroups?: number[] } };
  stopSignal?: string;
  allocatedResourcesStatus?: ResourceStatus[];
}

export interface VolumeMountStatus {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  recursiveReadOnly?: string;
  /** The image of an image volume (gate ImageVolumeWithDigest). */
  volumeStatus?: { image: { imageRef: string } };
}

/** Health of a container's devices of one resource. */
export interface ResourceStatus {
  name: string;
  /** `message`: gate ResourceHealthStatusMessage. */
  resources: { resourceID: string; health: "Healthy" | "Unhealthy" | "Unknown"; message?: string }[];
}

export interface PodStatus {
  phase: PodPhase;
  observedGeneration?: number;
  conditions?: PodCondition[];
  message?: string;
  reason?: string;
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: Time | null;
  initContainerStatuses?: ApiContainerStatus[];
  containerStatuses?: ApiContainerStatus[];
  ephemeralContainerStatuses?: ApiContainerStatus[];
  qosClass?: QOSClass;
  /** Of the pod as a whole: actuated resources, and allocated requests. */
  resources?: ResourceRequirements;
  allocatedResources?: ResourceList;
  /** Claims made from templates, written by the controller. Without `resourceClaimName` the pod needs none. */
  resourceClaimStatuses?: { name: string; resourceClaimName?: string }[];
  /** The claim for extended resources that DRA provides, written by the scheduler. */
  extendedResourceClaimStatus?: {
    resourceClaimName: string;
    requestMappings: { containerName: string; resourceName: string; requestName: string }[];
  };
}

export function isConditionTrue(status: Pick<PodStatus, "conditions"> | undefined, wanted: string): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === wanted && value === "True") === true;
}
