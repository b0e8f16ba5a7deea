// Topology hints for a request for CPUs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ascending, common } from "../../../../src/main/resources/cpu-manager/cpu-set.js";
import { CpuTopology } from "../../../../src/main/resources/cpu-manager/cpu-topology.js";
import { cpuHints, type HintOptions } from "../../../../src/main/resources/cpu-manager/hints.js";
import { parseCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import { anyShape, machine } from "./machines.js";

test("on any machine: each set of nodes that has enough, once; the narrowest possible are preferred", () => {
  const anything = anyShape.chain((shape) => {
    const topology = new CpuTopology(machine(shape));
    const free = fc.subarray(ascending(topology.all)).map((cpus) => new Set(cpus));
    const count = fc.integer({ min: 1, max: topology.all.size });
    return fc.record({ topology: fc.constant(topology), free, count });
  });
  const property = fc.property(anything, ({ topology, free, count }) => {
    const hints = cpuHints(topology, free, count);
    const inside = (nodes: readonly number[]): number =>
      nodes.reduce((sum, id) => sum + common(topology.members("numaNode", id), free).size, 0);
    assert.equal(new Set(hints.map(({ nodes }) => nodes.join())).size, hints.length);
    for (const { nodes, preferred } of hints) {
      assert.ok(inside(nodes) >= count);
      assert.deepEqual([...nodes], ascending(nodes));
      assert.equal(preferred, nodes.length === Math.ceil(count / topology.members("numaNode", 0).size));
    }
    assert.equal(hints.length > 0, free.size >= count);
  });
  fc.assert(property, { numRuns: 200 });
});

/** Four nodes on two sockets, two CPUs each. */
const topology = new CpuTopology(machine({ sockets: 2, numaNodes: 2, coresPerNode: 2, threads: 1 }));
interface Row {
  name: string;
  free: string;
  count: number;
  options?: HintOptions;
  preferred: string[];
  others: string[];
}
const table: Row[] = [
  {
    name: "two nodes would be enough, but only three have room: none is preferred",
    free: "1,3-4",
    count: 3,
    preferred: [],
    others: ["0,1,2", "0,1,2,3"],
  },
  { name: "nothing is free", free: "", count: 1, preferred: [], others: [] },
  {
    name: "what the pod has already must be in it",
    free: "0-3",
    count: 2,
    options: { reusable: new Set([2]) },
    preferred: ["1"],
    others: ["0,1", "1,2", "1,3", "0,1,2", "0,1,3", "1,2,3", "0,1,2,3"],
  },
  {
    name: "by socket: a whole socket is as good as one of its nodes",
    free: "0,2-3,4-7",
    count: 2,
    options: { alignBySocket: true },
    preferred: ["1", "2", "3", "0,1", "2,3"],
    others: ["0,2", "0,3", "1,2", "1,3", "0,1,2", "0,1,3", "0,2,3", "1,2,3", "0,1,2,3"],
  },
];
describe("on two sockets of two nodes of two CPUs", () => {
  for (const { name, free, count, options, preferred, others } of table) {
    test(name, () => {
      const hints = cpuHints(topology, new Set(parseCpuList(free)), count, options);
      const shown = (wanted: boolean): string[] =>
        hints.filter((hint) => hint.preferred === wanted).map(({ nodes }) => nodes.join());
      assert.deepEqual(shown(true).sort(), preferred.toSorted());
      assert.deepEqual(shown(false).sort(), others.toSorted());
    });
  }
});
