// The completion script for fish: one `complete` line for each command and option.
import { isPath, type CommandRow, type OptionRow } from "./command-table.js";

/** The text of the script. */
export function fishCompletion(table: CommandRow): string {
  const { name } = table;
  const lines = [`# fish completion for ${name}`, `complete -c ${name} -f`];
  for (const option of table.options) lines.push(`complete -c ${name} ${words(option)}`);
  for (const command of table.commands) {
    lines.push(`complete -c ${name} -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.help)}`);
    const when = `-n ${quoted(`__fish_seen_subcommand_from ${command.name}`)}`;
    if (command.choices !== undefined)
      lines.push(`complete -c ${name} ${when} -a ${quoted(command.choices.join(" "))}`);
    for (const option of command.options) {
      // The program's own --help is there already.
      if (!option.names.includes("--help")) lines.push(`complete -c ${name} ${when} ${words(option)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function words(option: OptionRow): string {
  const names = option.names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const needed = option.value !== undefined && option.valueIsOptional === undefined ? ["-r"] : [];
  const value =
    option.choices !== undefined ? [`-a ${quoted(option.choices.join(" "))}`] : isPath(option) ? ["-F"] : [];
  return [...names, ...needed, ...value, `-d ${quoted(option.help)}`].join(" ");
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, (character) => `\\${character}`)}'`;
}
