// The containers with exclusive CPUs, and the number of their CPUs. These are containers of Guaranteed pods that request whole CPUs, and
// those of pods with whole CPUs at pod level. Pure. Source: https://kubernetes.io/docs/tasks/administer-cluster/cpu-management-policies/
import { containerNamed } from "../../../shared/api/per-spec.js";
import { isSidecar, type Container, type Pod, containersOf } from "../../../shared/api/pod.js";
import { parseQuantity } from "../../../shared/api/quantity.js";
import { isGuaranteedByItself } from "../managers/pod-level.js";
import { qosClass } from "../qos.js";
import { union, without, type CpuSet } from "./cpu-set.js";

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

// Gate PodLevelResourceManagers, scope pod: a Guaranteed pod with a whole number of CPUs at pod level gets exclusive
// CPUs. Some of its containers get exclusive CPUs of these, the others share the rest of the pod's CPUs. Pure.
// Invariant: no container of such a pod runs on CPUs of others, and none is left without any.

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
