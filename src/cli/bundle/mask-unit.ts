// Masks secrets in unit files of systemd and in files of variables. Pure. Values of variables are masked, but the
// kubelet's own flags.

import { MASK, maskText } from "./mask-text.js";

/** Comments are left out, but the lines by which `systemctl cat` names its files. */
const FILE_NAME = /^# \/[\w./@-]+$/;
const WORD = /"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s"']+/g;

export function maskUnit(text: string): string {
  // A line that ends with a backslash goes on.
  const lines = text.replaceAll(/\\\n/g, " ").split("\n");
  return lines
    .filter((line) => FILE_NAME.test(line) || !/^\s*[#;]/.test(line))
    .map((line) => {
      const [, start, variables = ""] = /^\s*(Environment\s*=)(.*)$/i.exec(line) ?? [];
      return start === undefined ? maskText(line) : start + variables.replaceAll(WORD, shownVariable);
    })
    .join("\n");
}

/** A line that is no `NAME=value` is left out: it may be the rest of a value. */
export function maskVariablesFile(text: string): string {
  const lines = text.split("\n").filter((line) => /^\s*(?:export\s+)?[A-Za-z_]\w*=/.test(line));
  return `${lines.map((line) => shownVariable(line.trim())).join("\n")}\n`;
}

function shownVariable(word: string): string {
  const [, quote = "", name = "", value = ""] = /^(["']?)((?:export\s+)?[\w.-]+)=([^]*)$/.exec(word) ?? [];
  if (name === "") return MASK;
  return `${quote}${name}=${name.startsWith("KUBELET_") ? maskText(value) : `${MASK}${quote}`}`;
}
