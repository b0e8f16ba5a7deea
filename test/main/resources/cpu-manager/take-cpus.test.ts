// Which CPUs a request gets: what always holds on any machine, and the shape of the answer on some.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ascending } from "../../../../src/main/resources/cpu-manager/cpu-set.js";
import { CpuTopology } from "../../../../src/main/resources/cpu-manager/cpu-topology.js";
import { takePacked, type PackOptions } from "../../../../src/main/resources/cpu-manager/take-cpus.js";
import { takeDistributed } from "../../../../src/main/resources/cpu-manager/take-distributed.js";
import { parseCpuList, printCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import { anyShape, machine, type MachineShape } from "./machines.js";

const RUNS = { numRuns: 200 };
const anyRequest = anyShape.chain((shape) => {
  const topology = new CpuTopology(machine(shape));
  return fc.record({
    topology: fc.constant(topology),
    free: fc.subarray(ascending(topology.all)).map((cpus) => new Set(cpus)),
    count: fc.integer({ min: 0, max: topology.all.size + 1 }),
    options: fc.record({ acrossCores: fc.boolean(), alignUncoreCache: fc.boolean() }),
    distributed: fc.boolean(),
  });
});

describe("on any machine", () => {
  test("as many free CPUs as requested, or none", () => {
    const property = fc.property(anyRequest, ({ topology, free, count, options, distributed }) => {
      const taken = distributed
        ? takeDistributed(topology, free, count, 1, options)
        : takePacked(topology, free, count, options);
      if (count > free.size) return taken === undefined;
      return taken?.size === count && [...taken].every((cpu) => free.has(cpu));
    });
    fc.assert(property, RUNS);
  });

  test("on an empty machine no core is shared out that need not be, and no more sockets or nodes than must be", () => {
    const property = fc.property(anyShape, fc.nat(), (shape, seed) => {
      const topology = new CpuTopology(machine(shape));
      const count = 1 + (seed % topology.all.size);
      const taken = takePacked(topology, topology.all, count) ?? new Set<number>();
      const least = (kind: "core" | "socket" | "numaNode"): number => Math.ceil(count / topology.members(kind, 0).size);
      for (const kind of ["core", "socket", "numaNode"] as const) {
        assert.equal(topology.groupsOf(kind, taken).length, least(kind), `${kind}: ${printCpuList(taken)}`);
      }
    });
    fc.assert(property, RUNS);
  });

  test("whole cores stay whole as long as requests are whole cores", () => {
    const whole = fc.record({ shape: anyShape, requests: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 8 }) });
    const property = fc.property(whole, fc.boolean(), ({ shape, requests }, distributed) => {
      const topology = new CpuTopology(machine(shape));
      let free = topology.all;
      for (const cores of requests) {
        const count = cores * topology.cpusPerCore;
        const taken = distributed
          ? takeDistributed(topology, free, count, topology.cpusPerCore)
          : takePacked(topology, free, count);
        if (taken === undefined) continue;
        assert.equal(topology.groupsOf("core", taken).length, cores);
        free = new Set([...free].filter((cpu) => !taken.has(cpu)));
      }
    });
    fc.assert(property, RUNS);
  });

  test("distributed: parts of the nodes used differ by one CPU at most, when all are free", () => {
    const property = fc.property(anyShape, fc.nat(), (shape, seed) => {
      const topology = new CpuTopology(machine(shape));
      const count = 1 + (seed % topology.all.size);
      const taken = takeDistributed(topology, topology.all, count, 1) ?? new Set<number>();
      const parts = topology.groupsOf("numaNode", taken).map((id) => {
        return [...topology.members("numaNode", id)].filter((cpu) => taken.has(cpu)).length;
      });
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 1, printCpuList(taken));
      assert.equal(parts.length, Math.ceil(count / topology.members("numaNode", 0).size));
    });
    fc.assert(property, RUNS);
  });
});

/** Two sockets of four cores; cores 0–7, their second threads 8–15. */
const TWO_SOCKETS: MachineShape = { sockets: 2, numaNodes: 1, coresPerNode: 4, threads: 2 };
/** One socket of two nodes of four cores in caches of two; second threads 8–15. */
const TWO_NODES: MachineShape = { sockets: 1, numaNodes: 2, coresPerNode: 4, threads: 2, coresPerCache: 2 };
const NO_SMT: MachineShape = { sockets: 1, numaNodes: 1, coresPerNode: 8, threads: 1, coresPerCache: 4 };

interface Row {
  name: string;
  shape: MachineShape;
  free?: string;
  count: number;
  options?: PackOptions;
  taken: string;
}
const table: Row[] = [
  { name: "a core, the first one", shape: TWO_SOCKETS, count: 2, taken: "0,8" },
  {
    name: "a whole socket though another one was begun",
    shape: TWO_SOCKETS,
    free: "1-15",
    count: 8,
    taken: "4-7,12-15",
  },
  {
    name: "the socket that is fuller, so that the other stays whole",
    shape: TWO_SOCKETS,
    free: "0-5,8-15",
    count: 4,
    taken: "4-5,12-13",
  },
  {
    name: "the socket that holds all, though a core of the other would be free",
    shape: TWO_SOCKETS,
    free: "0,4-8,12-15",
    count: 4,
    taken: "4-5,12-13",
  },
  {
    name: "not the fuller one when its cores do not hold all",
    shape: TWO_SOCKETS,
    free: "0-4,8-12,14-15",
    count: 4,
    taken: "0-1,8-9",
  },
  { name: "a thread of a core that is in use", shape: TWO_SOCKETS, free: "1-7,8-15", count: 1, taken: "8" },
  { name: "an odd request: cores, then a thread", shape: TWO_SOCKETS, count: 3, taken: "0-1,8" },
  { name: "a socket and a core of the other", shape: TWO_SOCKETS, count: 10, taken: "0-4,8-12" },
  { name: "a node of the socket", shape: TWO_NODES, count: 8, taken: "0-3,8-11" },
  {
    name: "near what the request has",
    shape: TWO_SOCKETS,
    free: "1-7,9-15",
    count: 2,
    options: { near: new Set([4]) },
    taken: "4,12",
  },
  {
    name: "across cores: one thread of each",
    shape: TWO_SOCKETS,
    count: 4,
    options: { acrossCores: true },
    taken: "0-3",
  },
  {
    name: "across cores: second threads when there are no more cores",
    shape: NO_SMT,
    free: "2-7",
    count: 6,
    options: { acrossCores: true },
    taken: "2-7",
  },
  {
    name: "cache: the first group that holds it, not a part of two",
    shape: TWO_NODES,
    free: "1-7,9-15",
    count: 4,
    options: { alignUncoreCache: true },
    taken: "2-3,10-11",
  },
  {
    name: "cache: whole groups, then a part of one",
    shape: NO_SMT,
    count: 6,
    options: { alignUncoreCache: true },
    taken: "0-5",
  },
  {
    name: "cache: no group holds it, so anything near",
    shape: NO_SMT,
    free: "1-3,5-7",
    count: 4,
    options: { alignUncoreCache: true },
    taken: "1-3,5",
  },
];
describe("packed", () => {
  for (const { name, shape, free, count, options, taken } of table) {
    test(name, () => {
      const topology = new CpuTopology(machine(shape));
      const cpus = free === undefined ? topology.all : new Set(parseCpuList(free));
      assert.equal(printCpuList(takePacked(topology, cpus, count, options) ?? []), taken);
    });
  }
});

describe("distributed", () => {
  const rows: [name: string, free: string, count: number, group: number, taken: string][] = [
    ["one node serves it", "0-15", 4, 1, "0-1,8-9"],
    ["two nodes give the same", "0-15", 10, 1, "0-2,4-6,8-9,12-13"],
    ["in whole cores, one node gives one more", "0-15", 10, 2, "0-2,4-5,8-10,12-13"],
    ["no even parts: packed", "0-3,8-11,4-5", 10, 1, "0-5,8-11"],
  ];
  for (const [name, free, count, group, taken] of rows) {
    test(name, () => {
      const topology = new CpuTopology(machine({ sockets: 1, numaNodes: 2, coresPerNode: 4, threads: 2 }));
      assert.equal(printCpuList(takeDistributed(topology, new Set(parseCpuList(free)), count, group) ?? []), taken);
    });
  }
});
