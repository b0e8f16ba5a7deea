// The rules of a v1 Pod: enum values, ranges, formats and presence of its fields (core/v1, Kubernetes 1.36, and what
// 1.37 adds: docs/kubernetes-1.37.md). Names and types of the fields are generated (gen/fields.ts). Conditions on
// several fields are in the rules; defaults of the API server are in defaults.ts.

import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  envName,
  finalizerName,
  headerName,
  ipAddress,
  ipAddressOrEmpty,
  labelValue,
  noBackSteps,
  notEmpty,
  portName,
  qualifiedName,
  relativePath,
  searchDomain,
  sysctlName,
} from "../../../shared/kubernetes/api/manifest/formats.js";
import { affinityRules } from "./affinity-schema.js";
import { any, int, int64, object, oneOf, str, text, type FieldType, type ObjectType } from "./field-types.js";
import { Structs, type Rule, type Rules } from "./struct.js";
import { volumeRules } from "./volume-schema.js";

const PORT = int(1, 65535);
const ID = int(0);
const restartPolicy = oneOf("Always", "OnFailure", "Never");
const pullPolicy = oneOf("Always", "IfNotPresent", "Never");
const name = text(dnsSubdomain);
const profile = {
  fields: { type: oneOf("RuntimeDefault", "Unconfined", "Localhost"), localhostProfile: text(relativePath) },
  required: ["type"],
} as const;
const keyRef = { fields: { name, key: text(configKey) }, required: ["name", "key"] } as const;
const objectRef = { fields: { name }, required: ["name"] } as const;
const image = text((value) => (value.trim() === value ? undefined : "an image name without spaces around it"));

const container = {
  fields: {
    name: text(dnsLabel),
    image,
    restartPolicy,
    terminationMessagePolicy: oneOf("File", "FallbackToLogsOnError"),
    imagePullPolicy: pullPolicy,
  },
  required: ["name", "image"],
} as const;

const metadata: Rule<"ObjectMeta"> = {
  fields: {
    name,
    generateName: text((value) => dnsSubdomain(value.replace(/-$/, ""))),
    namespace: text(dnsLabel),
    labels: text(labelValue),
    finalizers: text(finalizerName),
  },
  required: ["name"],
  // Set by an API server: a manifest may carry them (an exported pod). With them an API server refuses the mirror pod,
  // or the pod would end.
  dropped: [
    "resourceVersion",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
  ],
};

const rules = (): Rules => ({
  ...affinityRules(),
  ...volumeRules(),
  AppArmorProfile: profile,
  ConfigMapEnvSource: objectRef,
  ConfigMapKeySelector: keyRef,
  Container: container,
  ContainerPort: {
    fields: {
      name: text(portName),
      hostPort: int(0, 65535),
      containerPort: PORT,
      protocol: oneOf("TCP", "UDP", "SCTP"),
      hostIP: text(ipAddressOrEmpty),
    },
    required: ["containerPort"],
  },
  ContainerResizePolicy: {
    fields: { resourceName: oneOf("cpu", "memory"), restartPolicy: oneOf("NotRequired", "RestartContainer") },
    required: ["resourceName", "restartPolicy"],
  },
  ContainerRestartRule: {
    fields: { action: oneOf("Restart", "RestartAllContainers") },
    required: ["action", "exitCodes"],
  },
  ContainerRestartRuleOnExitCodes: { fields: { operator: oneOf("In", "NotIn") }, required: ["operator"] },
  EnvVar: { fields: { name: text(envName) }, required: ["name"] },
  EphemeralContainer: container,
  EvictionResponder: { required: ["name"] },
  ExecAction: { required: ["command"] },
  FileKeySelector: {
    fields: { volumeName: text(dnsLabel), path: text(relativePath) },
    required: ["volumeName", "path", "key"],
  },
  GRPCAction: { fields: { port: PORT, mode: oneOf("Plaintext", "TLS") }, required: ["port"] },
  HTTPGetAction: {
    fields: { scheme: oneOf("HTTP", "HTTPS"), protocol: oneOf("HTTP1", "HTTP2") },
    required: ["port"],
  },
  HTTPHeader: { fields: { name: text(headerName) }, required: ["name"] },
  HostAlias: { fields: { ip: text(ipAddress), hostnames: text(dnsSubdomain) }, required: ["ip"] },
  Lifecycle: { fields: { stopSignal: text((value) => signal(value)) } },
  ObjectFieldSelector: { fields: { apiVersion: oneOf("v1") }, required: ["fieldPath"] },
  ObjectMeta: metadata,
  OwnerReference: { required: ["apiVersion", "kind", "name", "uid"] },
  PodDNSConfig: { fields: { nameservers: text(ipAddress), searches: text(searchDomain) } },
  PodDNSConfigOption: { fields: { name: text(notEmpty) }, required: ["name"] },
  PodOS: { fields: { name: oneOf("linux", "windows") }, required: ["name"] },
  PodReadinessGate: { fields: { conditionType: text(qualifiedName) }, required: ["conditionType"] },
  PodResourceClaim: any,
  PodSchedulingGate: { required: ["name"] },
  PodSecurityContext: {
    fields: {
      runAsUser: ID,
      runAsGroup: ID,
      supplementalGroups: ID,
      supplementalGroupsPolicy: oneOf("Merge", "Strict"),
      fsGroup: ID,
      fsGroupChangePolicy: oneOf("OnRootMismatch", "Always"),
      seLinuxChangePolicy: oneOf("Recursive", "MountOption"),
    },
  },
  PodSpec: {
    fields: {
      restartPolicy,
      activeDeadlineSeconds: int(1),
      dnsPolicy: oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
      nodeSelector: text(labelValue),
      serviceAccountName: name,
      serviceAccount: name,
      hostname: text(dnsLabel),
      subdomain: text(dnsLabel),
      hostnameOverride: text(dnsSubdomain, (value) => (value.length <= 64 ? undefined : "at most 64 characters")),
      priorityClassName: name,
      preemptionPolicy: oneOf("Never", "PreemptLowerPriority"),
      runtimeClassName: name,
    },
    required: ["containers"],
    without: ["schedulingGroup"],
    dropped: ["workloadRef"],
  },
  Probe: {
    fields: {
      initialDelaySeconds: int(0),
      timeoutSeconds: int(0),
      periodSeconds: int(0),
      successThreshold: int(0),
      failureThreshold: int(0),
      terminationGracePeriodSeconds: int64(1),
    },
    zeroKept: ["timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"],
  },
  ResourceClaim: any,
  ResourceFieldSelector: { required: ["resource"] },
  SeccompProfile: profile,
  SecretEnvSource: objectRef,
  SecretKeySelector: keyRef,
  SecurityContext: { fields: { runAsUser: ID, runAsGroup: ID, procMount: oneOf("Default", "Unmasked") } },
  SleepAction: { fields: { seconds: int(0) } },
  Sysctl: { fields: { name: text(sysctlName) }, required: ["name"] },
  TCPSocketAction: { required: ["port"] },
  Toleration: {
    fields: {
      operator: oneOf("", "Exists", "Equal", "Lt", "Gt"),
      effect: oneOf("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
    },
  },
  VolumeDevice: { fields: { devicePath: text(noBackSteps) }, required: ["name", "devicePath"] },
  VolumeMount: {
    fields: {
      name: text(notEmpty),
      mountPath: text(notEmpty),
      recursiveReadOnly: oneOf("Disabled", "IfPossible", "Enabled"),
      subPath: text(relativePath),
      subPathExpr: text(relativePath),
      mountPropagation: oneOf("None", "HostToContainer", "Bidirectional"),
      bindMountOptions: oneOf("noexec", "nodev", "nosuid"),
    },
    required: ["name", "mountPath"],
  },
  WindowsSecurityContextOptions: any,
});

function signal(value: string): string | undefined {
  const named = /^SIG[A-Z]+[0-9]*$|^SIGRTM(?:IN\+|AX-)[0-9]{1,2}$/.test(value);
  return named ? undefined : "a signal name such as SIGTERM";
}

/** A v1 Pod. `status` is dropped: the kubelet computes it. Only the type stays in memory, and not its rules. */
export const podSchema = podType(new Structs(rules()));

function podType(structs: Structs): ObjectType {
  const fields = new Map<string, FieldType>([
    ["apiVersion", str],
    ["kind", str],
    ["metadata", structs.object("ObjectMeta")],
    ["spec", structs.object("PodSpec")],
  ]);
  return object(fields, ["metadata", "spec"], ["status"]);
}
