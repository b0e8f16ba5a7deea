// The UID under which a static pod runs already, if another kubelet started it. Each kubelet has its own rule for UIDs
// of static pods, and a new UID would restart the pod's containers.
// Invariant: a UID is taken over only for the same definition. A runtime keeps too little of a definition for a
// comparison. So the manifest must also be older than the PodSandbox. The pod was then started from exactly this
// content.

import { isSafePodUid } from "../../../shared/kubernetes/api/pod-uid.js";
import type { Container as ContainerSpec, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Container, PodSandbox } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { ContainerState, PodSandboxState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { containerHash } from "../../model/container-hash.js";
import { annotationKeys, labelKeys } from "../../model/labels.js";

const CONFIG_SOURCE = "kubernetes.io/config.source";
export const CONFIG_HASH = "kubernetes.io/config.hash";
const OWN_LABELS: readonly string[] = [labelKeys.podName, labelKeys.podNamespace, labelKeys.podUid];
const OWN_ANNOTATION = "kubernetes.io/config.";

/** The PodSandboxes and containers that the runtime lists. */
export interface RunningPods {
  sandboxes: readonly PodSandbox[];
  containers: readonly Container[];
}

/**
 * `changedAt`: of the manifest, ns since the epoch. Undefined: no pod runs from this definition, or it is not certain
 * which.
 */
export function earlierUid(pod: Pod, changedAt: bigint, { sandboxes, containers }: RunningPods): PodUid | undefined {
  const uids = new Set(
    sandboxes.filter((sandbox) => runs(sandbox, pod, changedAt)).map(({ labels }) => labels[labelKeys.podUid] ?? ""),
  );
  const [uid, another] = uids;
  if (uid === undefined || another !== undefined || !isSafePodUid(uid)) return undefined;
  const own = containers.filter(({ labels }) => labels[labelKeys.podUid] === uid);
  return own.every((container) => isOf(container, pod)) ? uid : undefined;
}

/**
 * A PodSandbox of a kubelet's file source, ready, with the pod's name, labels and annotations, newer than the manifest.
 */
function runs({ state, createdAt, labels, annotations }: PodSandbox, { metadata }: Pod, changedAt: bigint): boolean {
  const uid = labels[labelKeys.podUid];
  return (
    state === PodSandboxState.SANDBOX_READY &&
    createdAt > changedAt &&
    labels[labelKeys.podName] === metadata.name &&
    labels[labelKeys.podNamespace] === metadata.namespace &&
    annotations[CONFIG_SOURCE] === "file" &&
    annotations[CONFIG_HASH] === uid &&
    isSame(
      without(labels, (key) => OWN_LABELS.includes(key)),
      metadata.labels ?? {},
    ) &&
    isSame(
      without(annotations, (key) => key.startsWith(OWN_ANNOTATION)),
      without(metadata.annotations ?? {}, (key) => key.startsWith(OWN_ANNOTATION)),
    )
  );
}

/** A container that has ended may be of any definition; one that runs must be the definition's. */
function isOf({ state, labels, annotations }: Container, { spec }: Pod): boolean {
  if (state !== ContainerState.CONTAINER_RUNNING) return true;
  const name = labels[labelKeys.containerName];
  const defined: ContainerSpec | undefined = [...(spec.initContainers ?? []), ...spec.containers].find(
    (container) => container.name === name,
  );
  return defined !== undefined && annotations[annotationKeys.hash] === containerHash(defined);
}

function without(
  map: Readonly<Record<string, string>>,
  isOwn: (key: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isOwn(key)));
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
