// Names and labels of docker's containers, as dockershim of Kubernetes 1.23 and cri-dockerd write them. So a node can
// change between them.
// Source: https://github.com/kubernetes/kubernetes/tree/release-1.23/pkg/kubelet/dockershim (naming.go, helpers.go).
// Pure.

import type { ContainerMetadata, PodSandboxMetadata } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "./fault.js";

export const TYPE_LABEL = "io.kubernetes.docker.type";
export const SANDBOX_ID_LABEL = "io.kubernetes.sandbox.id";
export const LOG_PATH_LABEL = "io.kubernetes.container.logpath";
const ANNOTATION = "annotation.";
const OWN_LABELS = new Set([TYPE_LABEL, SANDBOX_ID_LABEL, LOG_PATH_LABEL]);

const PREFIX = "k8s";
const SANDBOX = "POD";

export function sandboxName({ name, namespace, uid, attempt }: PodSandboxMetadata): string {
  return [PREFIX, SANDBOX, name, namespace, uid, String(attempt)].join("_");
}

export function containerName(pod: PodSandboxMetadata, { name, attempt }: ContainerMetadata): string {
  return [PREFIX, name, pod.name, pod.namespace, pod.uid, String(attempt)].join("_");
}

/** Names may begin with "/" and end in "_<suffix>". @throws Fault for a name of another form */
export function sandboxMetadata(name: string): PodSandboxMetadata {
  const [prefix, kind, pod, namespace, uid, attempt] = partsOf(name);
  if (prefix !== PREFIX || kind !== SANDBOX) throw unknownName(name);
  return { name: pod, namespace, uid, attempt: number(attempt, name) };
}

/** As for sandboxes. */
export function containerMetadata(name: string): ContainerMetadata {
  const [prefix, container, , , , attempt] = partsOf(name);
  if (prefix !== PREFIX) throw unknownName(name);
  return { name: container, attempt: number(attempt, name) };
}

type Parts = [string, string, string, string, string, string];

function partsOf(name: string): Parts {
  const parts = name.replace(/^\//, "").split("_");
  if (parts.length < 6 || parts.length > 7) throw unknownName(name);
  return parts as Parts;
}

function number(attempt: string, name: string): number {
  if (!/^\d{1,9}$/.test(attempt)) throw unknownName(name);
  return Number(attempt);
}

function unknownName(name: string): Fault {
  return new Fault("UNKNOWN", `docker's container ${JSON.stringify(name)} is named unlike a container of Kubernetes`);
}

/** Labels and annotations in docker's labels; docker has no annotations. */
export function dockerLabels(
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const marked = Object.entries(annotations).map(([key, value]): [string, string] => [`${ANNOTATION}${key}`, value]);
  return { ...labels, ...Object.fromEntries(marked), ...own };
}

/** The labels and annotations that CRI's client gave. */
export function criLabels(labels: Readonly<Record<string, string>>): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const pairs = Object.entries(labels);
  return {
    labels: Object.fromEntries(pairs.filter(([key]) => !OWN_LABELS.has(key) && !key.startsWith(ANNOTATION))),
    annotations: Object.fromEntries(
      pairs.flatMap(([key, value]) => (key.startsWith(ANNOTATION) ? [[key.slice(ANNOTATION.length), value]] : [])),
    ),
  };
}
