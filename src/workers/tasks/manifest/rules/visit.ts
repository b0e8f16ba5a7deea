// Iterates over a checked but possibly incomplete pod. Refused items are undefined in their lists and are skipped;
// every item comes with its path in the manifest.

import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import type { Container, Pod } from "../../../../shared/kubernetes/api/pod.js";

/** The items of a list that survived the schema, with their paths. */
export function* items<T>(list: readonly (T | undefined)[] | undefined, path: FieldPath): Generator<[T, FieldPath]> {
  for (const [index, item] of (list ?? []).entries()) {
    if (item !== undefined) yield [item, [...path, index]];
  }
}

type ContainerKind = "containers" | "initContainers" | "ephemeralContainers";
export interface VisitedContainer {
  container: Container;
  kind: ContainerKind;
  path: FieldPath;
}

/** All containers in the order init, app, ephemeral. */
export function* containersOf(pod: Pod): Generator<VisitedContainer> {
  for (const kind of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [container, path] of items(pod.spec[kind], ["spec", kind])) yield { container, kind, path };
  }
}

/** A checked item whose required members may have been refused. */
export function incomplete<T extends object>(item: T): Partial<T> {
  return item;
}

/** Names of those members that are set. */
export function membersSet<T extends object>(value: T, names: readonly (keyof T & string)[]): (keyof T & string)[] {
  return names.filter((name) => value[name] !== undefined);
}
