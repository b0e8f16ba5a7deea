// One manifest from its text to static pods, or to the list of everything that is wrong with it.
// Runs in a pool thread: a hostile file costs this thread its time (the pool has a deadline), never the sync path.

import { foldedMember } from "../../../shared/base/text/folded-member.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { didYouMean } from "../../../shared/base/text/nearest-name.js";
import type { DecodeManifestJob, DecodeManifestResult, SubmittedPod } from "../../../shared/contracts/tasks.js";
import { fieldName, type FieldPath } from "../../../shared/kubernetes/api/manifest/field-path.js";
import type { ManifestViolation, ManifestWarning } from "../../../shared/kubernetes/api/manifest/violation.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../../shared/kubernetes/api/static-pod-name.js";
import { digitsBelow, textWithDigits } from "../../../shared/kubernetes/api/wide-integers.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { checkPodManifest, locate } from "./check-pod.js";
import { claimedIn, claimedInText } from "./claimed-names.js";
import { withPodDefaults } from "./defaults.js";
import { formerUid, staticPod, withoutOwnAnnotations } from "./identity.js";
import { parseText, type ParsedText } from "./parse-text.js";
import { podSchema } from "./pod-schema.js";
import { Report, shown } from "./report.js";
import { writtenForm } from "./written-form.js";

/** A pod as written (known fields, no defaults), and the static pod that it makes. */
export interface CheckedPod {
  written: Pod;
  pod: Pod;
  /** The UID of earlier releases; absent: the same. */
  formerUid?: PodUid | undefined;
}

const MAX_NAME = 253;
const MAX_FINDINGS = 100;

/** What decoding a document's pods depends on. */
export interface PodsJob extends Pick<DecodeManifestJob, "origin" | "nodeName" | "preventAPIReferences"> {
  /** Namespace of pods that name none; absent: such pods keep their definition, and run in "default". */
  namespace?: string;
}

export function decodeManifest(job: DecodeManifestJob): DecodeManifestResult {
  const outcome = parseText(job.text);
  if (!outcome.ok) {
    const faults = outcome.faults.slice(0, MAX_FINDINGS);
    const error = faults.map((fault) => ({ field: "", ...fault }));
    return { pods: [], warnings: [], error, claims: claimedInText(job.text) };
  }
  const { parsed } = outcome;
  const report = new Report();
  const checked = decodeObject(parsed.value, job, report);
  const pods = checked.map(({ pod }) => pod);
  const former = formerUidsOf(checked);
  const warnings: ManifestWarning[] = parsed.warnings.map((warning) => ({ field: "", ...warning }));
  if (report.violations.length === 0 && report.warnings.length === 0) return { pods, warnings, ...former };

  const { violations, warned } = positioned(report, parsed);
  warnings.push(...warned);
  if (violations.length === 0) return { pods, warnings, ...former };
  return { pods: [], warnings, error: violations, claims: claimedIn(parsed.value) };
}

function formerUidsOf(checked: readonly CheckedPod[]): Pick<DecodeManifestResult, "formerUids"> {
  const entries = checked.flatMap(({ pod, formerUid: uid }) => (uid === undefined ? [] : [[pod.metadata.uid, uid]]));
  return entries.length === 0 ? {} : { formerUids: Object.fromEntries(entries) as Record<PodUid, PodUid> };
}

/** The pods of one document; its faults are in the report. */
export function decodeObject(value: unknown, job: PodsJob, report: Report): CheckedPod[] {
  if (!isRecord(value)) {
    report.add([], "wrong type", { got: shown(value), allowed: "a v1 Pod" });
    return [];
  }
  // Go reads these two in any case, before it knows the kind's own fields.
  const [apiVersion, kind] = [foldedMember(value, "apiVersion"), foldedMember(value, "kind")];
  const lists = job.origin.kind !== "file" ? ["List", "PodList"] : [];
  const kinds = ["Pod", ...lists];
  const known = typeof kind === "string" && kinds.includes(kind);
  if (kind === undefined || kind === null) report.required(["kind"], kinds.join(", "));
  else if (!known) {
    const hint = typeof kind === "string" ? didYouMean(kind, kinds) : undefined;
    report.unsupported(["kind"], kind, kinds, hint);
  }
  if (apiVersion === undefined || apiVersion === null) report.required(["apiVersion"], "v1");
  else if (apiVersion !== "v1") report.unsupported(["apiVersion"], apiVersion, ["v1"]);
  // Of another kind nothing else is known: its fields would only make noise.
  if (report.violations.length > 0 && !(known && kind === "Pod")) return [];
  if (kind === "Pod") return decodePods([[value, []]], job, report);
  return decodeList(value, kind === "PodList", job, report);
}

/** Items of a PodList are pods whatever kind they name, as in Go; those of a List are what they name. */
function decodeList(list: Record<string, unknown>, isPods: boolean, job: PodsJob, report: Report): CheckedPod[] {
  const items = list["items"] ?? [];
  if (!Array.isArray(items)) {
    report.add(["items"], "wrong type", { got: shown(items), allowed: "a list of pods" });
    return [];
  }
  const pods: [Record<string, unknown>, FieldPath][] = [];
  for (const [index, item] of (items as unknown[]).entries()) {
    const path = ["items", index];
    if (!isRecord(item)) {
      report.add(path, "wrong type", { got: shown(item), allowed: "a v1 Pod" });
      continue;
    }
    const kind = foldedMember(item, "kind") ?? "Pod";
    if (kind === "Pod" || (isPods && kind === "")) pods.push([item, path]);
    else if (isPods && typeof kind === "string") {
      report.warn([...path, "kind"], `an item of a PodList is a Pod, whatever its kind says: ${shown(kind)}`);
      pods.push([item, path]);
    } else report.unsupported([...path, "kind"], kind, ["Pod"]);
  }
  return decodePods(pods, job, report);
}

function decodePods(values: [Record<string, unknown>, FieldPath][], job: PodsJob, report: Report): CheckedPod[] {
  const pods: CheckedPod[] = [];
  for (const [value, base] of values) {
    const found = new Report();
    const checked = checkPodManifest(value, { preventAPIReferences: job.preventAPIReferences ?? true }, found);
    if (checked !== undefined) checkName(checked, job.nodeName, found);
    report.include(found, base);
    if (checked === undefined || found.violations.length > 0) continue;
    const { origin, nodeName } = job;
    const written = ownForm(checked, job);
    const uid = formerUid(written, ownForm(writtenForm(podSchema, value) as Pod, job), origin, nodeName);
    const pod = staticPod(written, withPodDefaults(written), origin, nodeName);
    if (found.wideIntegers.length > 0) pod.wideIntegers = found.wideIntegers;
    pods.push({ written, pod, formerUid: uid });
  }
  return pods;
}

/** Metadata and spec as written: JSON with all digits. */
export function writtenTexts({ written, pod }: CheckedPod): Pick<SubmittedPod, "metadata" | "spec"> {
  const { wideIntegers } = pod;
  return {
    metadata: textWithDigits(written.metadata, digitsBelow(wideIntegers, "metadata")),
    spec: textWithDigits(written.spec, digitsBelow(wideIntegers, "spec")),
  };
}

/** The manifest without the parts that are not of the definition. */
function ownForm(pod: Pod, { namespace }: PodsJob): Pod {
  const own = withoutOwnAnnotations({ ...pod, apiVersion: "v1", kind: "Pod" });
  return namespace === undefined ? own : withNamespace(own, namespace);
}

/** With the namespace where it has none: its UID must not depend on whether the default was written. */
function withNamespace(pod: Pod, namespace: string): Pod {
  const given = pod.metadata.namespace as string | undefined;
  const used = given === undefined || given === "" ? namespace : given;
  return { ...pod, metadata: { ...pod.metadata, namespace: used } };
}

/** The node's name is added to the pod's: together they must still be a name. */
function checkName(pod: Pod, nodeName: string, report: Report): void {
  const name = pod.metadata.name as string | undefined;
  if (name === undefined || staticPodName(name, nodeName).length <= MAX_NAME) return;
  const room = MAX_NAME - nodeName.length - 1;
  report.invalid(["metadata", "name"], name, `at most ${room} characters: "-${nodeName}" is added to it`);
}

/** The report's findings with their places in the text, in its order. */
export function positioned(
  report: Report,
  parsed: ParsedText,
): { violations: ManifestViolation[]; warned: ManifestWarning[] } {
  const document = parsed.document();
  const violations = report.violations.slice(0, MAX_FINDINGS).map((finding): ManifestViolation => {
    const { path, ...rest } = finding;
    return { field: fieldName(path), ...rest, ...locate(document, finding) };
  });
  const warned = report.warnings.slice(0, MAX_FINDINGS).map((finding): ManifestWarning => {
    return { field: fieldName(finding.path), message: finding.message, ...locate(document, finding) };
  });
  const inTextOrder = (a: ManifestWarning | ManifestViolation, b: ManifestWarning | ManifestViolation): number =>
    a.line - b.line || a.column - b.column;
  return { violations: violations.sort(inTextOrder), warned: warned.sort(inTextOrder) };
}
