// The options of a delete, and the mark that it puts on an object: two rules that are the same for every store.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { nearestSafe } from "../../../shared/kubernetes/api/wide-integers.js";
import { badRequest, FieldError, invalid, preconditionConflict } from "../objects/errors.js";
import { copyOf, fieldsAt, isFields, textAt, timeText, type ApiObject, type Fields } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  uid?: string;
  resourceVersion?: string;
  dryRun?: boolean;
}

const POLICIES = ["Background", "Foreground", "Orphan"] as const;

/** Propagation means nothing here: no object has dependents that a controller would delete. */
export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const fields: Fields = isFields(body) ? body : {};
  const preconditions = fieldsAt(fields, "preconditions");
  const grace = fields["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds") ?? undefined;
  const seconds = grace === undefined ? undefined : Number(grace);
  if (seconds !== undefined && !Number.isSafeInteger(seconds)) throw badRequest("gracePeriodSeconds is no integer");
  const [uid, resourceVersion] = [textAt(preconditions, "uid"), textAt(preconditions, "resourceVersion")];
  const policy = fields["propagationPolicy"] ?? query.get("propagationPolicy") ?? POLICIES[0];
  if (!POLICIES.some((one) => one === policy)) {
    const error = FieldError.unsupported("propagationPolicy", policy, [...POLICIES, "nil"]);
    throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [error]);
  }
  if (fields["orphanDependents"] !== undefined && fields["propagationPolicy"] !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    const error = FieldError.invalid("propagationPolicy", policy, why);
    throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [error]);
  }
  const isDry = Array.isArray(fields["dryRun"]) && fields["dryRun"].includes("All");
  return omitUndefined<DeleteOptions>({
    gracePeriodSeconds: seconds,
    uid,
    resourceVersion,
    dryRun: isDry ? true : undefined,
  });
}

export function checkPreconditions(resource: Resource, { metadata }: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options;
  const { name } = metadata;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`;
    throw preconditionConflict(resource, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`;
    throw preconditionConflict(resource, name, why);
  }
}

/** Seconds; undefined where the kind knows no grace. */
export function graceOf(resource: Resource, { spec, status }: ApiObject, options: DeleteOptions): number | undefined {
  if (resource.key !== "pods") return undefined;
  if (["Failed", "Succeeded"].includes(textAt(status, "phase") ?? "")) return 0;
  const written = options.gracePeriodSeconds ?? spec?.["terminationGracePeriodSeconds"];
  const isNumber = typeof written === "number" || typeof written === "bigint";
  const grace = isNumber ? nearestSafe(Number(written)) : 0;
  return grace < 0 ? 1 : grace;
}

/** With a deletion timestamp, or a shorter time until the end; undefined: it stays as it is. */
export function markedForDeletion(old: ApiObject, grace: number | undefined, now: number): ApiObject | undefined {
  const { metadata } = old;
  const before = metadata.deletionTimestamp;
  const seconds = grace ?? 0;
  let deletionTimestamp: string;
  if (before !== undefined) {
    const left = metadata.deletionGracePeriodSeconds ?? 0;
    if (left === 0 || grace === undefined || grace >= left) return undefined;
    deletionTimestamp = timeText(Date.parse(before) - left * 1000 + grace * 1000);
  } else {
    // Without grace and finalizers the object goes without being marked, unless its kind knows grace.
    if (grace === undefined && (metadata.finalizers ?? []).length === 0) return undefined;
    deletionTimestamp = timeText(now + seconds * 1000);
  }
  const next = copyOf(old);
  next.metadata.deletionTimestamp = deletionTimestamp;
  next.metadata.deletionGracePeriodSeconds = seconds;
  if (before === undefined && metadata.generation !== undefined) next.metadata.generation = metadata.generation + 1;
  return next;
}
