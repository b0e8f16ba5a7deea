// All manifests that the command line names, with the place of each, and everything wrong with them.

import { hostname } from "node:os";
import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { ReadDocument, WrittenPod } from "../../shared/contracts/manifest-reading.js";
import { violationText, type ManifestViolation } from "../../shared/kubernetes/api/manifest/violation.js";
import { manifestTexts } from "./files.js";
import { kindHelp } from "./kinds.js";
import { ManifestReader } from "./reader.js";

export interface ManifestInput {
  filename?: readonly string[];
  recursive?: boolean;
  namespace?: string;
}

/** Something wrong with a text. */
export interface Fault {
  severity: "error" | "warning";
  file: string;
  /** From 1; 0: not known. */
  line: number;
  column: number;
  field: string;
  message: string;
}

/** A valid manifest. */
export interface Manifest extends WrittenPod {
  file: string;
  /** First line of its document. */
  line: number;
}

export interface ReadManifests {
  texts: number;
  manifests: Manifest[];
  faults: Fault[];
  /** Files with more than one document or pod. */
  several: string[];
}

/** How the kubelet would read them; absent: as a kubelet of this machine with upstream's defaults. */
export interface ReadingRules {
  nodeName?: string;
  preventAPIReferences?: boolean;
}

export async function readManifests(
  input: ManifestInput,
  clock: Clock,
  { nodeName = hostname().toLowerCase(), preventAPIReferences = true }: ReadingRules = {},
): Promise<ReadManifests> {
  const { filename = [], recursive = false, namespace } = input;
  const reader = new ManifestReader(clock);
  const found: ReadManifests = { texts: 0, manifests: [], faults: [], several: [] };
  const fault = (file: string, message: string, at: Partial<Fault> = {}): void => {
    found.faults.push({ severity: "error", file, line: 0, column: 0, field: "", message, ...at });
  };
  try {
    for await (const one of manifestTexts(filename, recursive)) {
      found.texts++;
      if ("problem" in one) {
        fault(one.name, one.problem);
        continue;
      }
      const { name: file, text } = one;
      try {
        const rules = { nodeName, preventAPIReferences, namespace: namespace ?? "default" };
        const { documents, omitted } = await reader.read({ text, ...rules });
        if (documents.length > 1 || documents.some(({ pods }) => pods.length > 1)) found.several.push(file);
        for (const document of documents) addDocument(found, file, document, namespace);
        if (omitted > 0) fault(file, `${omitted} more faults are not shown`);
      } catch (error) {
        fault(file, messageOf(error));
      }
    }
  } finally {
    await reader.close();
  }
  return withoutDoubles(found);
}

function addDocument(found: ReadManifests, file: string, document: ReadDocument, namespace: string | undefined): void {
  const { line, pods, violations, warnings } = document;
  const faults = [
    ...withoutNoise(violations).map((one) => faultOf(file, one)),
    ...warnings.map(({ message, ...at }): Fault => {
      const text = at.field === "" ? message : `${at.field}: ${message}`;
      return { severity: "warning", file, message: text, ...at };
    }),
  ];
  found.faults.push(...faults.sort((a, b) => a.line - b.line || a.column - b.column));
  for (const pod of pods) {
    if (namespace === undefined || pod.namespace === namespace) found.manifests.push({ ...pod, file, line });
    else {
      const message = `metadata.namespace: "${pod.namespace}" is not the namespace of -n, ${namespace}`;
      found.faults.push({ severity: "error", file, line, column: 0, field: "metadata.namespace", message });
    }
  }
}

/** A Deployment's apiVersion is right for a Deployment: only its kind is worth a line. */
function withoutNoise(violations: readonly ManifestViolation[]): ManifestViolation[] {
  const foreign = violations.some(({ field, reason }) => field === "kind" && reason === "unsupported value");
  return violations.filter(({ field }) => !foreign || field !== "apiVersion");
}

function faultOf(file: string, violation: ManifestViolation): Fault {
  const { field, line, column, reason, got, hint } = violation;
  const help = /(^|\.)kind$/.test(field) && reason === "unsupported value" && hint === undefined ? kindHelp(got) : "";
  return { severity: "error", file, line, column, field, message: `${violationText(violation)}${help}` };
}

/** A node has one manifest of a name: the first stays, each other one is a fault. */
function withoutDoubles(found: ReadManifests): ReadManifests {
  const first = new Map<string, Manifest>();
  for (const manifest of found.manifests) {
    const name = `${manifest.namespace}/${manifest.name}`;
    const other = first.get(name);
    if (other === undefined) first.set(name, manifest);
    else {
      const { file, line } = manifest;
      const message = `there is a pod ${name} before it, in ${other.file}:${other.line}: a node runs one pod of a name`;
      found.faults.push({ severity: "error", file, line, column: 0, field: "metadata.name", message });
    }
  }
  return { ...found, manifests: [...first.values()] };
}

/** "web.yaml:3:18: metadata.name: …" */
export function faultText({ file, line, column, message }: Fault): string {
  const place = line === 0 ? "" : column === 0 ? `:${line}` : `:${line}:${column}`;
  return `${file}${place}: ${message}`;
}
