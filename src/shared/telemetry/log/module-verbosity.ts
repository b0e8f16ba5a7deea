// --vmodule: a separate verbosity for the modules that match a pattern. Patterns are Go's globs, as in klog. `*` and
// `?` stop at a slash, [a-z] and [^a-z] are classes, and a backslash escapes a character.

import type { VModule } from "./logging-config.js";

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
