// The QoS class, which the server writes into the status of a new pod.

import { fieldsAt, isFields, listAt, type Fields } from "./object.js";
import { isQuantity, nanosOf } from "./quantities.js";

const COUNTED = ["cpu", "memory"];

export function qosClass(spec: Fields): "Guaranteed" | "Burstable" | "BestEffort" {
  const podLevel = spec["resources"];
  const parts = isFields(podLevel)
    ? [podLevel]
    : [...listAt(spec, "initContainers"), ...listAt(spec, "containers")].map((one) => fieldsAt(one, "resources"));
  const requests = new Map<string, bigint>();
  const limits = new Map<string, bigint>();
  let everyLimit = true;
  for (const part of parts) {
    add(requests, fieldsAt(part, "requests"));
    everyLimit = add(limits, fieldsAt(part, "limits")) === COUNTED.length && everyLimit;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const equal = [...requests].every(([name, amount]) => limits.get(name) === amount);
  return everyLimit && equal && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

/** Adds the amounts above zero; how many there were. */
function add(sums: Map<string, bigint>, amounts: Fields): number {
  let count = 0;
  for (const name of COUNTED) {
    const written = amounts[name];
    if (!isQuantity(written) || nanosOf(written) <= 0n) continue;
    sums.set(name, (sums.get(name) ?? 0n) + nanosOf(written));
    count++;
  }
  return count;
}
