// Hints into one place. The rules are tested as a table, and on machines of 1 to 8 NUMA nodes against every choice one
// by one.
// @promise Resources of the node: A pod's resources are on NUMA nodes that all managers agree on, or the pod is
//   rejected. single-numa-node never allocates two, best-effort never rejects.
// @with test/main/resources/managers/joined-managers.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ResourceHints, TopologyHint } from "../../../../src/main/resources/assignment/resource-manager.js";
import { createTopologyPolicy, type TopologySettings } from "../../../../src/main/resources/topology/create-policy.js";
import type { MachineTopology } from "../../../../src/main/resources/topology/machine-topology.js";
import {
  mergeHints,
  optionsOf,
  type Merged,
  type Option,
} from "../../../../src/main/resources/topology/merge-hints.js";
import { byWidth, NumaSets, sizeOf, subsets } from "../../../../src/main/resources/topology/numa-sets.js";
import { machine, machines } from "./machines.js";

const yes = (...nodes: number[]): TopologyHint => ({ nodes, preferred: true });
const no = (...nodes: number[]): TopologyHint => ({ nodes, preferred: false });
const hints = (...lists: (TopologyHint[] | undefined)[]): ResourceHints =>
  new Map(lists.map((list, index) => [`r${index}`, list]));

function policy(
  name: TopologySettings["topologyManagerPolicy"],
  on: MachineTopology = machine([{ id: 0 }, { id: 1 }]),
  options: Record<string, string> = {},
) {
  return createTopologyPolicy(
    { topologyManagerPolicy: name, topologyManagerScope: "container", topologyManagerPolicyOptions: options },
    on,
  );
}

const rows: [
  string,
  ResourceHints[],
  { bestEffort: TopologyHint; restricted: boolean; single: number | "any" | "no" },
][] = [
  ["nobody minds", [new Map(), hints(undefined)], { bestEffort: yes(0, 1), restricted: true, single: "any" }],
  ["one manager, two places", [hints([yes(0), yes(1), no(0, 1)])], { bestEffort: yes(0), restricted: true, single: 0 }],
  [
    "they agree on the second node",
    [hints([yes(0), yes(1)]), hints([yes(1), no(0, 1)])],
    { bestEffort: yes(1), restricted: true, single: 1 },
  ],
  [
    "they prefer different nodes",
    [hints([yes(0), no(0, 1)]), hints([yes(1), no(0, 1)])],
    { bestEffort: no(0), restricted: false, single: "no" },
  ],
  ["it takes both nodes", [hints([yes(0, 1)])], { bestEffort: yes(0, 1), restricted: true, single: "no" }],
  [
    "it takes both, another is happy with one",
    [hints([yes(0, 1)]), hints([yes(0), yes(1), no(0, 1)])],
    { bestEffort: no(0, 1), restricted: false, single: "no" },
  ],
  ["nowhere", [hints([])], { bestEffort: no(0, 1), restricted: false, single: "no" }],
  ["nowhere for one resource of two", [hints([yes(0)], [])], { bestEffort: no(0), restricted: false, single: "no" }],
  ["only unloved places", [hints([no(1), no(0, 1)])], { bestEffort: no(1), restricted: false, single: "no" }],
];
describe("two nodes", () => {
  for (const [what, given, { bestEffort, restricted, single }] of rows) {
    test(what, () => {
      assert.deepEqual(policy("best-effort").choose(given), { affinity: bestEffort, admit: true });
      assert.deepEqual(policy("restricted").choose(given), { affinity: bestEffort, admit: restricted });
      const one = policy("single-numa-node").choose(given);
      assert.equal(one.admit, single !== "no");
      if (typeof single === "number") assert.deepEqual(one.affinity, yes(single));
      if (single === "any") assert.equal(one.affinity, undefined);
    });
  }
});

test("nearer nodes where they are preferred, else lower ones", () => {
  const distances = [
    [10, 40, 20],
    [40, 10, 12],
    [20, 12, 10],
  ];
  const on = machine([{ id: 0 }, { id: 1 }, { id: 2 }]);
  const numaNodes = on.numaNodes.map((node, a) => ({
    ...node,
    distances: new Map(distances[a]?.map((distance, b) => [b, distance])),
  }));
  const given = [hints([yes(0, 1), yes(0, 2), yes(1, 2)])];
  const near = { "prefer-closest-numa-nodes": "true" };
  assert.deepEqual(policy("restricted", { ...on, numaNodes }).choose(given).affinity, yes(0, 1));
  assert.deepEqual(policy("restricted", { ...on, numaNodes }, near).choose(given).affinity, yes(1, 2));
});

test("more nodes than allowed are refused at the start", () => {
  const nine = machine(Array.from({ length: 9 }, (_, id) => ({ id })));
  assert.throws(() => policy("restricted", nine), { name: "OperatorError" });
  assert.ok(policy("restricted", nine, { "max-allowable-numa-nodes": "9" }));
});

const someHints = (on: MachineTopology): fc.Arbitrary<ResourceHints[]> => {
  const ids = on.numaNodes.map(({ id }) => id);
  const hint = fc.record({ nodes: fc.subarray(ids, { minLength: 1 }), preferred: fc.boolean() });
  const list = fc.option(fc.array(hint, { maxLength: 4 }), { nil: undefined });
  return fc.array(
    fc.array(list, { maxLength: 2 }).map((lists) => hints(...lists)),
    { minLength: 1, maxLength: 3 },
  );
};
const world = machines.chain((on) => someHints(on).map((given) => ({ on, given })));

/** Every choice by itself, compared as upstream's rules have it. */
function oneByOne(options: readonly Option[][], sets: NumaSets): Merged {
  let all: Option[][] = [[]];
  for (const list of options) all = all.flatMap((begun) => list.map((option) => [...begun, option]));
  const wide = Math.max(
    0,
    ...options
      .map((list) =>
        list.reduce((least, { set }) => (set === undefined ? least : Math.min(least, sizeOf(set))), Infinity),
      )
      .filter(Number.isFinite),
  );
  let best: Merged | undefined;
  for (const choice of all) {
    const named = choice.flatMap(({ set }) => (set === undefined ? [] : [set]));
    const set = named.reduce((a, b) => a & b, sets.all);
    const preferred = choice.every((option) => option.preferred) && named.every((one) => one === named[0]);
    if (set === 0) continue;
    if (best === undefined || better({ set, preferred }, best, wide)) best = { set, preferred };
  }
  return best ?? { set: sets.all, preferred: false };
}

function better(candidate: Merged, current: Merged, wide: number): boolean {
  if (candidate.preferred !== current.preferred) return candidate.preferred;
  const fitter = byWidth(candidate.set, current.set) < 0;
  if (candidate.preferred) return fitter;
  const [has, gets] = [sizeOf(current.set), sizeOf(candidate.set)];
  if (has > wide) return fitter;
  if (has === wide) return gets === wide && fitter;
  if (gets > wide) return false;
  return gets === has ? fitter : gets > has;
}

describe("on made-up machines", () => {
  test("the outcome is that of every choice looked at by itself", () => {
    fc.assert(
      fc.property(world, ({ on, given }) => {
        const sets = new NumaSets(on.numaNodes);
        const options = optionsOf(given, sets);
        assert.deepEqual(mergeHints(options, sets, byWidth), oneByOne(options, sets));
      }),
      { numRuns: 200 },
    );
  });

  test("the order of managers and of hints changes nothing", () => {
    fc.assert(
      fc.property(world, ({ on, given }) => {
        const sets = new NumaSets(on.numaNodes);
        const options = optionsOf(given, sets);
        const turned = options.toReversed().map((list) => list.toReversed());
        assert.deepEqual(mergeHints(options, sets, byWidth), mergeHints(turned, sets, byWidth));
      }),
      { numRuns: 200 },
    );
  });

  test("best-effort never rejects; restricted accepts only sets that all prefer; single never two nodes", () => {
    fc.assert(
      fc.property(world, ({ on, given }) => {
        const ids = on.numaNodes.map(({ id }) => id);
        const lists = given.flatMap((of) => [...of.values()]);
        const loose = policy("best-effort", on).choose(given);
        assert.equal(loose.admit, true);
        assert.ok(loose.affinity?.nodes.every((id) => ids.includes(id)) && loose.affinity.nodes.length > 0);
        const strict = policy("restricted", on).choose(given);
        if (strict.admit) {
          for (const list of lists) {
            if (list === undefined) continue;
            const nodes = JSON.stringify(strict.affinity?.nodes);
            assert.ok(list.some((hint) => hint.preferred && JSON.stringify(hint.nodes) === nodes));
          }
        }
        const single = policy("single-numa-node", on).choose(given);
        assert.ok(!single.admit || (single.affinity?.nodes.length ?? 1) === 1);
        if (single.admit && lists.some((list) => list !== undefined)) {
          const node = single.affinity?.nodes[0] ?? ids[0];
          for (const list of lists) {
            assert.ok(
              list === undefined || list.some(({ nodes, preferred }) => preferred && nodes.join() === `${node}`),
            );
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test("eight nodes and a dozen resources, each with every place: followed without trying all choices", () => {
    const on = machine(Array.from({ length: 8 }, (_, id) => ({ id })));
    const every = subsets(on.numaNodes.map(({ id }) => id)).map((nodes) => ({ nodes, preferred: nodes.length === 2 }));
    const given = Array.from({ length: 12 }, () => hints(every));
    assert.deepEqual(policy("restricted", on).choose(given), { affinity: yes(0, 1), admit: true });
  });
});

test("subsets: each once, narrow ones first", () => {
  assert.deepEqual(subsets([1, 3, 4]), [[1], [3], [4], [1, 3], [1, 4], [3, 4], [1, 3, 4]]);
});
