// Every reason of an event that this kubelet emits, with its objects, types and meaning. The type of an event's reason
// derives from this table, so no component can emit another reason. docs/reference/events.md is made of it, too. A
// running kubelet does not load it: only its type is imported. Names are upstream's, of Kubernetes 1.36:
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/

import type { EventType } from "./event.js";

interface ReasonRow {
  /** Kinds of the objects that the event is about. */
  readonly about: readonly ("Pod" | "Node" | "PersistentVolume" | "PersistentVolumeClaim")[];
  readonly types: readonly EventType[];
  readonly meaning: string;
}

const warning = (about: ReasonRow["about"][number], meaning: string): ReasonRow => ({
  about: [about],
  types: ["Warning"],
  meaning,
});
const normal = (about: ReasonRow["about"][number], meaning: string): ReasonRow => ({
  about: [about],
  types: ["Normal"],
  meaning,
});
const rejected = (why: string): ReasonRow => warning("Pod", `admission rejected the pod: ${why}`);

export const EVENT_REASONS = {
  // Images and containers
  Pulling: normal("Pod", "a pull of the container's image begins"),
  Pulled: normal("Pod", "the image was pulled, or is already on the node"),
  InspectFailed: warning("Pod", "the image's name is invalid, or the runtime cannot look the image up"),
  ErrImageNeverPull: warning("Pod", "the image is not on the node and imagePullPolicy is Never"),
  BackOff: {
    about: ["Pod"],
    types: ["Normal", "Warning"],
    meaning: "Normal: the next pull of the image waits; Warning: the restart of a failed container waits",
  },
  Created: normal("Pod", "a container was created"),
  Started: normal("Pod", "a container was started"),
  Failed: warning(
    "Pod",
    "an image could not be pulled, a container not be created or started, the pod's directories not be made, or a certificate request failed",
  ),
  Killing: normal("Pod", "the kubelet stops a container"),
  FailedKillPod: warning("Pod", "a container or sandbox could not be stopped; the kubelet tries again"),
  ExceededGracePeriod: warning("Pod", "the pod's containers ran longer than its grace period"),
  InvalidEnvironmentVariableNames: warning(
    "Pod",
    "keys of a config map or secret are no names of variables; they are left out",
  ),
  FailedToRetrieveImagePullSecret: warning(
    "Pod",
    "a secret of imagePullSecrets could not be read; the pull is tried without it",
  ),
  // Hooks and probes
  FailedPostStartHook: warning("Pod", "a postStart hook failed; the container is stopped"),
  FailedPreStopHook: warning("Pod", "a preStop hook failed; the container is stopped all the same"),
  LifecycleHTTPFallback: warning(
    "Pod",
    "a hook with scheme HTTPS reached a server of HTTP, and was repeated without TLS",
  ),
  Unhealthy: warning("Pod", "a probe failed, or could not be run"),
  ProbeWarning: warning("Pod", "an HTTP probe was redirected to another host, which counts as a success"),
  // Sync of a pod
  FailedCreatePodSandBox: warning("Pod", "the runtime could not create the sandbox"),
  FailedPodSandBoxStatus: warning("Pod", "the state of a new sandbox could not be read from the runtime"),
  SandboxChanged: normal("Pod", "the sandbox exited or no longer fits the pod; the pod gets another one"),
  FailedSync: warning("Pod", "the pod's state could not be read from the runtime"),
  NetworkNotReady: warning("Pod", "the runtime's network is not ready; the pod's containers wait for it"),
  FailedCreatePodContainer: warning("Pod", "the pod's cgroup could not be created"),
  FailedPrepareDynamicResources: warning("Pod", "a ResourceClaim of the pod could not be prepared"),
  DeadlineExceeded: normal("Pod", "the pod was active for longer than activeDeadlineSeconds; it fails"),
  MissingClusterDNS: {
    about: ["Pod", "Node"],
    types: ["Warning"],
    meaning:
      "a pod has dnsPolicy ClusterFirst and the kubelet of a cluster has no clusterDNS; the pod gets policy Default",
  },
  DNSConfigForming: warning("Pod", "too many name servers or search domains; the rest is left out"),
  HostIPsIPFamilyMismatch: warning("Pod", "the pod's and the node's first addresses are of different families"),
  // Manifests of static pods
  InvalidManifest: warning(
    "Node",
    "a manifest is refused or cannot be read; the message has the file and the position",
  ),
  ShadowedManifest: warning("Node", "the pod of a manifest does not run because another pod has its name or UID"),
  LaterFields: warning("Pod", "the pod sets fields of a later Kubernetes on which this kubelet does not act"),
  ManifestWarning: warning("Node", "a part of a manifest is ignored, for example an unknown field"),
  // Admission
  UnexpectedAdmissionError: rejected("an error that is not the pod's"),
  NodeAffinity: rejected("node selector or required node affinity does not match the Node"),
  NodeName: rejected("spec.nodeName is another node"),
  NodePorts: rejected("a host port is in use by another pod"),
  TaintToleration: rejected("it does not tolerate a NoExecute taint of the Node"),
  InvalidName: rejected("a name of it, of a container or of a volume cannot be a file name"),
  SysctlForbidden: rejected("a sysctl that the node does not allow"),
  AppArmor: rejected("the node cannot enforce its AppArmor profile"),
  PodOSSelectorNodeLabelDoesNotMatch: rejected("its label for the operating system is not the node's"),
  PodOSNotSupported: rejected("spec.os.name is not the node's operating system"),
  SupplementalGroupsPolicyNotSupported: rejected("the runtime does not support supplementalGroupsPolicy Strict"),
  PodLevelResourcesNotSupported: rejected("resources of the whole pod, and the gate PodLevelResources is off"),
  PodFeatureUnsupported: rejected("it needs a feature that the node does not have"),
  NodeShutdown: rejected("the node shuts down"),
  TopologyAffinityError: rejected(
    "its CPUs, memory and devices cannot be taken from NUMA nodes as topologyManagerPolicy demands",
  ),
  SMTAlignmentError: rejected("its CPUs are not whole cores, as full-pcpus-only demands"),
  EmptyPodSharedPoolError: rejected(
    "exclusive CPUs or memory of its containers leave none of the pod's own for the others",
  ),
  VolumeAttachmentLimitExceeded: rejected("the node can attach no further volume of the driver"),
  Preempting: warning("Pod", "the pod is terminated to make room for a critical pod"),
  // Eviction
  Evicted: warning("Pod", "the pod was evicted, or rejected because of node pressure"),
  EvictionThresholdMet: warning("Node", "an eviction threshold is met; the kubelet reclaims the resource"),
  SystemOOM: warning("Node", "the kernel killed a process because the machine's memory was exhausted"),
  // In-place resize
  ResizeStarted: normal("Pod", "a change of CPU or memory was granted"),
  ResizeCompleted: normal("Pod", "a change of CPU or memory is in force"),
  ResizeDeferred: warning("Pod", "a change of CPU or memory does not fit on the node now"),
  ResizeInfeasible: warning("Pod", "a change of CPU or memory can never be granted on this node"),
  ResizeError: warning("Pod", "a granted change of CPU or memory failed; the kubelet tries again"),
  FailedNodeDeclaredFeaturesCheck: warning("Pod", "the changed pod needs a feature that the node does not have"),
  // Volumes
  FailedMount: warning("Pod", "a volume could not be set up in time, or a step of it failed; the kubelet tries again"),
  FailedMapVolume: warning("Pod", "a block volume could not be mapped; the kubelet tries again"),
  FailedAttachVolume: warning("Pod", "a volume is not attached to the node"),
  SuccessfulAttachVolume: normal("Pod", "a volume is attached, or its device is there"),
  SuccessfulMountVolume: normal("Pod", "a block volume is mapped"),
  AlreadyMountedVolume: warning("Pod", "a local volume is mounted elsewhere on the node with another fsGroup"),
  FailedMountOnFilesystemMismatch: warning(
    "PersistentVolume",
    "the file system of the disk is not the one of the volume's fsType",
  ),
  VolumePermissionChangeInProgress: warning("Pod", "the change of ownership to fsGroup takes longer than 30 s"),
  VolumeConditionAbnormal: warning("Pod", "the CSI driver reports a volume as abnormal"),
  VolumeResizeFailed: warning("Pod", "the file system of a volume could not be expanded"),
  FileSystemResizeFailed: {
    about: ["Pod", "PersistentVolumeClaim"],
    types: ["Warning"],
    meaning: "the file system of a claim's volume could not be expanded",
  },
  FileSystemResizeSuccessful: {
    about: ["Pod", "PersistentVolumeClaim"],
    types: ["Normal"],
    meaning: "the file system of a claim's volume was expanded",
  },
  // Certificates of pods
  Denied: warning("Pod", "a PodCertificateRequest of the pod was denied"),
  CertificateOverdueForRefresh: warning("Pod", "a certificate of the pod should have been renewed by now"),
  CertificateExpired: warning("Pod", "a certificate of the pod expired before it was renewed"),
  // Node
  KubeletConfigChanged: normal(
    "Node",
    "the kubelet applies a changed configuration (--dynamic-config-dir), in most cases by a restart",
  ),
  NodeConfigError: warning(
    "Node",
    "a changed configuration was refused, or failed and was left again (--dynamic-config-dir)",
  ),
  Starting: normal("Node", "the kubelet starts"),
  Rebooted: warning("Node", "the machine's boot id differs from the Node's"),
  Shutdown: normal("Node", "the machine shuts down; the kubelet terminates pods, or the shutdown was cancelled"),
  NodeReady: normal("Node", "the condition Ready became True"),
  NodeNotReady: normal("Node", "the condition Ready became False"),
  NodeSchedulable: normal("Node", "spec.unschedulable was unset"),
  NodeNotSchedulable: normal("Node", "spec.unschedulable was set"),
  NodeHasSufficientMemory: normal(
    "Node",
    "the condition MemoryPressure became False, or the kubelet registered its node",
  ),
  NodeHasInsufficientMemory: normal("Node", "the condition MemoryPressure became True"),
  NodeHasNoDiskPressure: normal("Node", "the condition DiskPressure became False, or the kubelet registered its node"),
  NodeHasDiskPressure: normal("Node", "the condition DiskPressure became True"),
  NodeHasSufficientPID: normal("Node", "the condition PIDPressure became False, or the kubelet registered its node"),
  NodeHasInsufficientPID: normal("Node", "the condition PIDPressure became True"),
  NodeAllocatableEnforced: normal("Node", "the limits of node allocatable are written to the cgroups"),
  FailedNodeAllocatableEnforcement: warning(
    "Node",
    "a limit of node allocatable could not be written; the kubelet tries again each minute",
  ),
  KubeletSetupFailed: warning("Node", "cgroups, directories or limits of the node could not be set up"),
  CgroupV1: warning("Node", "the node uses cgroup v1, which upstream will remove"),
  CheckLimitsForResolvConf: warning("Node", "the node's resolv.conf cannot be read, or exceeds the limits for pods"),
  PossibleMemoryBackedVolumesOnDisk: warning(
    "Node",
    "volumes in memory may be swapped to disk: swap is on and tmpfs lacks noswap",
  ),
  FreeDiskSpaceFailed: warning("Node", "image garbage collection freed less space than required"),
  InvalidDiskCapacity: warning("Node", "the capacity of the image file system cannot be read"),
  ImageGCFailed: warning("Node", "garbage collection of images failed"),
  InvalidImageID: warning("Node", "the runtime listed an image without an id"),
  ContainerGCFailed: warning("Node", "garbage collection of containers failed"),
} satisfies Record<string, ReasonRow>;

/** A row of the table, or "OutOf" and the resource of which admission found too little. */
export type EventReason = keyof typeof EVENT_REASONS | `OutOf${string}`;
