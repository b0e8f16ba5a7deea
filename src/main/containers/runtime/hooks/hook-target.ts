// The container of a lifecycle hook. If the pod spec no longer defines the container, its labels and annotations
// describe it.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../../../shared/base/text/is-record.js";
import { parseJson } from "../../../../shared/base/text/parse-json.js";
import { containerNamed } from "../../../../shared/kubernetes/api/per-spec.js";
import type { Container, LifecycleHandler, Pod } from "../../../../shared/kubernetes/api/pod.js";
import { CriNotFoundError } from "../../../../shared/kubernetes/cri/errors.js";
import { PodSandboxState } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedContainer, observedContainer } from "../../../../shared/kubernetes/cri/observed-pod.js";
import { podUid, type ContainerId } from "../../../../shared/kubernetes/identifiers.js";
import { annotationKeys, labelKeys } from "../../../model/labels.js";
import type { NodeRuntime } from "../node-runtime.js";

export interface HookTarget {
  pod: Pod;
  container: Container;
  containerId: ContainerId;
  /** The pod's first address; undefined while it has none. */
  podIP(signal: AbortSignal): Promise<string | undefined>;
}

export function hookTarget(runtime: NodeRuntime, pod: Pod, container: Container, containerId: ContainerId): HookTarget {
  return { pod, container, containerId, podIP: (signal) => podAddress(runtime, pod, signal) };
}

/** The container by its name in the pod's definition, of any kind. */
export function definedContainer(pod: Pod | undefined, name: string): Container | undefined {
  return pod === undefined ? undefined : containerNamed(pod.spec, name)?.container;
}

/** undefined when the runtime no longer has it. */
export async function containerStatus(
  runtime: NodeRuntime,
  containerId: ContainerId,
  signal: AbortSignal,
): Promise<ObservedContainer | undefined> {
  try {
    const { status } = await runtime.cri.containerStatus({ containerId, verbose: false }, { signal });
    return status && observedContainer(status);
  } catch (error) {
    if (error instanceof CriNotFoundError) return undefined;
    throw error;
  }
}

/** The pod, as far as a container's labels contain it. */
export function podFromLabels({ labels }: ObservedContainer): Pod {
  const name = labels[labelKeys.podName] ?? "";
  const namespace = labels[labelKeys.podNamespace] ?? "";
  const uid = podUid(labels[labelKeys.podUid] ?? "");
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, uid }, spec: { containers: [] } };
}

/** The container, as far as its annotations contain it: name, ports and preStop handler. */
export function containerFromAnnotations({ labels, annotations }: ObservedContainer): Container {
  const preStop = parsed(annotations[annotationKeys.preStopHandler]);
  const ports = parsed(annotations[annotationKeys.ports]);
  return omitUndefined({
    name: labels[labelKeys.containerName] ?? "",
    lifecycle: isObject(preStop) ? { preStop } : undefined,
    ports: Array.isArray(ports) ? (ports as NonNullable<Container["ports"]>) : undefined,
  });
}

/** An annotation that another program has spoilt counts as absent: the container must stop all the same. */
function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is LifecycleHandler => isRecord(value);

async function podAddress(runtime: NodeRuntime, pod: Pod, signal: AbortSignal): Promise<string | undefined> {
  if (pod.spec.hostNetwork === true) return runtime.node.nodeIPs[0];
  const filter = {
    labelSelector: { [labelKeys.podUid]: pod.metadata.uid },
    state: { state: PodSandboxState.SANDBOX_READY },
  };
  const { items } = await runtime.cri.listPodSandbox({ filter }, { signal });
  const [newest] = items.toSorted((a, b) => Number(b.createdAt - a.createdAt));
  if (newest === undefined) return undefined;
  const { status } = await runtime.cri.podSandboxStatus({ podSandboxId: newest.id, verbose: false }, { signal });
  const ip = status?.network?.ip ?? "";
  return ip === "" ? undefined : ip;
}
