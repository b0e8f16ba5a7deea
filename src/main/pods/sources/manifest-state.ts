// What a source knows about one of its manifests, for the manifest reporter. Invariant: texts are bounded, and a
// refusal repeats no value of a variable, command, header or annotation: it reaches readers of events and of the status
// page.

import { shortened } from "../../../shared/base/text/shortened.js";
import type { ManifestProblem, ManifestSource } from "../../../shared/contracts/manifest-facts.js";
import {
  violationsText,
  warningSentence,
  type ManifestError,
  type ManifestViolation,
  type ManifestWarning,
} from "../../../shared/kubernetes/api/manifest/violation.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";

/** Characters of a message; the log has the whole. */
const LONGEST = 1024;
/** Warnings of one manifest that are kept; the log has all. */
const MOST_WARNINGS = 20;

export interface Refusal extends Pick<ManifestProblem, "message" | "field" | "line" | "column" | "since"> {
  reason: NonNullable<ManifestProblem["reason"]>;
  /** Names of pods as the refused text has them. */
  claims: readonly string[];
}

export interface ManifestState {
  origin: string;
  source: ManifestSource;
  /** Pods of the last accepted version, with the UIDs under which they run. */
  pods: readonly Pod[];
  refused: Refusal | undefined;
  /** Warnings of the last accepted version. */
  warnings: readonly ManifestProblem[];
}

/** Fields whose values may be secrets; "" is a text that is no pod at all, for example a token in the wrong folder. */
const PRIVATE = /^$|\.(env|command|args|httpHeaders|annotations)\b/;

export function refusalOf(error: ManifestError, claims: readonly string[], since: number): Refusal {
  const [first] = error.violations;
  return {
    message: bounded(violationsText(error.violations.map(withoutSecret))),
    field: bounded(first?.field ?? ""),
    line: first?.line ?? 0,
    column: first?.column ?? 0,
    reason: first?.reason ?? "syntax",
    claims,
    since,
  };
}

/** The file or URL cannot be read at all. */
export function unreadable(why: string, since: number): Refusal {
  return { message: bounded(why), field: "", line: 0, column: 0, reason: "unreadable", claims: [], since };
}

export function warningProblems(warnings: readonly ManifestWarning[], since: number): ManifestProblem[] {
  return warnings.slice(0, MOST_WARNINGS).map(({ field, message, line, column }) => ({
    kind: "warning" as const,
    message: bounded(warningSentence({ field, message })),
    field: bounded(field),
    line,
    column,
    since,
  }));
}

export function bounded(text: string): string {
  return shortened(text, LONGEST);
}

function withoutSecret(violation: ManifestViolation): ManifestViolation {
  if (violation.got === undefined || !PRIVATE.test(violation.field)) return violation;
  const { got: _got, ...rest } = violation;
  return rest;
}
