// The Pod object (core/v1) as a node agent reads it. Fields are upstream's; see
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/. A pod has its defaults before it reaches the sync path. They
// come from the API server, or for static pods from workers/tasks/manifest/defaults.ts.
import type { IntOrString, ObjectMeta, Quantity, ResourceList, ResourceRequirements } from "./meta.js";
import type { PodStatus } from "./pod-status.js";
import type { Volume } from "./volume.js";

export type { ResourceList, ResourceRequirements } from "./meta.js";

export interface Pod {
  apiVersion: "v1";
  kind: "Pod";
  metadata: ObjectMeta;
  spec: PodSpec;
  status?: PodStatus;
}

export type RestartPolicy = "Always" | "OnFailure" | "Never";
type DNSPolicy = "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None";

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  ephemeralContainers?: EphemeralContainer[];
  volumes?: Volume[];
  restartPolicy?: RestartPolicy;
  /** Seconds; upstream's default is 30. */
  terminationGracePeriodSeconds?: number;
  /** Seconds. */
  activeDeadlineSeconds?: number;
  dnsPolicy?: DNSPolicy;
  dnsConfig?: PodDNSConfig;
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  serviceAccountName?: string;
  /** Its older name, with the same value. */
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  shareProcessNamespace?: boolean;
  securityContext?: PodSecurityContext;
  imagePullSecrets?: { name?: string }[];
  hostname?: string;
  subdomain?: string;
  hostnameOverride?: string;
  setHostnameAsFQDN?: boolean;
  hostAliases?: { ip: string; hostnames?: string[] }[];
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  runtimeClassName?: string;
  overhead?: ResourceList;
  resources?: ResourceRequirements;
  enableServiceLinks?: boolean;
  tolerations?: Toleration[];
  readinessGates?: { conditionType: string }[];
  os?: { name: string };
  schedulerName?: string;
  affinity?: unknown;
  topologySpreadConstraints?: unknown[];
  schedulingGates?: { name: string }[];
  /** The runtime scheduling group that the pod belongs to. */
  schedulingGroup?: { podGroupName?: string };
  resourceClaims?: { name?: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
}

interface PodDNSConfig {
  nameservers?: string[];
  searches?: string[];
  options?: { name?: string; value?: string }[];
}

export interface Toleration {
  key?: string;
  operator?: "Exists" | "Equal" | "Lt" | "Gt";
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export type PullPolicy = "Always" | "IfNotPresent" | "Never";
export type TerminationMessagePolicy = "File" | "FallbackToLogsOnError";

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  envFrom?: EnvFromSource[];
  env?: EnvVar[];
  resources?: ResourceRequirements;
  resizePolicy?: { resourceName: string; restartPolicy: string }[];
  /** "Always" on an init container makes it a sidecar. */
  restartPolicy?: RestartPolicy;
  restartPolicyRules?: ContainerRestartRule[];
  volumeMounts?: VolumeMount[];
  volumeDevices?: { name: string; devicePath: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: Lifecycle;
  terminationMessagePath?: string;
  terminationMessagePolicy?: TerminationMessagePolicy;
  imagePullPolicy?: PullPolicy;
  securityContext?: SecurityContext;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
}

export interface EphemeralContainer extends Container {
  targetContainerName?: string;
}

export interface ContainerRestartRule {
  action: "Restart" | "RestartAllContainers";
  exitCodes?: { operator: "In" | "NotIn"; values?: number[] };
}

export interface ContainerPort {
  name?: string;
  hostPort?: number;
  containerPort: number;
  protocol?: "TCP" | "UDP" | "SCTP";
  hostIP?: string;
}

export interface EnvFromSource {
  prefix?: string;
  configMapRef?: { name?: string; optional?: boolean };
  secretRef?: { name?: string; optional?: boolean };
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: { apiVersion?: string; fieldPath: string };
    resourceFieldRef?: { containerName?: string; resource: string; divisor?: Quantity };
    configMapKeyRef?: { name?: string; key: string; optional?: boolean };
    secretKeyRef?: { name?: string; key: string; optional?: boolean };
    fileKeyRef?: { volumeName: string; path: string; key: string; optional?: boolean };
  };
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  recursiveReadOnly?: "Disabled" | "IfPossible" | "Enabled";
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: "None" | "HostToContainer" | "Bidirectional";
}

interface ExecAction {
  command?: string[];
}
export interface HTTPGetAction {
  path?: string;
  port: IntOrString;
  host?: string;
  scheme?: "HTTP" | "HTTPS";
  httpHeaders?: { name: string; value: string }[];
}
interface TCPSocketAction {
  port: IntOrString;
  host?: string;
}

export interface Probe {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  grpc?: { port: number; service?: string };
  /** Seconds, as all fields below but the thresholds. */
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface LifecycleHandler {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  sleep?: { seconds: number };
}

export interface Lifecycle {
  postStart?: LifecycleHandler;
  preStop?: LifecycleHandler;
  stopSignal?: string;
}

export interface SeccompProfile {
  type: "RuntimeDefault" | "Unconfined" | "Localhost";
  localhostProfile?: string;
}
export interface AppArmorProfile {
  type: "RuntimeDefault" | "Unconfined" | "Localhost";
  localhostProfile?: string;
}
export interface SELinuxOptions {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

export interface PodSecurityContext {
  seLinuxOptions?: SELinuxOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: "Merge" | "Strict";
  fsGroup?: number;
  fsGroupChangePolicy?: "OnRootMismatch" | "Always";
  sysctls?: { name: string; value: string }[];
  seccompProfile?: SeccompProfile;
  appArmorProfile?: AppArmorProfile;
  seLinuxChangePolicy?: string;
}

interface SecurityContext {
  capabilities?: { add?: string[]; drop?: string[] };
  privileged?: boolean;
  seLinuxOptions?: SELinuxOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  procMount?: "Default" | "Unmasked";
  seccompProfile?: SeccompProfile;
  appArmorProfile?: AppArmorProfile;
}

/** "name_namespace(uid)": how upstream names a pod in messages. */
export function podDescription(pod: { metadata: Pick<ObjectMeta, "name" | "namespace" | "uid"> }): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
}

/** "namespace/name": the pod's full name, unique among running pods of a node. */
export function podFullName(pod: { metadata: Pick<ObjectMeta, "name" | "namespace"> }): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`;
}

/** An init container with restartPolicy Always: started in init order, then kept running beside the regular ones. */
export function isSidecar(container: Pick<Container, "restartPolicy">): boolean {
  return container.restartPolicy === "Always";
}

/** The lowest priority of the system's priority classes. A pod with this priority or a higher one is critical. */
export const CRITICAL_PRIORITY = 2_000_000_000;

/** A static pod: from a file or URL, not from the API server. */
export function isStaticPod(pod: { metadata: Pick<ObjectMeta, "annotations"> }): boolean {
  const source = pod.metadata.annotations?.["kubernetes.io/config.source"];
  return source !== undefined && source !== "api";
}
