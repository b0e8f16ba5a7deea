// The node for admission, from its object in the API: the cluster decides about labels, taints and allocatable. The
// machine provides fields that the object lacks. Pure.

import type { Node } from "../../../shared/kubernetes/api/node.js";
import { type ExactQuantity, parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import type { AdmissionNode } from "./handler.js";

type FromObject = Pick<AdmissionNode, "labels" | "taints" | "allocatable">;

export function withNodeObject<T extends FromObject>(known: T, node: Node | undefined): T {
  if (node === undefined) return known;
  const { labels } = node.metadata;
  const { allocatable } = node.status ?? {};
  return {
    ...known,
    labels: labels ?? known.labels,
    taints: node.spec?.taints ?? [],
    allocatable: allocatable === undefined ? known.allocatable : withAmounts(known.allocatable, allocatable),
  };
}

function withAmounts(
  own: AdmissionNode["allocatable"],
  given: Readonly<Record<string, string | number>>,
): AdmissionNode["allocatable"] {
  const amounts = new Map<string, ExactQuantity>(own);
  for (const [name, amount] of Object.entries(given)) amounts.set(name, parseQuantity(amount));
  return amounts;
}
