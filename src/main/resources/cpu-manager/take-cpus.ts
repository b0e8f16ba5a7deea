// The CPUs of a request, close together. Whole sockets and NUMA nodes come first, then whole cache groups if
// configured, then whole cores. Single threads come last, on cores that are already in use. Among places of the same
// kind the smallest one that fits is taken, so that large free places stay large.
// Invariant: the result has exactly `count` CPUs of `free`, or there is none. Pure.

import { common, NO_CPUS, union, without, type CpuSet } from "./cpu-set.js";
import type { CpuGroup, CpuTopology } from "./cpu-topology.js";

export interface PackOptions {
  /** distribute-cpus-across-cores: threads of as many cores as there are, rather than whole cores. */
  acrossCores?: boolean;
  /** prefer-align-cpus-by-uncorecache */
  alignUncoreCache?: boolean;
  /** CPUs that the request has already: more are looked for near them. */
  near?: CpuSet;
}

/** Undefined when `free` has fewer than `count`. */
export function takePacked(
  topology: CpuTopology,
  free: CpuSet,
  count: number,
  options: PackOptions = {},
): CpuSet | undefined {
  if (count > free.size) return undefined;
  const packing = new Packing(topology, free, count, options.near ?? NO_CPUS);
  for (const kind of packing.levels) packing.wholeGroups(kind);
  if (options.alignUncoreCache === true) packing.cacheGroups();
  if (options.acrossCores === true) packing.acrossCores();
  else {
    packing.wholeCores();
    packing.threads();
  }
  return packing.taken;
}

class Packing {
  taken: CpuSet = NO_CPUS;
  /** The larger of sockets and NUMA nodes first: either may hold several of the other. */
  readonly levels: readonly ["numaNode" | "socket", "numaNode" | "socket"];

  constructor(
    private readonly topology: CpuTopology,
    private free: CpuSet,
    private readonly count: number,
    private readonly near: CpuSet,
  ) {
    const largeNodes = topology.ids("socket").length >= topology.ids("numaNode").length;
    this.levels = largeNodes ? ["numaNode", "socket"] : ["socket", "numaNode"];
  }

  private get needed(): number {
    return this.count - this.taken.size;
  }

  wholeGroups(kind: CpuGroup): void {
    for (const id of this.topology.ids(kind)) this.takeWhole(this.topology.members(kind, id));
  }

  /**
   * Whole groups of a cache in their order; the rest from the first one that holds it, in whole cores if it is even.
   */
  cacheGroups(): void {
    this.wholeGroups("uncoreCache");
    if (this.needed === 0) return;
    for (const id of this.topology.ids("uncoreCache")) {
      const free = common(this.free, this.topology.members("uncoreCache", id));
      const inCores = this.needed % this.topology.cpusPerCore === 0;
      if ((inCores ? this.inFreeCores(free) : free).size < this.needed) continue;
      const part = takePacked(this.topology, inCores ? this.inFreeCores(free) : free, this.needed);
      if (part !== undefined) this.take(part);
      return;
    }
  }

  wholeCores(): void {
    for (const place of this.places()) {
      for (const core of this.topology.groupsOf("core", place)) this.takeWhole(this.topology.members("core", core));
    }
  }

  threads(): void {
    for (const place of this.places()) {
      const left = (core: number): number => common(this.topology.members("core", core), this.free).size;
      const cores = this.topology.groupsOf("core", place).sort((a, b) => left(a) - left(b) || a - b);
      for (const core of cores) this.takeSome(common(this.topology.members("core", core), place));
    }
  }

  /** One thread of every core, then a second one, those of untouched cores first. */
  acrossCores(): void {
    for (const place of this.places()) {
      const cores = this.topology.groupsOf("core", place).map((id) => {
        const members = this.topology.members("core", id);
        return { id, used: members.size - common(members, this.free).size, free: [...common(members, place)] };
      });
      const turns = cores.flatMap(({ id, used, free }) => free.map((cpu, at) => ({ id, cpu, turn: used + at })));
      for (const { cpu } of turns.sort((a, b) => a.turn - b.turn || a.id - b.id)) this.takeSome([cpu]);
    }
  }

  /** Free CPUs, by the smaller level within the larger one, the best place first. */
  private places(): CpuSet[] {
    const [outer, inner] = this.levels;
    return this.ranked(outer, this.free).flatMap((place) => this.ranked(inner, place));
  }

  /**
   * The groups that have enough free CPUs come first, the smallest of them before larger ones; then the groups with
   * most free CPUs.
   */
  private ranked(kind: CpuGroup, within: CpuSet): CpuSet[] {
    const { topology, needed } = this;
    const having = union(this.near, this.taken);
    const wholeNeeded = needed - (needed % topology.cpusPerCore);
    const places = topology.groupsOf(kind, within).map((id) => {
      const members = topology.members(kind, id);
      const free = common(within, members);
      const fits = free.size >= needed && this.inFreeCores(free).size >= wholeNeeded;
      return { id, free, fits, near: common(members, having).size > 0 };
    });
    places.sort(
      (a, b) =>
        Number(b.fits) - Number(a.fits) ||
        Number(b.near) - Number(a.near) ||
        (a.fits ? a.free.size - b.free.size : b.free.size - a.free.size) ||
        a.id - b.id,
    );
    return places.map(({ free }) => free);
  }

  private inFreeCores(cpus: CpuSet): CpuSet {
    const { topology } = this;
    const whole = topology.groupsOf("core", cpus).map((id) => topology.members("core", id));
    return union(...whole.filter((members) => without(members, cpus).size === 0));
  }

  private takeWhole(group: CpuSet): void {
    if (group.size <= this.needed && without(group, this.free).size === 0) this.take(group);
  }

  private takeSome(cpus: Iterable<number>): void {
    this.take(new Set([...cpus].slice(0, this.needed)));
  }

  private take(cpus: CpuSet): void {
    this.taken = union(this.taken, cpus);
    this.free = without(this.free, cpus);
  }
}
