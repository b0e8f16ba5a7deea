// Fills in the defaults of unset fields. As in upstream, the file of --config gets its defaults before drop-ins are
// merged over it. The result gets them again. So a drop-in's evictionHard merges with the default thresholds, and null
// in a drop-in restores a default, but for evictionHard: upstream's loader of the file sets its default, and there are
// no thresholds then. Flags are applied later, without defaulting.

import { FIELDS, type Field, type FieldPath, type FieldValue } from "../fields/fields.js";
import type { GateName } from "../gates/table.js";
import { decode, encode, isZero } from "./field-values.js";
import type { Origin } from "./origin.js";
import { FIELD_ROWS, FIELD_SHAPES } from "./shape.js";
import { at, NOTHING, treeOf, withNode, withNodes, type MapNode, type Tree } from "./tree.js";

export interface DefaultsFor {
  /** Started without --config: some fields have other defaults then. */
  readonly flagOnly: boolean;
  readonly gate: (name: GateName) => boolean;
  /** The drop-ins are in `tree`, and the defaults below them. */
  readonly isMerged?: boolean;
}

/** `tree` with a value for every field that has a default; zero means "not given" where it does upstream. */
export function withDefaults(tree: MapNode, how: DefaultsFor): MapNode {
  const missing: [FieldPath, Tree][] = [];
  for (const [path, field] of FIELD_ROWS) {
    if (givenNode(tree, path) !== undefined) continue;
    const node = derivedDefault(path, tree, how) ?? plainDefault(field, how);
    if (node !== undefined) missing.push([path, node]);
  }
  const whole = withNodes(tree, missing);
  return how.isMerged === true ? whole : withEvictionDefaults(whole);
}

/**
 * As upstream, which writes the file's configuration as JSON when it has --config-dir: that JSON has no empty lists and
 * maps, so that they get the defaults again. Drop-ins may have them.
 */
export function withoutEmptyFields(tree: MapNode): MapNode {
  const empty = FIELD_ROWS.flatMap(([path]) => (isEmpty(at(tree, path)) ? [path] : []));
  return empty.reduce(withoutNode, tree);
}

function isEmpty(node: Tree | undefined): boolean {
  return node?.kind === "list" ? node.items.length === 0 : node?.kind === "map" && node.entries.size === 0;
}

function withoutNode(tree: MapNode, path: string): MapNode {
  const [key = "", ...rest] = path.split(".");
  const entries = new Map(tree.entries);
  const child = entries.get(key);
  if (rest.length === 0) entries.delete(key);
  else if (child?.kind === "map") entries.set(key, withoutNode(child, rest.join(".")));
  return { ...tree, entries };
}

/** A field's node unless it counts as not given. */
function givenNode(tree: MapNode, path: FieldPath): Tree | undefined {
  const field: Field = FIELDS[path];
  const node = at(tree, path);
  const shape = FIELD_SHAPES.get(path);
  if (node === undefined || shape === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  return field.zeroIsDefault === true && isZero(shape, node) ? undefined : node;
}

function given<P extends FieldPath>(tree: MapNode, path: P): FieldValue<P> | undefined {
  const node = givenNode(tree, path);
  const shape = FIELD_SHAPES.get(path);
  return node === undefined || shape === undefined ? undefined : (decode(shape, node) as FieldValue<P>);
}

function plainDefault(field: Field, { flagOnly }: DefaultsFor): Tree | undefined {
  const value = flagOnly && field.flagOnlyDefault !== undefined ? field.flagOnlyDefault : field.default;
  return value === undefined ? undefined : treeOf(value, { kind: "default" });
}

/** Defaults that depend on something else. */
function derivedDefault(path: FieldPath, tree: MapNode, { gate, isMerged = false }: DefaultsFor): Tree | undefined {
  switch (path) {
    case "evictionHard":
      return isMerged ? NOTHING : undefined;
    case "nodeStatusReportFrequency": {
      const update = givenNode(tree, "nodeStatusUpdateFrequency");
      const from: Origin = { kind: "derived", from: "nodeStatusUpdateFrequency" };
      const isKnown = update !== undefined && (isMerged || update.origin.kind !== "default");
      return isKnown ? { ...update, origin: from } : undefined;
    }
    case "serializeImagePulls":
      if ((given(tree, "maxParallelImagePulls") ?? 0) < 2) return undefined;
      return treeOf(false, { kind: "derived", from: "maxParallelImagePulls" });
    case "crashLoopBackOff.maxContainerRestartPeriod":
      return gate("KubeletCrashLoopBackOffMax") ? treeOf("5m0s", { kind: "default" }) : undefined;
    case "imagePullCredentialsVerificationPolicy":
      if (!gate("KubeletEnsureSecretPulledImages")) return undefined;
      return treeOf("NeverVerifyPreloadedImages", { kind: "default" });
    default:
      return undefined;
  }
}

/** A given evictionHard replaces the whole default, unless mergeDefaultEvictionSettings adds the missing signals. */
function withEvictionDefaults(tree: MapNode): MapNode {
  const thresholds = at(tree, "evictionHard");
  if (given(tree, "mergeDefaultEvictionSettings") !== true || thresholds?.kind !== "map") return tree;
  const defaults = treeOf(FIELDS.evictionHard.default, { kind: "default" });
  if (defaults.kind !== "map") return tree;
  const entries = new Map([
    ...thresholds.entries,
    ...[...defaults.entries].filter(([key]) => !thresholds.entries.has(key)),
  ]);
  return withNode(tree, "evictionHard", { ...thresholds, entries });
}

/** Derives the remaining values from the validated configuration: the last step, after flags and rules. */
export function withDerived(tree: MapNode): MapNode {
  let derived = tree;
  if (given(tree, "cgroupsPerQOS") === true && given(tree, "cgroupRoot") === "") {
    derived = withNode(derived, "cgroupRoot", treeOf("/", { kind: "derived", from: "cgroupsPerQOS" }));
  }
  const pids = at(tree, "podPidsLimit");
  if (pids !== undefined && (given(tree, "podPidsLimit") ?? 0) < 0) {
    derived = withNode(derived, "podPidsLimit", encode({ kind: "scalar", type: "int64" }, -1, pids.origin));
  }
  return derived;
}
