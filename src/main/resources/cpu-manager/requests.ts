// The containers with exclusive CPUs, and the number of their CPUs. These are containers of Guaranteed pods that
// request whole CPUs, and those of pods with whole CPUs at pod level. Pure. Source:
// https://kubernetes.io/docs/tasks/administer-cluster/cpu-management-policies/

import { containerNamed } from "../../../shared/kubernetes/api/per-spec.js";
import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { isSidecar, type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { isGuaranteedByItself } from "../assignment/pod-level.js";

const NANO = 1_000_000_000n;

/** The number of exclusive CPUs of the container; 0: it runs in the shared pool. */
export function exclusiveCpus(pod: Pod, container: Container): number {
  return qosClass(pod) === "Guaranteed" ? wholeCpus(container.resources?.requests?.["cpu"]) : 0;
}

/** The largest number that the pod needs at one time: init containers run before the others, sidecars stay. */
export function exclusivePodCpus(pod: Pod, wanted: (container: Container) => number): number {
  let [sidecars, peak] = [0, 0];
  for (const container of pod.spec.initContainers ?? []) {
    const cpus = wanted(container);
    if (isSidecar(container)) sidecars += cpus;
    else peak = Math.max(peak, sidecars + cpus);
  }
  const apps = pod.spec.containers.reduce((sum, container) => sum + wanted(container), 0);
  return Math.max(peak, sidecars + apps);
}

/** As `exclusiveCpus` in a pod with resources as a whole: only for a container that would be Guaranteed by itself. */
export function exclusiveShare(pod: Pod, container: Container): number {
  return isGuaranteedByItself(container) ? exclusiveCpus(pod, container) : 0;
}

/** The number of CPUs that a Guaranteed pod requests at pod level; 0: none, or not a whole number. */
export function wholePodCpus(pod: Pod): number {
  const { requests, limits } = pod.spec.resources ?? {};
  return qosClass(pod) === "Guaranteed" ? wholeCpus(requests?.["cpu"] ?? limits?.["cpu"]) : 0;
}

/** Returns 0 for a quantity that is not a whole number. */
function wholeCpus(quantity: Parameters<typeof parseQuantity>[0] | undefined): number {
  const { nanos } = parseQuantity(quantity ?? 0);
  return nanos % NANO === 0n ? Number(nanos / NANO) : 0;
}

export function allContainers(pod: Pod): Container[] {
  return containersOf(pod.spec);
}

/** Does it end before the next one starts? Its CPUs are the next one's then. */
export function runsBefore(pod: Pod, name: string): boolean {
  const found = containerNamed(pod.spec, name);
  return found?.place === "init" && !isSidecar(found.container);
}
