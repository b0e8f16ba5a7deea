// Values of a whole pod that the work on each of its containers needs, computed once per spec. A pod may have ten
// thousand containers.
// Invariant: a spec never changes; another version of the pod has another spec.

import { oncePer } from "../../base/objects/once-per.js";
import type { Container, PodSpec } from "./pod.js";

/** `compute` runs once per spec, and again only if it threw. */
export function perSpec<T>(compute: (spec: PodSpec) => T): (spec: PodSpec) => T {
  return oncePer(compute);
}

type ContainerPlace = "init" | "app" | "ephemeral";

interface NamedContainer {
  readonly container: Container;
  readonly place: ContainerPlace;
}

const named = perSpec((spec): ReadonlyMap<string, NamedContainer> => {
  const all = new Map<string, NamedContainer>();
  const add = (containers: readonly Container[] | undefined, place: ContainerPlace): void => {
    for (const container of containers ?? [])
      if (!all.has(container.name)) all.set(container.name, { container, place });
  };
  add(spec.initContainers, "init");
  add(spec.ephemeralContainers, "ephemeral");
  add(spec.containers, "app");
  return all;
});

/** The container of this name, and the list of the spec that it is in. */
export function containerNamed(spec: PodSpec, name: string): NamedContainer | undefined {
  return named(spec).get(name);
}
