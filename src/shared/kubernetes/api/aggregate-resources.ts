// Sums of the resources that a pod's containers need together. Init containers run one after the other and before the
// others, sidecars stay: the pod needs the larger of (regular + sidecars) and (each init container + sidecars started
// before it).

import { isSidecar, type Container, type PodSpec, type ResourceList } from "./pod.js";
import { addQuantities, maxQuantity, ZERO, type ExactQuantity } from "./quantity.js";

/** Resource name to exact quantity. A missing name means that no container requests the resource. */
export function aggregate(
  spec: PodSpec,
  pick: (container: Container) => ResourceList | undefined,
): Map<string, ExactQuantity> {
  const sums: Map<string, ExactQuantity> = new Map();
  for (const container of spec.containers) addInto(sums, pick(container));
  const sidecars: Map<string, ExactQuantity> = new Map();
  const initPeak: Map<string, ExactQuantity> = new Map();
  for (const container of spec.initContainers ?? []) {
    const list = pick(container);
    if (isSidecar(container)) {
      addInto(sums, list);
      addInto(sidecars, list);
      raiseTo(initPeak, sidecars);
    } else {
      const need = new Map(sidecars);
      addInto(need, list);
      raiseTo(initPeak, need);
    }
  }
  raiseTo(sums, initPeak);
  return sums;
}

function addInto(sums: Map<string, ExactQuantity>, list: ResourceList | undefined): void {
  for (const [name, quantity] of Object.entries(list ?? {}))
    sums.set(name, addQuantities(sums.get(name) ?? ZERO, quantity));
}

function raiseTo(sums: Map<string, ExactQuantity>, floor: ReadonlyMap<string, ExactQuantity>): void {
  for (const [name, quantity] of floor) sums.set(name, maxQuantity(sums.get(name) ?? ZERO, quantity));
}
