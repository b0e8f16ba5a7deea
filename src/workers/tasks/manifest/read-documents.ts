// Reads every document of a text by itself, for the nodelet command: a fault refuses its own pod and no other, and all
// faults are found at once. A text that was sent to the kubelet is refused as a whole instead (decode-submitted.ts).

import { isRecord } from "../../../shared/base/text/is-record.js";
import type {
  ReadDocument,
  ReadManifestsJob,
  ReadManifestsResult,
} from "../../../shared/contracts/manifest-reading.js";
import { decodeObject, positioned, writtenTexts } from "./decode.js";
import { parseDocuments, type ParsedDocument } from "./parse-text.js";
import { Report } from "./report.js";

/** Limit for one text, of violations and of warnings each. */
const MAX_FINDINGS = 500;

export function readDocuments({ text, ...job }: ReadManifestsJob): ReadManifestsResult {
  const outcome = parseDocuments(text);
  const parsed = outcome.ok ? outcome.documents : [{ ...outcome, line: 1 }];
  const documents: ReadDocument[] = [];
  let [room, roomForWarnings, omitted] = [MAX_FINDINGS, MAX_FINDINGS, 0];
  for (const one of parsed) {
    const read = readDocument(one, job);
    omitted += Math.max(read.violations.length - room, 0) + Math.max(read.warnings.length - roomForWarnings, 0);
    const document = {
      ...read,
      violations: read.violations.slice(0, room),
      warnings: read.warnings.slice(0, roomForWarnings),
    };
    room -= document.violations.length;
    roomForWarnings -= document.warnings.length;
    documents.push(document);
  }
  return { documents, omitted };
}

function readDocument(document: ParsedDocument, job: Omit<ReadManifestsJob, "text">): ReadDocument {
  const { line } = document;
  if (!document.ok) {
    const violations = document.faults.map((fault) => ({ field: "", ...fault }));
    return { line, pods: [], warnings: [], violations };
  }
  const { parsed } = document;
  const report = new Report();
  const checked = decodeObject(parsed.value, { ...job, origin: { kind: "submitted" } }, report);
  const warnings = parsed.warnings.map((warning) => ({ field: "", ...warning }));
  const found =
    report.violations.length + report.warnings.length === 0
      ? { violations: [], warned: [] }
      : positioned(report, parsed);
  // A fault outside its pod, such as a wrong apiVersion, refuses it as well. Pods of a list are refused one by one.
  const usable =
    isRecord(parsed.value) && parsed.value["kind"] === "Pod" && report.violations.length > 0 ? [] : checked;
  const pods = usable.map((one) => ({
    namespace: one.written.metadata.namespace,
    name: one.written.metadata.name,
    ...writtenTexts(one),
  }));
  return { line, pods, warnings: [...warnings, ...found.warned], violations: found.violations };
}
