// Finds the pod and the container that a path names. Pods come from main, containers from the runtime.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { ApiContainerStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodList } from "./pod-list.js";
import type { ServedRuntime } from "./runtime.js";

const POD_UID = "io.kubernetes.pod.uid";
const CONTAINER_NAME = "io.kubernetes.container.name";

/** The path names a pod that this node has not. */
export class UnknownPodError extends Error {
  override readonly name = "UnknownPodError";
}
/** The part of a path that names the pod. */
export interface PodPath {
  namespace: string;
  name: string;
  /** "": any. That of a static pod's mirror means the static pod. */
  uid: PodUid;
}

/** The mirror pod of the static pod of that name. */
export type MirrorUid = (namespace: string, name: string) => Promise<PodUid | undefined>;

/** Rejects with UnknownPodError. */
export async function podOf(pods: PodList, { namespace, name, uid }: PodPath, mirrorUid: MirrorUid): Promise<Pod> {
  await pods.current();
  const pod = pods.find(namespace, name);
  if (pod === undefined) throw new UnknownPodError("pod does not exist");
  if (uid === "" || uid === pod.metadata.uid) return pod;
  // Only the main thread has it; while main is stuck the pod can still be found without its UID.
  const mirror = isStaticPod(pod) ? await mirrorUid(namespace, name).catch(() => undefined) : undefined;
  if (mirror !== uid) throw new UnknownPodError("pod not found");
  return pod;
}

export function containerSpec(pod: Pod, name: string): Container | undefined {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === name);
}

export function containerStatus(pod: Pod, name: string): ApiContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return all.find((status) => status.name === name);
}

/** Their file brings all of gRPC, which a server with a runtime has loaded. */
const enumerations = () => import("../../../shared/kubernetes/cri/gen/runtime.v1.js");

/** Id of the container that runs under that name. `missing`: the text if none does. @throws OperatorError, CriError */
export async function runningContainer(
  runtime: ServedRuntime,
  pod: Pod,
  name: string,
  missing = (_pod: Pod, container: string): string => `container not found (${JSON.stringify(container)})`,
): Promise<string> {
  const { ContainerState } = await enumerations();
  const { containers } = await runtime.listContainers({
    filter: {
      state: { state: ContainerState.CONTAINER_RUNNING },
      labelSelector: { [POD_UID]: pod.metadata.uid, [CONTAINER_NAME]: name },
    },
  });
  const [newest] = containers.sort((a, b) => Number(b.createdAt - a.createdAt));
  if (newest === undefined) throw new OperatorError(missing(pod, name));
  return newest.id;
}

/** Id of the pod's sandbox that is ready. @throws OperatorError, CriError */
export async function readySandbox(runtime: ServedRuntime, pod: Pod): Promise<string> {
  const { PodSandboxState } = await enumerations();
  const { items } = await runtime.listPodSandbox({
    filter: {
      state: { state: PodSandboxState.SANDBOX_READY },
      labelSelector: { [POD_UID]: pod.metadata.uid },
    },
  });
  const [newest] = items.sort((a, b) => Number(b.createdAt - a.createdAt));
  const { name, namespace } = pod.metadata;
  if (newest === undefined) throw new OperatorError(`pod not found (${JSON.stringify(`${name}_${namespace}`)})`);
  return newest.id;
}
