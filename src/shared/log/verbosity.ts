// klog's V-levels on pino's scale. Info lines are V(0); pino's debug is V(4) and its trace V(6), the rest has a level of
// its own. Invariant: a line of V(n) is written when n is at most the verbosity of its logger.
import type { VModule } from "./logging-config.js";

/** Levels that pino lacks. */
export const EXTRA_LEVELS = { v1: 28, v2: 26, v3: 24, v5: 15, v7: 8, v8: 6, v9: 4, v10: 2 } as const;

/** Name of the pino level of V(n); the index is n. */
const NAMES = ["info", "v1", "v2", "v3", "debug", "v5", "trace", "v7", "v8", "v9", "v10"] as const;
export type VerboseLevel = (typeof NAMES)[number];

export const MAX_VERBOSITY = NAMES.length - 1;
export const WARN_LEVEL = 40;
export const ERROR_LEVEL = 50;
export const FATAL_LEVEL = 60;
/** From here on an error comes with its stack. */
export const STACK_VERBOSITY = 4;

const VERBOSITIES: ReadonlyMap<number, number> = new Map<number, number>([
  ...Object.entries({ info: 30, debug: 20, trace: 10, ...EXTRA_LEVELS }).map(([name, level]): [number, number] => [
    level,
    (NAMES as readonly string[]).indexOf(name),
  ]),
]);

/** The V-level of a pino level number; 0 for warnings and errors, which are always written. */
export function verbosityOfLevel(level: number): number {
  return VERBOSITIES.get(level) ?? 0;
}

/** pino's level name for V(n); above V(10) everything is V(10). */
export function levelOfVerbosity(n: number): VerboseLevel {
  return NAMES[Math.min(Math.max(0, Math.trunc(n)), MAX_VERBOSITY)] ?? "info";
}

/** The verbosity for a level name, e.g. of a logger made in a test. */
export function verbosityOfName(name: string): number {
  return Math.max(0, (NAMES as readonly string[]).indexOf(name));
}

// --vmodule: a separate verbosity for the modules that match a pattern. Patterns are Go's globs, as in klog. `*` and `?` stop at a slash,
// [a-z] and [^a-z] are classes, and a backslash escapes a character.

/** The verbosity of a module of a thread by `vmodule`; 0 when no pattern matches. The first match counts. */
export function moduleVerbosity(vmodule: readonly VModule[], thread: string, module: string): number {
  for (const { filePattern, verbosity } of vmodule) {
    const subject = filePattern.includes("/") ? `${thread}/${module}` : module;
    if (matchGlob(filePattern, subject)) return verbosity;
  }
  return 0;
}

/** Go's filepath.Match, with a malformed pattern matching nothing. @internal */
export function matchGlob(pattern: string, subject: string): boolean {
  const expression = globExpression(pattern);
  return expression?.test(subject) === true;
}

function globExpression(pattern: string): RegExp | undefined {
  let source = "";
  let rest = pattern;
  while (rest !== "") {
    const token = /^(?:\\([^])|(\*)|(\?)|\[(\^?)((?:\\[^]|[^\]\\])+)\]|([^[\\]))/u.exec(rest);
    if (token === null) return undefined;
    const [whole, escaped, star, one, not, members, plain] = token;
    if (star !== undefined) source += "[^/]*";
    else if (one !== undefined) source += "[^/]";
    else if (members !== undefined) source += `(?!/)[${not ?? ""}${classMembers(members)}]`;
    else source += escapeText(escaped ?? plain ?? "");
    rest = rest.slice(whole.length);
  }
  try {
    return new RegExp(`^${source}$`, "u");
  } catch {
    // A class such as [z-a].
    return undefined;
  }
}

/** Ranges keep their dash; all else is itself. */
function classMembers(members: string): string {
  return members.replace(/\\([^])|([^])/gu, (_all, escaped: string | undefined, plain: string | undefined) => {
    if (escaped !== undefined) return `\\u{${(escaped.codePointAt(0) ?? 0).toString(16)}}`;
    return plain === "-" ? "-" : `\\u{${(plain?.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
