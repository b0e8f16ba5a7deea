// The owners of CPUs: the shared pool and each container's own, in memory and on disk.
// Invariant: an exclusive CPU is in no other pod's set and not in the shared pool; together they are all CPUs that
// pods may run on. Changes only through assign and release.

import { printCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { type CpuAssignments } from "./checkpoint.js";
import { common, NO_CPUS, sameCpus, union, without, type CpuSet } from "./cpu-set.js";

export class CpuState {
  private readonly containers = new Map<PodUid, Map<string, CpuSet>>();
  private readonly wholePods = new Map<PodUid, CpuSet>();

  constructor(public shared: CpuSet) {}

  static of({ shared, exclusive, pods }: Omit<CpuAssignments, "policyName">): CpuState {
    const state = new CpuState(shared);
    for (const [uid, containers] of exclusive) state.containers.set(uid, new Map(containers));
    for (const [uid, cpus] of pods ?? []) state.wholePods.set(uid, cpus);
    return state;
  }

  get exclusive(): ReadonlyMap<PodUid, ReadonlyMap<string, CpuSet>> {
    return this.containers;
  }

  /** Pods that have CPUs as a whole. */
  get pods(): ReadonlyMap<PodUid, CpuSet> {
    return this.wholePods;
  }

  /** Pods that have any. */
  get uids(): PodUid[] {
    return [...new Set([...this.containers.keys(), ...this.wholePods.keys()])];
  }

  /** All CPUs that are assigned exclusively to a container or pod. */
  get taken(): CpuSet {
    return union(...this.uids.map((uid) => this.ofPod(uid)));
  }

  of(uid: PodUid, container: string): CpuSet | undefined {
    return this.containers.get(uid)?.get(container);
  }

  ofPod(uid: PodUid): CpuSet {
    return union(this.wholePods.get(uid) ?? [], ...(this.containers.get(uid)?.values() ?? []));
  }

  assign(uid: PodUid, container: string, cpus: CpuSet): void {
    const containers = this.containers.get(uid) ?? new Map<string, CpuSet>();
    containers.set(container, cpus);
    this.containers.set(uid, containers);
    this.shared = without(this.shared, cpus);
  }

  /** The pod has `cpus` as a whole, its containers parts of it. */
  assignPod(uid: PodUid, cpus: CpuSet, containers: ReadonlyMap<string, CpuSet>): void {
    this.wholePods.set(uid, cpus);
    this.containers.set(uid, new Map(containers));
    this.shared = without(this.shared, cpus);
  }

  /** False: it had none. */
  release(uid: PodUid): boolean {
    const cpus = this.ofPod(uid);
    const had = this.containers.delete(uid);
    if (!this.wholePods.delete(uid) && !had) return false;
    this.shared = union(this.shared, cpus);
    return true;
  }
}

/** The bounds of a state: the CPUs that pods may run on, and the reserved ones among them. */
export interface StateBounds {
  /** Without the reserved CPUs under strict reservation. */
  usable: CpuSet;
  reserved: CpuSet;
  strict: boolean;
}

/** Why the kept state cannot be used; undefined: it can. */
export function stateProblem(state: CpuState, { usable, reserved, strict }: StateBounds): string | undefined {
  const { shared } = state;
  const print = (cpus: CpuSet): string => JSON.stringify(printCpuList(cpus));
  // Strict reservation leaves nothing shared once all the rest is handed out.
  if (shared.size === 0 && !strict) return "default cpuset cannot be empty";
  const reservedShared = common(reserved, shared);
  if (strict && reservedShared.size > 0) {
    return `some of strictly reserved cpus: ${print(reservedShared)} are present in defaultCpuSet: ${print(shared)}`;
  }
  if (!strict && reservedShared.size < reserved.size) {
    return `not all reserved cpus: ${print(reserved)} are present in defaultCpuSet: ${print(shared)}`;
  }
  let others = NO_CPUS;
  for (const uid of state.uids) {
    for (const [name, cpus] of state.exclusive.get(uid) ?? []) {
      if (common(cpus, shared).size > 0) {
        return `pod: ${uid}, container: ${name} cpuset: ${print(cpus)} overlaps with default cpuset ${print(shared)}`;
      }
    }
    const own = state.ofPod(uid);
    if (common(own, others).size > 0) return `pod: ${uid} has CPUs of other pods: ${print(common(own, others))}`;
    others = union(others, own);
  }
  const known = union(shared, others);
  if (sameCpus(known, usable)) return undefined;
  return `current set of available CPUs ${print(usable)} doesn't match with CPUs in state ${print(known)}`;
}
