// The topology manager's policies: each merges the managers' hints and decides whether the result admits the pod.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { ResourceHints } from "../assignment/resource-manager.js";
import type { MachineTopology } from "./machine-topology.js";
import { byDistance, hintOf, mergeHints, optionsOf, type Option } from "./merge-hints.js";
import { byWidth, MOST_NUMA_NODES, NumaSets, sizeOf } from "./numa-sets.js";
import type { TopologyScope, TopologyPolicy, TopologyPlace } from "./policy.js";

/** Each further node doubles the number of sets. */
const DEFAULT_MOST_NODES = 8;

export interface TopologySettings {
  topologyManagerPolicy: "best-effort" | "restricted" | "single-numa-node";
  topologyManagerScope: TopologyScope;
  /** Checked with the configuration. */
  topologyManagerPolicyOptions: Readonly<Record<string, string>>;
}

/** @throws OperatorError */
export function createTopologyPolicy(settings: TopologySettings, machine: MachineTopology): TopologyPolicy {
  const { topologyManagerPolicy: policy, topologyManagerScope: scope, topologyManagerPolicyOptions: given } = settings;
  const most = Math.min(Number(given["max-allowable-numa-nodes"] ?? DEFAULT_MOST_NODES), MOST_NUMA_NODES);
  const { numaNodes } = machine;
  if (numaNodes.length > most)
    throw new OperatorError(
      `topologyManagerPolicy ${policy} is unsupported on machines with more than ${most} NUMA Nodes, and this one has ${numaNodes.length}: ` +
        "raise topologyManagerPolicyOptions max-allowable-numa-nodes, or set the policy to none",
    );
  const sets = new NumaSets(numaNodes);
  const single = policy === "single-numa-node";
  const closest = !single && /^(1|t|true)$/i.test(given["prefer-closest-numa-nodes"] ?? "");
  const fitness = closest ? byDistance(sets) : byWidth;
  return {
    scope,
    aligns: single,
    choose(hints: readonly ResourceHints[]): TopologyPlace {
      const options = optionsOf(hints, sets);
      const merged = mergeHints(single ? options.map(onOneNode) : options, sets, fitness);
      // All nodes are no restriction, and no single node fits.
      const affinity = single && merged.set === sets.all ? undefined : hintOf(merged, sets);
      return { affinity, admit: policy === "best-effort" || merged.preferred };
    },
  };
}

function onOneNode(options: readonly Option[]): Option[] {
  return options.filter(({ set, preferred }) => preferred && (set === undefined || sizeOf(set) === 1));
}
