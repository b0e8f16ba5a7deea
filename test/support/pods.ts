// Pods for tests.

import type { Container, Pod, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";

export function container(name: string, fields: Partial<Container> = {}): Container {
  return { name, image: `registry.test/${name}:1`, imagePullPolicy: "IfNotPresent", ...fields };
}

export function pod(spec: Partial<PodSpec> = {}, name = "web", uid = `uid-${name}`): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: podUid(uid), annotations: { "kubernetes.io/config.source": "file" } },
    spec: { containers: [container("app")], restartPolicy: "Always", terminationGracePeriodSeconds: 30, ...spec },
  };
}
