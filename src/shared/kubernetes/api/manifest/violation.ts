// The problems of a manifest, field by field, and the one error that carries all of them.
// A violation crosses threads as plain data; ManifestError is rebuilt from it on the main thread.

export type ViolationReason =
  | "syntax" // the text is no YAML or JSON
  | "limit" // too large, too deep, too many aliases
  | "wrong type"
  | "required value"
  | "unsupported value"
  | "invalid value"
  | "duplicate value"
  | "forbidden";

export interface ManifestViolation {
  /** Field path, e.g. "spec.containers[0].ports[0].containerPort"; "" for the document as a whole. */
  field: string;
  reason: ViolationReason;
  /** The refused value in JSON, cut short; absent when nothing was there. */
  got?: string;
  /** Allowed values. */
  allowed?: string;
  /** Nearest known name, or another thing to try. */
  hint?: string;
  /** Position of the value (or of its nearest enclosing one), from 1; 0 when unknown. */
  line: number;
  column: number;
}

/** A field that nothing reads, as upstream ignores it: worth one warning. */
export interface ManifestWarning {
  field: string;
  message: string;
  line: number;
  column: number;
}

/** One violation as a sentence, without its position. */
export function violationText(violation: ManifestViolation): string {
  const { field, reason, got, allowed, hint } = violation;
  const subject = field === "" ? "" : `${field}: `;
  const isRule = got !== undefined || reason === "wrong type";
  const rule = allowed === undefined ? "" : isRule ? `; allowed: ${allowed}` : `: ${allowed}`;
  return `${subject}${reason}${got === undefined ? "" : ` ${got}`}${rule}${hint === undefined ? "" : ` (${hint})`}`;
}

function position({ line, column }: { line: number; column: number }): string {
  return line === 0 ? "" : `:${line}:${column}`;
}

const SHOWN = 8;

/** All violations as one sentence, without the position of the first. */
export function violationsText(violations: readonly ManifestViolation[]): string {
  const parts = violations.slice(0, SHOWN).map((violation, index) => {
    const at = index === 0 || violation.line === 0 ? "" : `line ${violation.line}: `;
    return at + violationText(violation);
  });
  if (violations.length > SHOWN) parts.push(`and ${violations.length - SHOWN} more`);
  return parts.join("; ");
}

function summary(origin: string, violations: readonly ManifestViolation[]): string {
  const first = violations[0];
  return `manifest ${origin}${first === undefined ? "" : position(first)}: ${violationsText(violations)}`;
}

/** A manifest that was refused: everything wrong with it, in the order of the text, in one error. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
  constructor(
    /** Path or URL of the manifest. */
    readonly origin: string,
    readonly violations: readonly ManifestViolation[],
  ) {
    super(summary(origin, violations));
  }
}

/** A warning as a sentence, without its position. */
export function warningSentence({ field, message }: Pick<ManifestWarning, "field" | "message">): string {
  return `${field === "" ? "" : `${field}: `}${message}`;
}

/** A warning as a log line. */
export function warningText(origin: string, warning: ManifestWarning): string {
  return `manifest ${origin}${position(warning)}: ${warningSentence(warning)}`;
}
