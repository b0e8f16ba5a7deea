// Decodes manifests that were sent to the kubelet: every document of a text, with the checks of a manifest file. One
// invalid document refuses all.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { DecodeSubmittedJob, DecodeSubmittedResult, SubmittedPod } from "../../../shared/contracts/tasks.js";
import type { ManifestViolation, ManifestWarning } from "../../../shared/kubernetes/api/manifest/violation.js";
import { decodeObject, positioned, writtenTexts, type CheckedPod } from "./decode.js";
import { parseTexts } from "./parse-text.js";
import { Report } from "./report.js";

const MAX_FINDINGS = 100;

export function decodeSubmitted({ text, ...job }: DecodeSubmittedJob): DecodeSubmittedResult {
  const outcome = parseTexts(text);
  if (!outcome.ok) return { pods: [], warnings: [], error: outcome.faults.map((fault) => ({ field: "", ...fault })) };
  const checked: CheckedPod[] = [];
  const warnings: ManifestWarning[] = [];
  const violations: ManifestViolation[] = [];
  for (const parsed of outcome.parsed) {
    const report = new Report();
    checked.push(...decodeObject(parsed.value, { ...job, origin: { kind: "submitted" } }, report));
    warnings.push(...parsed.warnings.map((warning) => ({ field: "", ...warning })));
    if (report.violations.length === 0 && report.warnings.length === 0) continue;
    const found = positioned(report, parsed);
    violations.push(...found.violations);
    warnings.push(...found.warned);
    if (violations.length >= MAX_FINDINGS) break;
  }
  const shownWarnings = warnings.slice(0, MAX_FINDINGS);
  if (violations.length > 0) return { pods: [], warnings: shownWarnings, error: violations.slice(0, MAX_FINDINGS) };
  const pods = checked.map((one) =>
    omitUndefined<SubmittedPod>({
      namespace: one.written.metadata.namespace,
      name: one.written.metadata.name,
      ...writtenTexts(one),
      pod: one.pod,
      formerUid: one.formerUid,
    }),
  );
  return { pods, warnings: shownWarnings };
}
