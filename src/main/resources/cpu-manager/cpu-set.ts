// Sets of logical CPUs. All functions are pure; sets are never changed in place.

export type CpuSet = ReadonlySet<number>;

export const NO_CPUS: CpuSet = new Set();

export function union(...sets: readonly Iterable<number>[]): CpuSet {
  return new Set(sets.flatMap((set) => [...set]));
}

/** The CPUs of `set` that are not in `others`. */
export function without(set: Iterable<number>, ...others: readonly CpuSet[]): CpuSet {
  return new Set([...set].filter((cpu) => !others.some((other) => other.has(cpu))));
}

export function common(set: Iterable<number>, other: CpuSet): CpuSet {
  return new Set([...set].filter((cpu) => other.has(cpu)));
}

export function sameCpus(a: CpuSet, b: CpuSet): boolean {
  return a.size === b.size && without(a, b).size === 0;
}

export function ascending(set: Iterable<number>): number[] {
  return [...set].sort((a, b) => a - b);
}
