// `nodelet completion`: the completion script of this command for a shell. The packages install the same text.

import type { Command } from "commander";
import { bashCompletion } from "../completion/bash.js";
import { commandTable, type CommandRow } from "../completion/command-table.js";
import { fishCompletion } from "../completion/fish.js";
import { zshCompletion } from "../completion/zsh.js";

/** How each shell's script is made of the table of a program. */
export const COMPLETIONS: Readonly<Record<string, (table: CommandRow) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `shell` is one of SHELLS: commander has checked it. */
export function completionCommand(program: Command, shell: string, write: (text: string) => void): void {
  write(COMPLETIONS[shell]?.(commandTable(program)) ?? "");
}
