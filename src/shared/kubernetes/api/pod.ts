// The Pod object (core/v1) as a node agent reads it, where that says more than the generated types. Fields are
// upstream's; see https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/. A pod has its
// defaults before it reaches the sync path. They come from the API server, or for static pods from
// workers/tasks/manifest/defaults.ts.

import type { PodUid } from "../identifiers.js";
import type * as core from "./gen/core.js";
import type { ObjectMeta } from "./meta.js";
import type { PodStatus } from "./pod-status.js";
import type { Volume } from "./volume.js";
import type { WideInteger } from "./wide-integers.js";

export type {
  AppArmorProfile,
  ContainerPort,
  EnvFromSource,
  EnvVar,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  PodSecurityContext,
  Probe,
  PullPolicy,
  RestartPolicy,
  SeccompProfile,
  SELinuxOptions,
  TerminationMessagePolicy,
  Toleration,
} from "./gen/core.js";
export type { ResourceList, ResourceRequirements } from "./meta.js";

interface PodMeta extends ObjectMeta {
  uid: PodUid;
}

export interface Pod {
  apiVersion: "v1";
  kind: "Pod";
  metadata: PodMeta;
  spec: PodSpec;
  status?: PodStatus;
  /** Digits that metadata and spec cannot hold (wide-integers.ts). No field of the API. */
  wideIntegers?: readonly WideInteger[];
}

export interface PodSpec extends core.PodSpec {
  containers: Container[];
  initContainers?: Container[];
  ephemeralContainers?: EphemeralContainer[];
  volumes?: Volume[];
}

export interface Container extends core.Container {
  /** "Always" on an init container makes it a sidecar. */
  restartPolicy?: core.RestartPolicy;
  restartPolicyRules?: ContainerRestartRule[];
  volumeMounts?: VolumeMount[];
}

export interface EphemeralContainer extends Container {
  targetContainerName?: string;
}

export interface ContainerRestartRule extends core.ContainerRestartRule {
  action: "Restart" | "RestartAllContainers";
  exitCodes?: { operator: "In" | "NotIn"; values?: number[] };
}

export interface VolumeMount extends core.VolumeMount {
  recursiveReadOnly?: "Disabled" | "IfPossible" | "Enabled";
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
