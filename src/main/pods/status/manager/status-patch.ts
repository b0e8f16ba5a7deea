// The strategic merge patch from the API server's status to the kubelet's. It has only differences, list elements by
// their merge keys, and no fields that the kubelet does not write. Pure; the result of a patch needs no second one.
// https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch

import type { PodStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import { sameJson } from "../../../../shared/kubernetes/api/same-json.js";

/** The status sent last and the server's response: a value that the server writes in another form is no difference. */
export interface LastExchange {
  sent: PodStatus;
  got: PodStatus;
}

/** Removed when we have none. */
const FIELDS = [
  "phase",
  "observedGeneration",
  "message",
  "reason",
  "hostIP",
  "podIP",
  "startTime",
  "initContainerStatuses",
  "containerStatuses",
  "ephemeralContainerStatuses",
] as const;

const KEYED = { conditions: "type", podIPs: "ip", hostIPs: "ip" } as const;

type Fields = Record<string, unknown>;

/** undefined: nothing to change. */
export function statusPatch(base: Partial<PodStatus>, ours: PodStatus, last?: LastExchange): Fields | undefined {
  const patch: Fields = {};
  const settled = (field: keyof PodStatus): boolean =>
    last !== undefined && same(base[field], last.got[field]) && same(ours[field], last.sent[field]);
  for (const field of FIELDS) {
    if (!same(base[field], ours[field]) && !settled(field)) patch[field] = ours[field] ?? null;
  }
  for (const field of ["resources", "allocatedResources"] as const) {
    if (!same(base[field], ours[field]) && !settled(field)) patch[field] = mapPatch(base[field], ours[field]);
  }
  if (base.qosClass === undefined && ours.qosClass !== undefined) patch["qosClass"] = ours.qosClass;
  for (const field of ["conditions", "podIPs", "hostIPs"] as const) {
    if (!settled(field)) keyedPatch(patch, field, KEYED[field], asFields(base[field]), asFields(ours[field]));
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A strategic merge patch keeps the keys of a map that it does not name. A map may have tens of thousands. */
function mapPatch(base: object | undefined, ours: object | undefined): Fields | null {
  if (ours === undefined) return null;
  const before = (base ?? {}) as Fields;
  const after = ours as Fields;
  const patch: Fields = {};
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null;
  for (const key of Object.keys(after)) {
    const value = after[key];
    const isMap = typeof value === "object" && value !== null;
    patch[key] = isMap ? mapPatch(before[key] as object | undefined, value) : value;
  }
  return patch;
}

function asFields(list: readonly object[] | undefined): Fields[] {
  return (list ?? []).map((element) => ({ ...element }));
}

/** A list whose elements have one field as their key. */
function keyedPatch(patch: Fields, field: string, key: string, base: readonly Fields[], ours: readonly Fields[]): void {
  const before = new Map(base.map((element) => [element[key], element]));
  const wanted = new Set(ours.map((element) => element[key]));
  const changes: Fields[] = ours.flatMap((element) => {
    const change = elementPatch(before.get(element[key]), element, key);
    return change === undefined ? [] : [change];
  });
  for (const value of before.keys()) if (!wanted.has(value)) changes.push({ $patch: "delete", [key]: value });
  if (changes.length === 0) return;
  patch[field] = changes;
  patch[`$setElementOrder/${field}`] = ours.map((element) => ({ [key]: element[key] }));
}

function elementPatch(before: Fields | undefined, element: Fields, key: string): Fields | undefined {
  if (before === undefined) return element;
  const change: Fields = {};
  for (const [name, value] of Object.entries(element)) if (!same(before[name], value)) change[name] = value;
  for (const name of Object.keys(before)) if (!(name in element) && before[name] != null) change[name] = null;
  return Object.keys(change).length === 0 ? undefined : { [key]: element[key], ...change };
}

/** null, "" and absent are the same in the API. */
function same(a: unknown, b: unknown): boolean {
  return sameJson(a === "" ? undefined : (a ?? undefined), b === "" ? undefined : (b ?? undefined));
}
