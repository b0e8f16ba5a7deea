// Gate PodLevelResourceManagers, scope pod: a Guaranteed pod with a whole number of CPUs at pod level gets exclusive
// CPUs. Some of its containers get exclusive CPUs of these, the others share the rest of the pod's CPUs. Pure.
// Invariant: no container of such a pod runs on CPUs of others, and none is left without any.

import { containersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container, type Pod, isSidecar } from "../../../shared/kubernetes/api/pod.js";
import { type CpuSet, union, without } from "./cpu-set.js";

/** The number of exclusive CPUs that a container requests; 0: it shares. */
type CpusWanted = (container: Container) => number;

/** The reason why the pod's CPUs can't be divided; undefined: they can. Init containers run one after the other. */
export function podPoolProblem({ spec }: Pod, total: number, wanted: CpusWanted): string | undefined {
  let stays = 0;
  let sharers = false;
  for (const container of spec.initContainers ?? []) {
    const cpus = wanted(container);
    const left = total - stays;
    if (isSidecar(container)) {
      stays += cpus;
      sharers ||= cpus === 0;
    } else if (cpus > left) {
      return `pod rejected, largest exclusive init container requests ${cpus} cpus, but only ${left} available`;
    } else if (cpus === 0 && left <= 0) {
      return "pod rejected, pod has shared init containers but no cpus available for them";
    }
  }
  for (const container of spec.containers) {
    const cpus = wanted(container);
    stays += cpus;
    sharers ||= cpus === 0;
  }
  if (!sharers || stays < total) return undefined;
  return "pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers";
}

/** Container to its CPUs. Undefined when they are not enough. */
export function shareOut(
  { spec }: Pod,
  cpus: CpuSet,
  wanted: CpusWanted,
  take: (free: CpuSet, count: number) => CpuSet | undefined,
): Map<string, CpuSet> | undefined {
  const shares = new Map<string, CpuSet>();
  const sharers: string[] = [];
  let free = cpus;
  const inits = new Set(spec.initContainers);
  for (const container of containersOf(spec)) {
    const count = wanted(container);
    const ends = inits.has(container) && !isSidecar(container);
    if (count === 0 && !ends) {
      sharers.push(container.name);
      continue;
    }
    const own = count === 0 ? free : take(free, count);
    if (own === undefined) return undefined;
    shares.set(container.name, union(own));
    if (!ends) free = without(free, own);
  }
  for (const name of sharers) shares.set(name, free);
  return shares;
}
