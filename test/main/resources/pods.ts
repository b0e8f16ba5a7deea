// Builders of small pods for the tests of this folder.

import type { Container, Pod, PodSpec, ResourceList } from "../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";

export function container(
  name: string,
  requests?: ResourceList,
  limits?: ResourceList,
  rest?: Partial<Container>,
): Container {
  const resources = { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) };
  return { name, image: "busybox", resources, ...rest };
}

export function sidecar(name: string, requests?: ResourceList, limits?: ResourceList): Container {
  return container(name, requests, limits, { restartPolicy: "Always" });
}

export function pod(containers: Container[], spec: Partial<PodSpec> = {}, uid = "1234-ab"): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: podUid(uid) },
    spec: { containers, ...spec },
  };
}
