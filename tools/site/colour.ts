// Quiet colours for code: comments, texts, names and prompts, by a few rules per language. Pure; made at build time.
// What no rule knows stays plain.

import { escapeHtml } from "../../src/shared/base/text/escape.js";

type Kind = "c" | "s" | "n" | "p";
type Rule = readonly [kind: Kind, pattern: RegExp];

const TEXT = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const COMMENT = /(?<=^|\s)#[^\n]*/my;
const SHELL: readonly Rule[] = [
  ["c", COMMENT],
  ["s", TEXT],
  ["n", /(?<=^|\s)--?[a-zA-Z][\w-]*/my],
];
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  sh: SHELL,
  console: [["p", /^\$ /my], ...SHELL],
  yaml: [
    ["c", COMMENT],
    ["n", /(?<=^[ \t-]*)[\w./-]+(?=:(?:\s|$))/my],
    ["s", TEXT],
  ],
  json: [
    ["n", /"(?:[^"\\\n]|\\.)*"(?=\s*:)/y],
    ["s", TEXT],
  ],
  toml: [
    ["c", COMMENT],
    ["n", /^\s*(?:\[[^\n]*\]|[\w."-]+(?=\s*=))/my],
    ["s", TEXT],
  ],
};

/** HTML of a code block. In a console block only the commands have colours. */
export function colouredCode(text: string, language: string): string {
  const rules = RULES[language];
  if (rules === undefined) return escapeHtml(text);
  if (language !== "console") return coloured(text, rules);
  return text
    .split("\n")
    .map((line) => (line.startsWith("$ ") ? coloured(line, rules) : escapeHtml(line)))
    .join("\n");
}

function coloured(text: string, rules: readonly Rule[]): string {
  let html = "";
  let plain = "";
  for (let at = 0; at < text.length;) {
    const found = firstOf(text, at, rules);
    if (found === undefined) {
      plain += text[at] ?? "";
      at++;
      continue;
    }
    const [kind, piece] = found;
    html += `${escapeHtml(plain)}<span class="${kind}">${escapeHtml(piece)}</span>`;
    plain = "";
    at += piece.length;
  }
  return html + escapeHtml(plain);
}

function firstOf(text: string, at: number, rules: readonly Rule[]): [Kind, string] | undefined {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    const [piece] = pattern.exec(text) ?? [];
    if (piece !== undefined && piece !== "") return [kind, piece];
  }
  return undefined;
}
