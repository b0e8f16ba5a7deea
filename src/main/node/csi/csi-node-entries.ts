// A driver's entry in the CSINode object, and its labels and annotations in the Node object. Pure. An object that is
// already right is returned unchanged.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { parseJson } from "../../../shared/base/text/parse-json.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";
import type { CSINode } from "../../../shared/kubernetes/api/objects.js";
import { MIGRATED_PLUGINS } from "../../volumes/csi/migrated-plugins.js";
import type { CsiNodeInfo } from "../../volumes/csi/node-port.js";

/** Clouds' own volumes that this node uses by their CSI drivers. */
const MIGRATED_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins";
const MIGRATED = Object.values(MIGRATED_PLUGINS).sort();

/** Adds the annotation that the control plane reads before it attaches a migrated volume by its CSI driver. */
export function withMigrated(object: CSINode): CSINode {
  const { annotations = {} } = object.metadata;
  const announced = (annotations[MIGRATED_ANNOTATION] ?? "").split(",").sort();
  const wanted = MIGRATED.join(",");
  if (announced.join(",") === wanted) return object;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [MIGRATED_ANNOTATION]: wanted } },
  };
}

const NODE_ID_ANNOTATION = "csi.volume.kubernetes.io/nodeid";

type Driver = NonNullable<CSINode["spec"]["drivers"]>[number];

export function withDriver(object: CSINode, name: string, info: CsiNodeInfo): CSINode {
  const entry: Driver = omitUndefined({
    name,
    nodeID: info.nodeId,
    topologyKeys: Object.keys(info.topology).sort(),
    // No limit is no field.
    allocatable: info.maxVolumes > 0 ? { count: info.maxVolumes } : undefined,
  });
  const before = driversOf(object).find((driver) => driver.name === name);
  if (before !== undefined && same(before, entry)) return object;
  const others = driversOf(object).filter((driver) => driver.name !== name);
  return { ...object, spec: { ...object.spec, drivers: [...others, entry] } };
}

export function withoutDriver(object: CSINode, name: string): CSINode {
  const before = driversOf(object);
  const drivers = before.filter((driver) => driver.name !== name);
  return drivers.length === before.length ? object : { ...object, spec: { ...object.spec, drivers } };
}

/** An empty list comes back as null. */
function driversOf(object: CSINode): Driver[] {
  return object.spec.drivers ?? [];
}

function same(a: Driver, b: Driver): boolean {
  const text = ({ nodeID, topologyKeys = [], allocatable }: Driver): string =>
    JSON.stringify([nodeID, [...topologyKeys].sort(), allocatable?.count ?? null]);
  return text(a) === text(b);
}

/** Merge patch of the node's metadata for a driver; undefined when there is nothing to change. @throws OperatorError */
export function nodePatch(node: Node, name: string, info: CsiNodeInfo): object | undefined {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(info.topology)) {
    const existing = node.metadata.labels?.[key];
    if (existing === value) continue;
    if (existing !== undefined) {
      throw new OperatorError(
        `detected topology value collision: driver reported ${quote(key)}:${quote(value)} but existing label is ${quote(key)}:${quote(existing)}`,
      );
    }
    labels[key] = value;
  }
  const ids = nodeIds(node);
  const annotations =
    ids[name] === info.nodeId ? {} : { [NODE_ID_ANNOTATION]: JSON.stringify({ ...ids, [name]: info.nodeId }) };
  return patchOf(labels, annotations);
}

/** Labels stay: other drivers may share them. */
export function nodePatchWithout(node: Node, name: string): object | undefined {
  const { [name]: gone, ...others } = nodeIds(node);
  if (gone === undefined) return undefined;
  const left = Object.keys(others).length === 0 ? null : JSON.stringify(others);
  return { metadata: { annotations: { [NODE_ID_ANNOTATION]: left } } };
}

function patchOf(labels: Record<string, string>, annotations: Record<string, string>): object | undefined {
  const metadata = omitUndefined<{ labels?: object; annotations?: object }>({
    labels: Object.keys(labels).length > 0 ? labels : undefined,
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
  });
  return Object.keys(metadata).length > 0 ? { metadata } : undefined;
}

/** Garbage counts as nothing. */
function nodeIds(node: Node): Record<string, string> {
  const text = node.metadata.annotations?.[NODE_ID_ANNOTATION];
  if (text === undefined) return {};
  try {
    const ids: unknown = parseJson(text);
    if (typeof ids !== "object" || ids === null || Array.isArray(ids)) return {};
    return Object.fromEntries(
      Object.entries(ids).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    return {};
  }
}
