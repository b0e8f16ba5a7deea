// A terminal pod keeps its identity and its status. Its definition, up to a megabyte that a tenant wrote, stays in the
// API server only (docs/adr/0080). Pure.
// Invariant: the slim form of a slim pod equals it; it has no text whose length its author chooses, except for names.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { OwnerReference } from "../../shared/kubernetes/api/meta.js";
import type { ApiContainerStatus, PodStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";

/** Annotations by which the kubelet recognises a pod. The value is a hash, a time or the name of a source. */
const OWN_ANNOTATION = "kubernetes.io/config.";
/** Authors may write these annotations and owners, too. */
const LONGEST = 512;
const MOST_FINALIZERS = 16;

/** The pod's identity: what finds its object, its mirror pod, its logs and its directories. */
export function podIdentity({ apiVersion, kind, metadata }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds, ownerReferences } = metadata;
  const annotations = ownAnnotations(metadata.annotations);
  // They hold the object of a deleted pod back. Of others nothing needs them.
  const finalizers = deletionTimestamp === undefined ? [] : boundedFinalizers(metadata.finalizers);
  const node = ownerReferences?.find(ownsByNode);
  return {
    apiVersion,
    kind,
    metadata: omitUndefined({
      name,
      namespace,
      uid,
      resourceVersion,
      generation,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      ownerReferences:
        node !== undefined
          ? [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid, controller: true }]
          : undefined,
      annotations,
      finalizers: finalizers.length > 0 ? finalizers : undefined,
    }),
    spec: { containers: [] },
  };
}

/**
 * The pod without its definition. Containers that its status names keep their names: their logs stay readable.
 * `status`: the pod's, where it is known from elsewhere.
 */
export function slimPod(pod: Pod, status: PodStatus | undefined = pod.status): Pod {
  const { spec } = pod;
  const { restartPolicy, terminationGracePeriodSeconds, nodeName, hostNetwork, priority } = spec;
  const initContainers = shown(spec.initContainers, status?.initContainerStatuses);
  const ephemeralContainers = shown(spec.ephemeralContainers, status?.ephemeralContainerStatuses);
  return omitUndefined({
    ...podIdentity(pod),
    spec: omitUndefined({
      containers: shown(spec.containers, status?.containerStatuses),
      initContainers: initContainers.length > 0 ? initContainers : undefined,
      ephemeralContainers: ephemeralContainers.length > 0 ? ephemeralContainers : undefined,
      restartPolicy,
      terminationGracePeriodSeconds,
      nodeName,
      hostNetwork,
      priority,
    }),
    status: pod.status,
  });
}

/** The owner of a mirror pod. */
function ownsByNode({ kind, name, uid, controller }: OwnerReference): boolean {
  return controller === true && kind === "Node" && name.length + uid.length <= LONGEST;
}

function boundedFinalizers(finalizers: readonly string[] = []): string[] {
  return finalizers.slice(0, MOST_FINALIZERS).map((name) => name.slice(0, LONGEST));
}

function ownAnnotations(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  if (annotations === undefined) return undefined;
  const own: Record<string, string> = {};
  for (const key in annotations) {
    const value = annotations[key] ?? "";
    if (key.startsWith(OWN_ANNOTATION) && key.length + value.length <= LONGEST) own[key] = value;
  }
  return own;
}

function shown(containers: readonly Container[] = [], statuses: readonly ApiContainerStatus[] = []): Container[] {
  if (statuses.length === 0) return [];
  const names = new Set(statuses.map(({ name }) => name));
  return containers
    .filter(({ name }) => names.has(name))
    .map(({ name, restartPolicy }) => (restartPolicy === undefined ? { name } : { name, restartPolicy }));
}
