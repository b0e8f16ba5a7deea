// The difference between two versions of the Node, as a strategic merge patch of its status subresource. That accepts
// labels and annotations, too. Merge keys are core/v1's: conditions by type; other lists are replaced.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../shared/base/text/is-record.js";
import type { ResourceList } from "../../shared/kubernetes/api/meta.js";
import type { Node, NodeCondition, NodeStatus } from "../../shared/kubernetes/api/node.js";
import { InvalidQuantityError, parseQuantity, type QuantityLike } from "../../shared/kubernetes/api/quantity.js";

type Json = Record<string, unknown>;

/** Is anything but the times of the last heartbeat another? */
export function nodeChanged(before: Node, after: Node): boolean {
  return (
    !sameMap(before.metadata.labels, after.metadata.labels) ||
    !sameMap(before.metadata.annotations, after.metadata.annotations) ||
    canonical(withoutHeartbeats(before.status)) !== canonical(withoutHeartbeats(after.status))
  );
}

/** undefined: nothing differs. Spec is never part of it: a status patch could not change it. */
export function nodePatch(before: Node, after: Node): Json | undefined {
  const metadata: Json = {
    ...mapPatch("labels", before.metadata.labels, after.metadata.labels),
    ...mapPatch("annotations", before.metadata.annotations, after.metadata.annotations),
  };
  const status = statusPatch(before.status ?? {}, after.status ?? {});
  const patch: Json = omitUndefined({
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    status: Object.keys(status).length > 0 ? status : undefined,
  });
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function statusPatch(before: NodeStatus, after: NodeStatus): Json {
  const patch: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof NodeStatus>) {
    const [old, now] = [before[key], after[key]];
    if (canonicalField(key, old) === canonicalField(key, now)) continue;
    if (now === undefined) patch[key] = null;
    else if (key === "conditions") {
      const [was, is] = [before.conditions ?? [], after.conditions ?? []];
      const changed = [...changedConditions(was, is), ...removedConditions(was, is)];
      // Their order has no meaning.
      if (changed.length > 0) patch[key] = changed;
    }
    // Addresses have a merge key, type, that is no key: two of one type are allowed. So the list is replaced whole.
    else if (key === "addresses") patch[key] = [...(after.addresses ?? []), { $patch: "replace" }];
    else if (isRecord(now)) patch[key] = diff(isRecord(old) ? old : {}, now, key);
    else patch[key] = now;
  }
  return patch;
}

function changedConditions(before: readonly NodeCondition[], after: readonly NodeCondition[]): NodeCondition[] {
  return after.filter((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    return old === undefined || canonical(old) !== canonical(condition);
  });
}

function removedConditions(before: readonly NodeCondition[], after: readonly NodeCondition[]): Json[] {
  const gone = before.filter(({ type }) => !after.some((condition) => condition.type === type));
  return gone.map(({ type }) => ({ type, $patch: "delete" }));
}

/** Members that differ; null for removed ones. */
function diff(before: Json, after: Json, field: string): Json {
  const patch: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[key], after[key]];
    if (canonicalField(field, old) === canonicalField(field, now)) continue;
    if (now === undefined) patch[key] = null;
    else patch[key] = isRecord(now) && isRecord(old) ? diff(old, now, field) : now;
  }
  return patch;
}

function mapPatch(name: string, before: Record<string, string> = {}, after: Record<string, string> = {}): Json {
  const patch = diff(before, after, name);
  return Object.keys(patch).length > 0 ? { [name]: patch } : {};
}

function sameMap(a: Record<string, string> = {}, b: Record<string, string> = {}): boolean {
  return canonical(a) === canonical(b);
}

function withoutHeartbeats(status: NodeStatus = {}): Json {
  const conditions = [...(status.conditions ?? [])]
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map((condition) => ({ ...condition, lastHeartbeatTime: undefined }));
  return {
    ...status,
    conditions,
    capacity: quantities(status.capacity),
    allocatable: quantities(status.allocatable),
  };
}

function canonicalField(field: string, value: unknown): string {
  if (field !== "capacity" && field !== "allocatable") return canonical(value);
  return canonical(
    isRecord(value) ? quantities(value as ResourceList) : value === undefined ? value : quantity(value as QuantityLike),
  );
}

function quantities(list: ResourceList = {}): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, value]) => [name, quantity(value)]));
}

/** "1000m" and "1" are one amount. */
function quantity(value: QuantityLike): string {
  try {
    return String(parseQuantity(value).nanos);
  } catch (error) {
    if (!(error instanceof InvalidQuantityError)) throw error;
    return JSON.stringify(value);
  }
}

/** Equal text for values that are equal in the API: members in any order; absent, null, [] and {} are the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "" : `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return value === undefined || value === null ? "" : JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .flatMap((key) => {
      const text = canonical(value[key]);
      return text === "" ? [] : `${JSON.stringify(key)}:${text}`;
    });
  return members.length === 0 ? "" : `{${members.join(",")}}`;
}
