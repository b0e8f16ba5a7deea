// A node and pods for admission tests.

import type { AdmissionTurn } from "../../../../src/main/pods/admission/admission-turns.js";
import type { AdmissionContext, AdmissionNode } from "../../../../src/main/pods/admission/handler.js";
import { nodeCapacity } from "../../../../src/main/resources/node-capacity.js";
import type { Pod, PodSpec, ResourceList } from "../../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../../support/pods.js";

/** For an admission without waiting pods. */
export const alone: AdmissionTurn = { leave: (wait) => wait() };

export function admissionNode(fields: Partial<AdmissionNode> = {}): AdmissionNode {
  return {
    name: "node-1",
    labels: { "kubernetes.io/hostname": "node-1", "kubernetes.io/os": "linux", zone: "a", rank: "7" },
    allocatable: nodeCapacity({
      cpuCount: 2,
      memoryBytes: 4n << 30n,
      storageBytes: 100n << 30n,
      maxPods: 5,
      hugePages: new Map([[2n << 20n, 64n << 20n]]),
    }),
    taints: [],
    pressures: [],
    shuttingDown: false,
    kernel: [6, 1],
    allowedUnsafeSysctls: [],
    appArmorProblem: undefined,
    supplementalGroupsPolicy: true,
    podLevelResources: true,
    declaredFeatures: [],
    ...fields,
  };
}

export function apiPod(spec: Partial<PodSpec> = {}, name = "web"): Pod {
  const made = pod(spec, name);
  return { ...made, metadata: { ...made.metadata, annotations: { "kubernetes.io/config.source": "api" } } };
}

export function requesting(requests: ResourceList, name = "web", spec: Partial<PodSpec> = {}): Pod {
  return apiPod({ containers: [container("app", { resources: { requests } })], ...spec }, name);
}

export function context(
  given: Pod,
  fields: Partial<AdmissionNode> = {},
  others: readonly Pod[] = [],
): AdmissionContext {
  return { pod: given, others, node: admissionNode(fields) };
}
