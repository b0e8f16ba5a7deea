// Files with environment variables (fileKeyRef): VAR='value' and comments, a small part of POSIX shell syntax.
// https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-via-file/

/** A line that is neither a variable, a comment nor blank. */
class EnvFileError extends Error {
  override readonly name = "EnvFileError";
}

/** The variables of a file, up to the first malformed line. */
export interface EnvFile {
  /** Name to value; of variables with one name the first counts. */
  values: ReadonlyMap<string, string>;
  /** The malformed line; text after it is not read. */
  error?: EnvFileError;
}

/**
 * Reads a file once for all of its variables. Values stand in single quotes, as they are, over lines too; after the
 * quote a comment may follow. A blank between "=" and the quote makes the value empty, as in a shell.
 */
export function readEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  try {
    readVariables(text, values);
  } catch (error) {
    if (!(error instanceof EnvFileError)) throw error;
    return { values, error };
  }
  return { values };
}

/** "" when there is no such variable. @throws EnvFileError for a malformed line before it */
export function valueOf({ values, error }: EnvFile, key: string): string {
  const value = values.get(key);
  if (value === undefined && error !== undefined) throw error;
  return value ?? "";
}

/** Blanks and a variable whose value has one line: nearly every line of a file. */
const PLAIN = /[ \t\r\n]*([^ \t\r\n#'=][^ \t\r\n'=]*)='([^'\r\n]*)'\r?\n/y;

/** V8's own loops read plain lines and blanks: those of JavaScript over a megabyte take longer than a sync may. */
function readVariables(text: string, values: Map<string, string>): void {
  const notBlank = /[^ \t\r\n]/g;
  let line = 1;
  for (let at = 0, counted = 0; ;) {
    PLAIN.lastIndex = at;
    const plain = PLAIN.exec(text);
    if (plain !== null) {
      const [, name = "", value = ""] = plain;
      if (!values.has(name)) values.set(name, value);
      at = PLAIN.lastIndex;
      continue;
    }
    notBlank.lastIndex = at;
    const start = notBlank.exec(text)?.index;
    if (start === undefined) return;
    line += lineBreaks(text, counted, start);
    counted = start;
    if (text[start] === "#") {
      at = lineEnd(text, start);
      continue;
    }
    const equals = text.indexOf("=", start);
    const name = equals < 0 || equals > lineEnd(text, start) ? "" : text.slice(start, equals);
    // As upstream, blanks may be within a name: "export A" is a variable, if one that no container asks for.
    if (name === "" || name.endsWith(" ") || name.endsWith("\t"))
      throw new EnvFileError(`line ${line}: no VAR='value'`);
    const { value, next } = readValue(text, equals + 1, line);
    if (!values.has(name)) values.set(name, value);
    at = next;
  }
}

/** `next`: where the line after the value begins. */
function readValue(text: string, start: number, line: number): { value: string; next: number } {
  const end = lineEnd(text, start);
  if (start === end || /[ \t]/.test(text[start] ?? "")) return { value: "", next: end + 1 };
  if (text[start] !== "'") throw new EnvFileError(`line ${line}: the value is not in single quotes`);
  const close = text.indexOf("'", start + 1);
  if (close < 0) throw new EnvFileError(`line ${line}: the quote is not closed`);
  const restEnd = lineEnd(text, close + 1);
  const rest = text.slice(close + 1, restEnd);
  if (rest !== "" && !/^[ \t]*(?:\r?$|#)/.test(rest))
    throw new EnvFileError(`line ${line}: something follows the value`);
  const value = text.slice(start + 1, close);
  // Lines are read without what ends them.
  return { value: value.includes("\r") ? value.replaceAll("\r\n", "\n") : value, next: restEnd + 1 };
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function lineBreaks(text: string, from: number, to: number): number {
  let breaks = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) breaks++;
  return breaks;
}
