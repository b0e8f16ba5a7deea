// The report of problems and their places, in the order for an operator. The command line comes first, then each file
// from top to bottom, then defaults that do not fit.

import { escaped } from "../../../shared/base/text/printable.js";
import type { Violation } from "../violation.js";
import type { EffectiveConfig } from "./effective.js";
import { originText, type Origin } from "./origin.js";

export interface Problem extends Violation {
  readonly origin: Origin;
}

/** A violation with the origin of the value. */
export function problemOf(violation: Violation, config: EffectiveConfig): Problem {
  const { path } = violation;
  const origin: Origin = path.startsWith("--") ? { kind: "flag", flag: path.slice(2) } : config.origin(path);
  return { ...violation, origin };
}

/** A start goes on. */
export function isTolerated(problem: Problem): boolean {
  return problem.isTolerated === true;
}

/** The value was written by the operator. False for a default that replaces a value that could not be read. */
export function isWritten({ origin }: Problem): boolean {
  return origin.kind !== "default" && origin.kind !== "derived";
}

/**
 * True if a rule reports a problem in a list that was not read completely. Such a report would be wrong: it would call
 * missing items empty and show wrong item numbers.
 */
export function isInBrokenList({ path }: Problem, reading: readonly Problem[]): boolean {
  const list = /^[^[]+\[(?=\d+\])/.exec(path)?.[0];
  return list !== undefined && reading.some((problem) => !isTolerated(problem) && problem.path.startsWith(list));
}

/** `files` in the order they were read. */
export function reportLines(problems: readonly Problem[], files: readonly string[]): string[] {
  const places = new Map(files.map((file, index) => [file, index]));
  const rank = ({ origin }: Problem): [number, number, number] => {
    if (origin.kind === "file" || origin.kind === "drop-in") {
      return [places.get(origin.file) ?? -1, origin.line, origin.column];
    }
    return [origin.kind === "flag" ? -1 : files.length, 0, 0];
  };
  return (
    problems
      .map((problem) => ({ problem, rank: rank(problem) }))
      .sort(({ rank: a }, { rank: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
      // A file's name and its keys are texts of others.
      .map(({ problem }) => escaped(problemText(problem)))
  );
}

/** "/etc/k.yaml:7:3: maxPods: …", "--max-pods: …", "port (default): …". @internal */
export function problemText({ path, message, origin }: Problem): string {
  switch (origin.kind) {
    case "file":
    case "drop-in":
      return `${originText(origin)}: ${path === "" ? "" : `${path}: `}${message}`;
    case "flag":
      return path.includes("[") ? `--${origin.flag}: ${path}: ${message}` : `--${origin.flag}: ${message}`;
    case "default":
    case "derived":
      return `${path} (${originText(origin)}): ${message}`;
  }
}
