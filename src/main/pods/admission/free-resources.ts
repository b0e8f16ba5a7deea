// Does the pod fit beside those that were admitted? The first resource that is short names the refusal; all that are
// short are what preemption would have to free.

import { podRequests } from "../../../shared/kubernetes/api/pod-requests.js";
import { milliValue, value, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";
import type { MissingResource } from "../../model/refusal.js";
import { withoutMissingExtended } from "./extended-resources.js";
import type { AdmissionContext, AdmissionHandler } from "./handler.js";

const NANO = 1_000_000_000n;
/** The order in which shortages are reported; others follow by name. */
const FIRST = ["cpu", "memory", "ephemeral-storage"];

interface Shortage extends MissingResource {
  message: string;
}

export const resourcesHandler: AdmissionHandler = (context) => {
  const shortages = findShortages(context);
  const [first] = shortages;
  if (first === undefined) return undefined;
  return {
    reason: `OutOf${first.resource}`,
    message: first.message,
    missing: shortages.map(({ resource, nanos }) => ({ resource, nanos })),
  };
};

export function findShortages({ pod, others, node, extendedClaim }: AdmissionContext): Shortage[] {
  const shortages: Shortage[] = [];
  const requests = podRequests(withoutMissingExtended(pod, node.allocatable, extendedClaim));
  const used = new Map<string, bigint>();
  // A pod that asks for nothing needs no sums of thousands of others.
  for (const other of requests.size === 0 ? [] : others) {
    for (const [name, { nanos }] of podRequests(other)) used.set(name, (used.get(name) ?? 0n) + nanos);
  }
  const check = (resource: string, asked: bigint, inUse: bigint, capacity: bigint): void => {
    if (asked <= 0n || asked <= capacity - inUse) return;
    shortages.push({
      resource,
      nanos: asked - (capacity - inUse),
      message:
        `Node didn't have enough resource: ${resource}, requested: ${shown(resource, asked)}, ` +
        `used: ${shown(resource, inUse)}, capacity: ${shown(resource, capacity)}`,
    });
  };
  const capacityOf = (name: string): bigint => node.allocatable.get(name)?.nanos ?? 0n;
  check("pods", NANO, BigInt(others.length) * NANO, capacityOf("pods"));
  for (const name of [...requests.keys()].sort(byOrder)) {
    check(name, requests.get(name)?.nanos ?? 0n, used.get(name) ?? 0n, capacityOf(name));
  }
  return shortages;
}

function byOrder(a: string, b: string): number {
  const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** CPU in thousandths, everything else in whole units, as upstream writes them. */
function shown(resource: string, nanos: bigint): string {
  const quantity: ExactQuantity = { nanos, format: "DecimalSI" };
  return String(resource === "cpu" ? milliValue(quantity) : value(quantity));
}
