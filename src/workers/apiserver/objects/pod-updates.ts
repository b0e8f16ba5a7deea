// Which parts of a pod each update may change: the pod itself, its status, its ephemeral containers, its resources.

import { quote } from "../../../shared/base/text/quote.js";
import type { QOSClass } from "../../../shared/kubernetes/api/pod-status.js";
import type { PodSpec } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import { InvalidQuantityError } from "../../../shared/kubernetes/api/quantity.js";
import { badRequest, FieldError } from "./errors.js";
import { jsonText, parsedJson } from "./json.js";
import { fieldsAt, isSame, listAt, textAt, type ApiObject, type Fields } from "./object.js";

const MAY_CHANGE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** The fields of a pod's spec that may change: images, deadlines downwards, more tolerations. */
export function podUpdateErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const [wanted, before] = [structuredClone(next.spec ?? {}), structuredClone(old.spec ?? {})];
  const errors: FieldError[] = [];
  if (listAt(wanted, "containers").length !== listAt(before, "containers").length) {
    return [FieldError.forbidden("spec.containers", "pod updates may not add or remove containers")];
  }
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of listAt(wanted, list).entries()) {
      if (textAt(container, "image") === undefined) errors.push(FieldError.required(`spec.${list}[${index}].image`));
      const previous = listAt(before, list)[index];
      if (previous !== undefined) previous["image"] = container["image"];
    }
  }
  errors.push(...deadlineErrors(wanted, before));
  before["activeDeadlineSeconds"] = wanted["activeDeadlineSeconds"];
  if (before["terminationGracePeriodSeconds"] !== wanted["terminationGracePeriodSeconds"]) {
    const wasNegative = Number(before["terminationGracePeriodSeconds"] ?? 0) < 0;
    if (wasNegative && wanted["terminationGracePeriodSeconds"] === 1) before["terminationGracePeriodSeconds"] = 1;
  }
  const tolerations = listAt(wanted, "tolerations");
  const kept = listAt(before, "tolerations").every((one) =>
    tolerations.some((other) => isSame(strip(one), strip(other))),
  );
  if (!kept)
    errors.push(
      FieldError.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"),
    );
  before["tolerations"] = wanted["tolerations"];
  if (!isSame(withoutUndefined(wanted), withoutUndefined(before)))
    errors.push(FieldError.forbidden("spec", MAY_CHANGE));
  return errors;
}

function strip(toleration: Fields): Fields {
  return { ...toleration, tolerationSeconds: 0 };
}

function withoutUndefined(spec: Fields): unknown {
  return parsedJson(jsonText(spec));
}

function deadlineErrors(wanted: Fields, before: Fields): FieldError[] {
  const [next, old] = [wanted["activeDeadlineSeconds"], before["activeDeadlineSeconds"]];
  if (next === undefined) {
    const text = "must not update from a positive integer to nil value";
    return old === undefined ? [] : [FieldError.invalid("spec.activeDeadlineSeconds", null, text)];
  }
  const isNumber = typeof old === "number" || typeof old === "bigint";
  if (!isNumber || Number(next) <= Number(old)) return [];
  return [FieldError.invalid("spec.activeDeadlineSeconds", next, "must be less than or equal to previous value")];
}

export function ephemeralErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const path = "spec.ephemeralContainers";
  const wanted = listAt(next.spec, "ephemeralContainers");
  return listAt(old.spec, "ephemeralContainers").flatMap((before) => {
    const name = textAt(before, "name") ?? "";
    const after = wanted.find((one) => one["name"] === name);
    if (after === undefined) {
      return [FieldError.forbidden(path, `existing ephemeral containers ${quote(name)} may not be removed\n`)];
    }
    if (isSame(after, before)) return [];
    return [FieldError.forbidden(path, `existing ephemeral containers ${quote(name)} may not be changed\n`)];
  });
}

export function resizeErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const removed = listAt(old.spec, "containers").flatMap((container, index) => {
    const after = fieldsAt(listAt(next.spec, "containers")[index], "resources");
    return ["limits", "requests"].flatMap((kind) => {
      const gone = Object.keys(fieldsAt(fieldsAt(container, "resources"), kind)).filter(
        (name) => fieldsAt(after, kind)[name] === undefined,
      );
      const path = `spec.containers[${index}].resources.${kind}`;
      return gone.length === 0 ? [] : [FieldError.forbidden(path, `resource ${kind} cannot be removed`)];
    });
  });
  if (removed.length > 0) return removed;
  const before = qosOf(old.spec ?? {});
  if (qosOf(next.spec ?? {}) === before) return [];
  return [FieldError.invalid("spec", before, "Pod QOS Class may not change as a result of resizing")];
}

/** @throws ApiError for an amount that is none */
export function qosOf(spec: Fields): QOSClass {
  try {
    return qosClass({ spec: { ...spec, containers: listAt(spec, "containers") } as unknown as PodSpec });
  } catch (error) {
    throw error instanceof InvalidQuantityError ? badRequest(error.message) : error;
  }
}

/** A container that ended for good does not run again in the status either. */
export function podStatusErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const qos = next.status?.["qosClass"];
  if (qos !== old.status?.["qosClass"]) return [FieldError.invalid("status.qosClass", qos, "field is immutable")];
  const policy = textAt(next.spec, "restartPolicy");
  if (policy === "Always") return [];
  const wanted = listAt(next.status, "containerStatuses");
  return listAt(old.status, "containerStatuses").flatMap((before, index) => {
    const terminated = fieldsAt(before, "state")["terminated"] as Fields | undefined;
    if (terminated === undefined) return [];
    if (policy === "OnFailure" && terminated["exitCode"] !== 0) return [];
    const rules = listAt(next.spec, "containers").find(({ name }) => name === before["name"]);
    if (rules?.["restartPolicy"] !== undefined) return [];
    const after = wanted.find(({ name }) => name === before["name"]);
    if (after === undefined || fieldsAt(after, "state")["terminated"] !== undefined) return [];
    return [
      FieldError.forbidden(
        `status.containerStatuses[${index}].state`,
        "may not be transitioned to non-terminated state",
      ),
    ];
  });
}
