// Labels and annotations of CRI objects, and the container hash in them. A restarted kubelet, crictl and monitoring
// find a pod's sandboxes and containers by them. So keys and values equal upstream's, byte for byte.

import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import { TERMINATION_MESSAGE_PATH } from "../../shared/kubernetes/cri/observed-pod.js";
import { handlerJson, portJson } from "./api-json.js";
import { containerHash } from "./container-hash.js";
import { goJson } from "./go-json.js";

export const labelKeys = {
  podName: "io.kubernetes.pod.name",
  podNamespace: "io.kubernetes.pod.namespace",
  podUid: "io.kubernetes.pod.uid",
  containerName: "io.kubernetes.container.name",
} as const;

export const annotationKeys = {
  hash: "io.kubernetes.container.hash",
  restartCount: "io.kubernetes.container.restartCount",
  terminationMessagePath: TERMINATION_MESSAGE_PATH,
  terminationMessagePolicy: "io.kubernetes.container.terminationMessagePolicy",
  podDeletionGracePeriod: "io.kubernetes.pod.deletionGracePeriod",
  podTerminationGracePeriod: "io.kubernetes.pod.terminationGracePeriod",
  preStopHandler: "io.kubernetes.container.preStopHandler",
  ports: "io.kubernetes.container.ports",
} as const;

/** Bytes of one annotation that a tenant chose. */
const TEXT_LIMIT = 4096;

export const defaultTerminationMessagePath = "/dev/termination-log";

function podLabels(pod: Pod): Record<string, string> {
  return {
    [labelKeys.podName]: pod.metadata.name,
    [labelKeys.podNamespace]: pod.metadata.namespace,
    [labelKeys.podUid]: pod.metadata.uid,
  };
}

/** The pod's own labels; the kubelet's keys win. */
export function sandboxLabels(pod: Pod): Record<string, string> {
  return { ...pod.metadata.labels, ...podLabels(pod) };
}

export function sandboxAnnotations(pod: Pod): Record<string, string> {
  return { ...pod.metadata.annotations };
}

export function containerLabels(pod: Pod, container: Container): Record<string, string> {
  return { ...podLabels(pod), [labelKeys.containerName]: container.name };
}

/** @param extra annotations of device plugins and DRA drivers; the kubelet's keys win. */
export function containerAnnotations(
  pod: Pod,
  container: Container,
  restartCount: number,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const annotations: Record<string, string> = {
    ...extra,
    [annotationKeys.hash]: containerHash(container),
    [annotationKeys.restartCount]: String(restartCount),
    [annotationKeys.terminationMessagePolicy]: container.terminationMessagePolicy ?? "File",
  };
  // A longer path names no file (PATH_MAX).
  const messagePath = container.terminationMessagePath ?? defaultTerminationMessagePath;
  addShort(annotations, annotationKeys.terminationMessagePath, messagePath);
  const { deletionGracePeriodSeconds: deletion } = pod.metadata;
  if (deletion !== undefined) annotations[annotationKeys.podDeletionGracePeriod] = String(deletion);
  const { terminationGracePeriodSeconds: termination } = pod.spec;
  if (termination !== undefined) annotations[annotationKeys.podTerminationGracePeriod] = String(termination);
  const preStop = container.lifecycle?.preStop;
  if (preStop !== undefined) addShort(annotations, annotationKeys.preStopHandler, goJson(handlerJson(preStop)));
  if (container.ports !== undefined && container.ports.length > 0) {
    addShort(annotations, annotationKeys.ports, goJson(container.ports.map(portJson)));
  }
  return annotations;
}

/**
 * Every list of the runtime has the annotations of all containers, so a tenant's long text is left out: the pod record
 * has the definition (docs/adr/0076). Without the record, such a container stops without its hook.
 */
function addShort(annotations: Record<string, string>, key: string, text: string): void {
  if (Buffer.byteLength(text) <= TEXT_LIMIT) annotations[key] = text;
}
