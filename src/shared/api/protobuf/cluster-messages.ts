// The messages of the other objects that a kubelet reads and writes. Form and sources are those of messages.ts. Groups: core,
// coordination.k8s.io, storage.k8s.io, node.k8s.io, certificates.k8s.io, resource.k8s.io, authentication.k8s.io and authorization.k8s.io. A
// name that two groups use has its group before it.

export const CLUSTER_MESSAGES: Readonly<Record<string, string>> = {
  AllocatedDeviceStatus:
    "1 driver s, 2 pool s, 3 device s, 4 conditions *Condition, 5 data RawExtension, 6 networkData NetworkDeviceData, 7 shareID s",
  AllocationResult: "1 devices DeviceAllocationResult, 3 nodeSelector NodeSelector, 5 allocationTimestamp Time",
  AttachedVolume: "1 name s, 2 devicePath s",
  AzureFilePersistentVolumeSource: "1 secretName s, 2 shareName s, 3 readOnly b?, 4 secretNamespace s",
  BoundObjectReference: "1 kind s?, 2 apiVersion s?, 3 name s?, 4 uid s?",
  CELDeviceSelector: "1 expression s",
  CSIDriver: "1 metadata ObjectMeta, 2 spec CSIDriverSpec",
  CSIDriverSpec:
    "1 attachRequired b, 2 podInfoOnMount b, 3 volumeLifecycleModes *s, 4 storageCapacity b, 5 fsGroupPolicy s, 6 tokenRequests *TokenRequest, 7 requiresRepublish b, 8 seLinuxMount b, 9 nodeAllocatableUpdatePeriodSeconds i, 10 serviceAccountTokenInSecrets b, 11 preventPodSchedulingIfMissing b",
  CSINode: "1 metadata ObjectMeta, 2 spec CSINodeSpec, 3 status CSINodeStatus",
  CSINodeDriver: "1 name s, 2 nodeID s, 3 topologyKeys *s, 4 allocatable VolumeNodeResources",
  CSINodeSpec: "1 drivers *CSINodeDriver",
  CSINodeStatus: "1 storageHealth *StorageHealth",
  CSIPersistentVolumeSource:
    "1 driver s, 2 volumeHandle s, 3 readOnly b?, 4 fsType s?, 5 volumeAttributes %s, 6 controllerPublishSecretRef SecretReference, 7 nodeStageSecretRef SecretReference, 8 nodePublishSecretRef SecretReference, 9 controllerExpandSecretRef SecretReference, 10 nodeExpandSecretRef SecretReference",
  CapacityRequestPolicy: "1 default Quantity, 3 validValues *Quantity, 4 validRange CapacityRequestPolicyRange",
  CapacityRequestPolicyRange: "1 min Quantity, 2 max Quantity, 3 step Quantity",
  CapacityRequirements: "1 requests %Quantity",
  CephFSPersistentVolumeSource:
    "1 monitors *s, 2 path s?, 3 user s?, 4 secretFile s?, 5 secretRef SecretReference, 6 readOnly b?",
  CertificateSigningRequest:
    "1 metadata ObjectMeta, 2 spec CertificateSigningRequestSpec, 3 status CertificateSigningRequestStatus",
  CertificateSigningRequestCondition:
    "1 type s, 2 reason s?, 3 message s?, 4 lastUpdateTime Time, 5 lastTransitionTime Time, 6 status s",
  CertificateSigningRequestSpec:
    "1 request y, 2 username s?, 3 uid s?, 4 groups *s, 5 usages *s, 6 extra %ExtraValue, 7 signerName s, 8 expirationSeconds i",
  CertificateSigningRequestStatus: "1 conditions *CertificateSigningRequestCondition, 2 certificate y",
  CinderPersistentVolumeSource: "1 volumeID s, 2 fsType s?, 3 readOnly b?, 4 secretRef SecretReference",
  ClientIPConfig: "1 timeoutSeconds i",
  ClusterTrustBundle: "1 metadata ObjectMeta, 2 spec ClusterTrustBundleSpec",
  ClusterTrustBundleSpec: "1 signerName s?, 2 trustBundle s",
  Condition: "1 type s, 2 status s, 3 observedGeneration i?, 4 lastTransitionTime Time, 5 reason s, 6 message s",
  ConfigMap: "1 metadata ObjectMeta, 2 data %s, 3 binaryData %y, 4 immutable b",
  ConfigMapNodeConfigSource: "1 namespace s, 2 name s, 3 uid s?, 4 resourceVersion s?, 5 kubeletConfigKey s",
  ContainerImage: "1 names *s, 2 sizeBytes i?",
  Counter: "1 value Quantity",
  CounterSet: "1 name s, 2 counters %Counter",
  DaemonEndpoint: "1 Port i",
  DeleteOptions:
    "1 gracePeriodSeconds i, 2 preconditions Preconditions, 3 orphanDependents b, 4 propagationPolicy s, 5 dryRun *s, 6 ignoreStoreReadErrorWithClusterBreakingPotential b",
  Device:
    "1 name s, 2 attributes %DeviceAttribute, 3 capacity %DeviceCapacity, 4 consumesCounters *DeviceCounterConsumption, 5 nodeName s, 6 nodeSelector NodeSelector, 7 allNodes b, 8 taints *DeviceTaint, 9 bindsToNode b, 10 bindingConditions *s, 11 bindingFailureConditions *s, 12 allowMultipleAllocations b, 13 nodeAllocatableResourceMappings %NodeAllocatableResourceMapping, 14 nodeAllocatableResources %NodeAllocatableResource",
  DeviceAllocationConfiguration: "1 source s, 2 requests *s, 3 deviceConfiguration .DeviceConfiguration",
  DeviceAllocationResult: "1 results *DeviceRequestAllocationResult, 2 config *DeviceAllocationConfiguration",
  DeviceAttribute: "2 int i, 3 bool b, 4 string s, 5 version s, 6 ints *i, 7 bools *b, 8 strings *s, 9 versions *s",
  DeviceCapacity: "1 value Quantity, 2 requestPolicy CapacityRequestPolicy",
  DeviceClaim: "1 requests *DeviceRequest, 2 constraints *DeviceConstraint, 3 config *DeviceClaimConfiguration",
  DeviceClaimConfiguration: "1 requests *s, 2 deviceConfiguration .DeviceConfiguration",
  DeviceConfiguration: "1 opaque OpaqueDeviceConfiguration",
  DeviceConstraint: "1 requests *s, 2 matchAttribute s, 3 distinctAttribute s",
  DeviceCounterConsumption: "1 counterSet s, 2 counters %Counter",
  DeviceRequest: "1 name s, 2 exactly ExactDeviceRequest, 3 firstAvailable *DeviceSubRequest",
  DeviceRequestAllocationResult:
    "1 request s, 2 driver s, 3 pool s, 4 device s, 5 adminAccess b, 6 tolerations *DeviceToleration, 7 bindingConditions *s, 8 bindingFailureConditions *s, 9 shareID s, 10 consumedCapacity %Quantity, 11 skipNodeOperations *s",
  DeviceSelector: "1 cel CELDeviceSelector",
  DeviceSubRequest:
    "1 name s, 2 deviceClassName s, 3 selectors *DeviceSelector, 4 allocationMode s?, 5 count i?, 6 tolerations *DeviceToleration, 7 capacity CapacityRequirements",
  DeviceTaint: "1 key s, 2 value s?, 3 effect s, 4 timeAdded Time",
  DeviceToleration: "1 key s?, 2 operator s?, 3 value s?, 4 effect s?, 5 tolerationSeconds i",
  Event:
    "1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason s?, 4 message s?, 5 source EventSource, 6 firstTimestamp Time, 7 lastTimestamp Time, 8 count i?, 9 type s?, 10 eventTime MicroTime, 11 series EventSeries, 12 action s?, 13 related ObjectReference, 14 reportingComponent s, 15 reportingInstance s",
  EventSeries: "1 count i?, 2 lastObservedTime MicroTime",
  EventSource: "1 component s?, 2 host s?",
  ExactDeviceRequest:
    "1 deviceClassName s, 2 selectors *DeviceSelector, 3 allocationMode s?, 4 count i?, 5 adminAccess b, 6 tolerations *DeviceToleration, 7 capacity CapacityRequirements",
  ExtraValue: "1 items *s",
  FieldSelectorAttributes: "1 rawSelector s?, 2 requirements *FieldSelectorRequirement",
  FieldSelectorRequirement: "1 key s, 2 operator s, 3 values *s",
  FlexPersistentVolumeSource: "1 driver s, 2 fsType s?, 3 secretRef SecretReference, 4 readOnly b?, 5 options %s",
  GlusterfsPersistentVolumeSource: "1 endpoints s, 2 path s, 3 readOnly b?, 4 endpointsNamespace s",
  ISCSIPersistentVolumeSource:
    "1 targetPortal s, 2 iqn s, 3 lun i, 4 iscsiInterface s?, 5 fsType s?, 6 readOnly b?, 7 portals *s, 8 chapAuthDiscovery b?, 10 secretRef SecretReference, 11 chapAuthSession b?, 12 initiatorName s",
  LabelSelectorAttributes: "1 rawSelector s?, 2 requirements *LabelSelectorRequirement",
  Lease: "1 metadata ObjectMeta, 2 spec LeaseSpec",
  LeaseSpec:
    "1 holderIdentity s, 2 leaseDurationSeconds i, 3 acquireTime MicroTime, 4 renewTime MicroTime, 5 leaseTransitions i, 6 strategy s, 7 preferredHolder s",
  ListMeta: "1 selfLink s?, 2 resourceVersion s?, 3 continue s?, 4 remainingItemCount i, 5 shardInfo ShardInfo",
  LoadBalancerIngress: "1 ip s?, 2 hostname s?, 3 ipMode s, 4 ports *PortStatus",
  LoadBalancerStatus: "1 ingress *LoadBalancerIngress",
  LocalVolumeSource: "1 path s, 2 fsType s",
  MicroTime: "1 seconds i, 2 nanos i",
  ModifyVolumeStatus: "1 targetVolumeAttributesClassName s?, 2 status s",
  NetworkDeviceData: "1 interfaceName s?, 2 ips *s, 3 hardwareAddress s?",
  Node: "1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus",
  NodeAddress: "1 type s, 2 address s",
  NodeAllocatableMapping: "1 capacityKey s, 2 capacityMultiplier Quantity, 3 deviceMultiplier Quantity",
  NodeAllocatableOverhead: "1 perPod Quantity, 2 perContainer Quantity",
  NodeAllocatableResource: "3 mapping NodeAllocatableMapping, 4 overhead NodeAllocatableOverhead",
  NodeAllocatableResourceMapping: "1 capacityKey s, 2 allocationMultiplier Quantity",
  NodeCondition: "1 type s, 2 status s, 3 lastHeartbeatTime Time, 4 lastTransitionTime Time, 5 reason s?, 6 message s?",
  NodeConfigSource: "2 configMap ConfigMapNodeConfigSource",
  NodeConfigStatus:
    "1 assigned NodeConfigSource, 2 active NodeConfigSource, 3 lastKnownGood NodeConfigSource, 4 error s?",
  NodeDaemonEndpoints: "1 kubeletEndpoint DaemonEndpoint",
  NodeFeatures: "1 supplementalGroupsPolicy b",
  NodePodPreemptionPolicy: "1 disableResizePreemption *s",
  NodeRuntimeHandler: "1 name s, 2 features NodeRuntimeHandlerFeatures",
  NodeRuntimeHandlerFeatures: "1 recursiveReadOnlyMounts b, 2 userNamespaces b",
  NodeSpec:
    "1 podCIDR s?, 2 externalID s?, 3 providerID s?, 4 unschedulable b?, 5 taints *Taint, 6 configSource NodeConfigSource, 7 podCIDRs *s, 8 podPreemptionPolicy NodePodPreemptionPolicy",
  NodeStatus:
    "1 capacity %Quantity, 2 allocatable %Quantity, 3 phase s?, 4 conditions *NodeCondition, 5 addresses *NodeAddress, 6 daemonEndpoints NodeDaemonEndpoints, 7 nodeInfo NodeSystemInfo, 8 images *ContainerImage, 9 volumesInUse *s, 10 volumesAttached *AttachedVolume, 11 config NodeConfigStatus, 12 runtimeHandlers *NodeRuntimeHandler, 13 features NodeFeatures, 14 declaredFeatures *s",
  NodeSwapStatus: "1 capacity i",
  NodeSystemInfo:
    "1 machineID s, 2 systemUUID s, 3 bootID s, 4 kernelVersion s, 5 osImage s, 6 containerRuntimeVersion s, 7 kubeletVersion s, 8 kubeProxyVersion s, 9 operatingSystem s, 10 architecture s, 11 swap NodeSwapStatus",
  NonResourceAttributes: "1 path s?, 2 verb s?",
  ObjectReference:
    "1 kind s?, 2 namespace s?, 3 name s?, 4 uid s?, 5 apiVersion s?, 6 resourceVersion s?, 7 fieldPath s?",
  OpaqueDeviceConfiguration: "1 driver s, 2 parameters RawExtension",
  Overhead: "1 podFixed %Quantity",
  PersistentVolume: "1 metadata ObjectMeta, 2 spec PersistentVolumeSpec, 3 status PersistentVolumeStatus",
  PersistentVolumeClaim:
    "1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec, 3 status PersistentVolumeClaimStatus",
  PersistentVolumeClaimCondition:
    "1 type s, 2 status s, 3 lastProbeTime Time, 4 lastTransitionTime Time, 5 reason s?, 6 message s?",
  PersistentVolumeClaimStatus:
    "1 phase s?, 2 accessModes *s, 3 capacity %Quantity, 4 conditions *PersistentVolumeClaimCondition, 5 allocatedResources %Quantity, 7 allocatedResourceStatuses %s, 8 currentVolumeAttributesClassName s, 9 modifyVolumeStatus ModifyVolumeStatus, 10 healthStatus VolumeHealthStatus",
  PersistentVolumeSource:
    "1 gcePersistentDisk GCEPersistentDiskVolumeSource, 2 awsElasticBlockStore AWSElasticBlockStoreVolumeSource, 3 hostPath HostPathVolumeSource, 4 glusterfs GlusterfsPersistentVolumeSource, 5 nfs NFSVolumeSource, 6 rbd RBDPersistentVolumeSource, 7 iscsi ISCSIPersistentVolumeSource, 8 cinder CinderPersistentVolumeSource, 9 cephfs CephFSPersistentVolumeSource, 10 fc FCVolumeSource, 11 flocker FlockerVolumeSource, 12 flexVolume FlexPersistentVolumeSource, 13 azureFile AzureFilePersistentVolumeSource, 14 vsphereVolume VsphereVirtualDiskVolumeSource, 15 quobyte QuobyteVolumeSource, 16 azureDisk AzureDiskVolumeSource, 17 photonPersistentDisk PhotonPersistentDiskVolumeSource, 18 portworxVolume PortworxVolumeSource, 19 scaleIO ScaleIOPersistentVolumeSource, 20 local LocalVolumeSource, 21 storageos StorageOSPersistentVolumeSource, 22 csi CSIPersistentVolumeSource",
  PersistentVolumeSpec:
    "1 capacity %Quantity, 2 persistentVolumeSource .PersistentVolumeSource, 3 accessModes *s, 4 claimRef ObjectReference, 5 persistentVolumeReclaimPolicy s?, 6 storageClassName s?, 7 mountOptions *s, 8 volumeMode s, 9 nodeAffinity VolumeNodeAffinity, 10 volumeAttributesClassName s",
  PersistentVolumeStatus: "1 phase s?, 2 message s?, 3 reason s?, 4 lastPhaseTransitionTime Time",
  PodCertificateRequest:
    "1 metadata ObjectMeta, 2 spec PodCertificateRequestSpec, 3 status PodCertificateRequestStatus",
  PodCertificateRequestSpec:
    "1 signerName s, 2 podName s, 3 podUID s, 4 serviceAccountName s, 5 serviceAccountUID s, 6 nodeName s, 7 nodeUID s, 8 maxExpirationSeconds i, 9 pkixPublicKey y, 10 proofOfPossession y, 11 unverifiedUserAnnotations %s, 12 stubPKCS10Request y",
  PodCertificateRequestStatus:
    "1 conditions *Condition, 2 certificateChain s?, 4 notBefore Time, 5 beginRefreshAt Time, 6 notAfter Time",
  PortStatus: "1 port i, 2 protocol s, 3 error s",
  Preconditions: "1 uid s, 2 resourceVersion s",
  RBDPersistentVolumeSource:
    "1 monitors *s, 2 image s, 3 fsType s?, 4 pool s?, 5 user s?, 6 keyring s?, 7 secretRef SecretReference, 8 readOnly b?",
  RawExtension: "1 raw y",
  ResourceAttributes:
    "1 namespace s?, 2 verb s?, 3 group s?, 4 version s?, 5 resource s?, 6 subresource s?, 7 name s?, 8 fieldSelector FieldSelectorAttributes, 9 labelSelector LabelSelectorAttributes",
  ResourceClaimConsumerReference: "1 apiGroup s?, 3 resource s, 4 name s, 5 uid s",
  ResourceClaimSpec: "1 devices DeviceClaim",
  ResourceClaimStatus:
    "1 allocation AllocationResult, 2 reservedFor *ResourceClaimConsumerReference, 4 devices *AllocatedDeviceStatus",
  ResourcePool: "1 name s, 2 generation i, 3 resourceSliceCount i",
  ResourceSlice: "1 metadata ObjectMeta, 2 spec ResourceSliceSpec",
  ResourceSliceSpec:
    "1 driver s, 2 pool ResourcePool, 3 nodeName s, 4 nodeSelector NodeSelector, 5 allNodes b, 6 devices *Device, 7 perDeviceNodeSelection b, 8 sharedCounters *CounterSet, 9 partitionTypeAttribute s, 10 skipNodeOperations *s",
  RuntimeClass: "1 metadata ObjectMeta, 2 handler s, 3 overhead Overhead, 4 scheduling Scheduling",
  ScaleIOPersistentVolumeSource:
    "1 gateway s, 2 system s, 3 secretRef SecretReference, 4 sslEnabled b?, 5 protectionDomain s?, 6 storagePool s?, 7 storageMode s?, 8 volumeName s?, 9 fsType s?, 10 readOnly b?",
  Scheduling: "1 nodeSelector %s, 2 tolerations *Toleration",
  Secret: "1 metadata ObjectMeta, 2 data %y, 3 type s?, 4 stringData %s, 5 immutable b",
  SecretReference: "1 name s?, 2 namespace s?",
  Service: "1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus",
  ServiceAccount:
    "1 metadata ObjectMeta, 2 secrets *ObjectReference, 3 imagePullSecrets *LocalObjectReference, 4 automountServiceAccountToken b",
  ServicePort: "1 name s?, 2 protocol s?, 3 port i, 4 targetPort IntOrString, 5 nodePort i?, 6 appProtocol s",
  ServiceSpec:
    "1 ports *ServicePort, 2 selector %s, 3 clusterIP s?, 4 type s?, 5 externalIPs *s, 7 sessionAffinity s?, 8 loadBalancerIP s?, 9 loadBalancerSourceRanges *s, 10 externalName s?, 11 externalTrafficPolicy s?, 12 healthCheckNodePort i?, 13 publishNotReadyAddresses b?, 14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy s, 18 clusterIPs *s, 19 ipFamilies *s, 20 allocateLoadBalancerNodePorts b, 21 loadBalancerClass s, 22 internalTrafficPolicy s, 23 trafficDistribution s",
  ServiceStatus: "1 loadBalancer LoadBalancerStatus, 2 conditions *Condition",
  SessionAffinityConfig: "1 clientIP ClientIPConfig",
  ShardInfo: "1 selector s",
  Status: "1 metadata ListMeta, 2 status s?, 3 message s?, 4 reason s?, 5 details StatusDetails, 6 code i?",
  StatusCause: "1 reason s?, 2 message s?, 3 field s?",
  StatusDetails: "1 name s?, 2 group s?, 3 kind s?, 4 causes *StatusCause, 5 retryAfterSeconds i?, 6 uid s?",
  StorageHealth: "1 name s, 2 healthConditions *StorageHealthCondition",
  StorageHealthCondition:
    "1 status s, 2 reason s, 3 message s?, 4 accessMode s, 5 volumeMode s, 6 lastTransitionTime Time",
  StorageOSPersistentVolumeSource:
    "1 volumeName s?, 2 volumeNamespace s?, 3 fsType s?, 4 readOnly b?, 5 secretRef ObjectReference",
  SubjectAccessReview: "1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec, 3 status SubjectAccessReviewStatus",
  SubjectAccessReviewSpec:
    "1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes NonResourceAttributes, 3 user s?, 4 groups *s, 5 extra %ExtraValue, 6 uid s?",
  SubjectAccessReviewStatus: "1 allowed b, 2 reason s?, 3 evaluationError s?, 4 denied b?",
  Taint: "1 key s, 2 value s?, 3 effect s, 4 timeAdded Time",
  TokenRequest: "1 audience s, 2 expirationSeconds i",
  TokenRequestSpec:
    "1 audiences *s, 3 boundObjectRef BoundObjectReference, 4 expirationSeconds i, 5 attestations %ExtraValue",
  TokenRequestStatus: "1 token s, 2 expirationTimestamp Time",
  TokenReview: "1 metadata ObjectMeta, 2 spec TokenReviewSpec, 3 status TokenReviewStatus",
  TokenReviewSpec: "1 token s?, 2 audiences *s",
  TokenReviewStatus: "1 authenticated b?, 2 user UserInfo, 3 error s?, 4 audiences *s",
  UserInfo: "1 username s?, 2 uid s?, 3 groups *s, 4 extra %ExtraValue",
  VolumeAttachment: "1 metadata ObjectMeta, 2 spec VolumeAttachmentSpec, 3 status VolumeAttachmentStatus",
  VolumeAttachmentSource: "1 persistentVolumeName s, 2 inlineVolumeSpec PersistentVolumeSpec",
  VolumeAttachmentSpec: "1 attacher s, 2 source VolumeAttachmentSource, 3 nodeName s",
  VolumeAttachmentStatus: "1 attached b, 2 attachmentMetadata %s, 3 attachError VolumeError, 4 detachError VolumeError",
  VolumeError: "1 time Time, 2 message s?, 3 errorCode i",
  VolumeHealthStatus: "1 healthConditions *VolumeHealthCondition, 2 lastTransitionTime Time",
  VolumeNodeAffinity: "1 required NodeSelector",
  VolumeNodeResources: "1 count i",
  WatchEvent: "1 type s, 2 object RawExtension",
  "authentication.TokenRequest": "1 metadata ObjectMeta, 2 spec TokenRequestSpec, 3 status TokenRequestStatus",
  "resource.ResourceClaim": "1 metadata ObjectMeta, 2 spec ResourceClaimSpec, 3 status ResourceClaimStatus",
};
