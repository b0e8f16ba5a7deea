// Rules of affinity and topology spread constraints: how many values an operator takes, and what may not stand
// together.

import { isRecord } from "../../../../shared/base/text/is-record.js";
import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Report } from "../report.js";
import { items } from "./visit.js";

const AFFINITY: FieldPath = ["spec", "affinity"];
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

type Fields = Readonly<Record<string, unknown>>;

export function checkAffinity(pod: Pod, report: Report): void {
  const affinity = fields(pod.spec.affinity);
  checkNodeAffinity(fields(affinity["nodeAffinity"]), [...AFFINITY, "nodeAffinity"], report);
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    checkPodAffinity(fields(affinity[name]), [...AFFINITY, name], report);
  }
  checkSpread(pod, report);
}

function checkNodeAffinity(affinity: Fields, path: FieldPath, report: Report): void {
  const required = affinity[REQUIRED];
  if (isRecord(required)) {
    const terms = required["nodeSelectorTerms"];
    const at = [...path, REQUIRED, "nodeSelectorTerms"];
    if (Array.isArray(terms) && terms.length === 0) report.required(at, "at least one term");
    for (const [term, termAt] of records(terms, at)) checkNodeTerm(term, termAt, report);
  }
  for (const [preferred, at] of records(affinity[PREFERRED], [...path, PREFERRED])) {
    checkNodeTerm(fields(preferred["preference"]), [...at, "preference"], report);
  }
}

function checkNodeTerm(term: Fields, path: FieldPath, report: Report): void {
  for (const [one, at] of records(term["matchExpressions"], [...path, "matchExpressions"])) {
    checkValues(one, at, report);
    const operator = one["operator"];
    if ((operator === "Gt" || operator === "Lt") && countOf(one) !== 1) {
      report.required([...at, "values"], `one value, with operator ${operator}`);
    }
  }
  for (const [one, at] of records(term["matchFields"], [...path, "matchFields"])) {
    if (countOf(one) !== 1) report.required([...at, "values"], "one value, for a field of the node");
  }
}

function checkPodAffinity(affinity: Fields, path: FieldPath, report: Report): void {
  const terms = [
    ...records(affinity[REQUIRED], [...path, REQUIRED]),
    ...Array.from(records(affinity[PREFERRED], [...path, PREFERRED]), ([one, at]): [Fields, FieldPath] => [
      fields(one["podAffinityTerm"]),
      [...at, "podAffinityTerm"],
    ]),
  ];
  for (const [term, at] of terms) {
    for (const name of ["labelSelector", "namespaceSelector"]) checkSelector(fields(term[name]), [...at, name], report);
    checkKeys(term, at, report);
  }
}

function checkSpread(pod: Pod, report: Report): void {
  const seen = new Set<string>();
  const path = ["spec", "topologySpreadConstraints"];
  for (const [one, at] of records(pod.spec.topologySpreadConstraints, path)) {
    const { topologyKey, whenUnsatisfiable, minDomains } = one;
    if (typeof topologyKey === "string" && typeof whenUnsatisfiable === "string") {
      const kind = `${topologyKey} ${whenUnsatisfiable}`;
      if (seen.has(kind))
        report.duplicate([...at, "topologyKey"], topologyKey, "each pair with whenUnsatisfiable once");
      seen.add(kind);
    }
    if (minDomains !== undefined && whenUnsatisfiable === "ScheduleAnyway") {
      report.forbidden([...at, "minDomains"], "whenUnsatisfiable must be DoNotSchedule beside it");
    }
    checkSelector(fields(one["labelSelector"]), [...at, "labelSelector"], report);
    checkKeys(one, at, report);
  }
}

/** Keys are added to a selector, so there must be one. */
function checkKeys(term: Fields, path: FieldPath, report: Report): void {
  if (term["labelSelector"] !== undefined) return;
  for (const name of ["matchLabelKeys", "mismatchLabelKeys"]) {
    if (term[name] !== undefined) report.forbidden([...path, name], "labelSelector must be set beside it");
  }
}

function checkSelector(selector: Fields, path: FieldPath, report: Report): void {
  for (const [one, at] of records(selector["matchExpressions"], [...path, "matchExpressions"])) {
    checkValues(one, at, report);
  }
}

/** In and NotIn need values, Exists and DoesNotExist have none. */
function checkValues(expression: Fields, path: FieldPath, report: Report): void {
  const operator = expression["operator"];
  const count = countOf(expression);
  if ((operator === "In" || operator === "NotIn") && count === 0) {
    report.required([...path, "values"], `at least one value, with operator ${operator}`);
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && count > 0) {
    report.forbidden([...path, "values"], `operator ${operator} takes none`);
  }
}

function countOf(expression: Fields): number {
  const values = expression["values"];
  return Array.isArray(values) ? values.length : 0;
}

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function* records(list: unknown, path: FieldPath): Generator<[Fields, FieldPath]> {
  if (!Array.isArray(list)) return;
  for (const [one, at] of items<unknown>(list, path)) if (isRecord(one)) yield [one, at];
}
