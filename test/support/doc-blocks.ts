// Fenced blocks of documents, and where their commands run: a comment before a block names it.
//
//   <!-- run: node -->                    by test/integration/docs.test.ts on a stand-alone node
//   <!-- run: cluster -->                 by test/cluster/documents.test.ts with kubectl on a node of a cluster
//   <!-- run: package -->                 by test/vm/release.test.ts on a machine with systemd and the package
//   <!-- run by: test/vm/release.test.ts -->    another file runs the same commands
//   <!-- not run: reason -->              no test runs them

type Environment =
  | { kind: "node" }
  | { kind: "cluster" }
  | { kind: "package" }
  | { kind: "run by"; files: readonly string[] }
  | { kind: "not run"; reason: string };

export interface Block {
  /** Line of the opening fence, from 1. */
  line: number;
  /** "" without a tag. */
  language: string;
  text: string;
  /** undefined: no comment, or one that names none. */
  environment: Environment | undefined;
}

const FENCE = /^( *)```(\w*)$/;
const COMMENT = /^ *<!-- (run|run by|not run): (\S.*) -->$/;

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let comment: Environment | undefined;
  let open: { line: number; language: string; indent: string; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const [, indent = "", language = ""] = FENCE.exec(line) ?? [];
    const isFence = FENCE.test(line);
    if (open !== undefined && isFence && language === "") {
      const { lines, ...start } = open;
      blocks.push({ line: start.line, language: start.language, text: `${lines.join("\n")}\n`, environment: comment });
      open = undefined;
      comment = undefined;
    } else if (open !== undefined) open.lines.push(line.slice(open.indent.length));
    else if (isFence) open = { line: index + 1, language, indent, lines: [] };
    else if (COMMENT.test(line)) comment = environmentOf(line);
    else if (line.trim() !== "") comment = undefined;
  }
  return blocks;
}

function environmentOf(line: string): Environment | undefined {
  const [, kind = "", rest = ""] = COMMENT.exec(line) ?? [];
  if (kind === "run by") return { kind, files: rest.split(", ") };
  if (kind === "not run") return { kind, reason: rest };
  return rest === "node" || rest === "cluster" || rest === "package" ? { kind: rest } : undefined;
}

/** One command of a console block and the lines that it prints. */
export interface Shown {
  command: string;
  output: readonly string[];
}

/** Reads the commands and outputs of a block with lines "$ command" and output. */
export function shownIn(text: string): Shown[] {
  const shown: { command: string; output: string[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("$ ")) shown.push({ command: line.slice(2), output: [] });
    else if (line.trim() !== "") shown.at(-1)?.output.push(line);
  }
  return shown;
}

/**
 * True if the shown lines are the whole output; "…" stands for any text that is left out. Numbers, durations, times,
 * ids, the width of columns and bars, and the place of line breaks may differ.
 */
export function matchesShown(shown: readonly string[], output: string): boolean {
  const printed = general(output);
  const parts = shown.join("\n").split("…").map(general);
  const last = parts.pop() ?? "";
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const at = printed.indexOf(part, from);
    if (at < 0 || (index === 0 && at > 0)) return false;
    from = at + part.length;
  }
  if (parts.length === 0) return printed === last;
  return printed.length - last.length >= from && printed.endsWith(last);
}

function general(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z| UTC)?/g, "#")
    .replaceAll(/\b[0-9a-f]{12,}\b/g, "#")
    .replaceAll(/\d+/g, "#")
    .replaceAll("#.#", "#")
    .replaceAll(/#(?:ms|[smhd])(?![a-zA-Z])/g, "#")
    .replaceAll(/#+/g, "#")
    .replaceAll(/█+/g, "█")
    .replaceAll(/\s+/g, " ")
    .trim();
}
