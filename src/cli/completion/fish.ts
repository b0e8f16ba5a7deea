// The completion script for fish: one `complete` line for each command and option.

import { isContainer, isPath, optionWords, type CommandRow, type OptionRow } from "./command-table.js";
import { NAMES_COMMAND } from "./names-command.js";

/** The text of the script. */
export function fishCompletion(table: CommandRow): string {
  const { name } = table;
  const takesPods = table.commands.some((command) => command.takesPod === true);
  const lines = [`# fish completion for ${name}`, ...(takesPods ? nameFunctions(table) : []), `complete -c ${name} -f`];
  for (const option of table.options) lines.push(`complete -c ${name} ${words(option, name)}`);
  for (const command of table.commands) {
    lines.push(`complete -c ${name} -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.help)}`);
    const when = `-n ${quoted(`__fish_seen_subcommand_from ${command.name}`)}`;
    if (command.takesPod === true) {
      const one = command.takesPods === true ? "" : `; and not __${name}_pod`;
      const whenPod = `-n ${quoted(`__fish_seen_subcommand_from ${command.name}${one}`)}`;
      lines.push(`complete -c ${name} ${whenPod} -a ${quoted(`(__${name}_names)`)}`);
    }
    if (command.args[0]?.includes("files") === true) lines.push(`complete -c ${name} ${when} -F`);
    if (command.choices !== undefined)
      lines.push(`complete -c ${name} ${when} -a ${quoted(command.choices.join(" "))}`);
    for (const option of command.options) {
      // The program's own --help is there already.
      if (!option.names.includes("--help")) lines.push(`complete -c ${name} ${when} ${words(option, name)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Names from the kubelet, silent without one; and the pod that the words name. */
function nameFunctions({ name, options, commands }: CommandRow): string[] {
  const taking = [options, ...commands.map((command) => command.options)].flatMap((rows) => optionWords(rows).taking);
  return [
    `function __${name}_names`,
    "  set -l words (commandline -opc)",
    "  set -l own",
    "  for index in (seq 2 (count $words))",
    "    contains -- $words[$index] --socket --root-dir -n --namespace; and set -a own $words[$index] $words[(math $index + 1)]",
    "    string match -qr -- '^--(socket|root-dir|namespace)=' $words[$index]; and set -a own $words[$index]",
    "  end",
    `  command $words[1] ${NAMES_COMMAND} $own $argv 2>/dev/null`,
    "end",
    // Prints the word after the command's name that is no option and no value; fails without one.
    `function __${name}_pod`,
    "  set -l found",
    "  set -l value no",
    "  for word in (commandline -opc)[2..]",
    "    if test $value = yes",
    "      set value no",
    `    else if contains -- $word ${[...new Set(taking)].join(" ")}`,
    "      set value yes",
    "    else if not string match -q -- '-*' $word",
    "      set -a found $word",
    "    end",
    "  end",
    "  test (count $found) -ge 2; and echo $found[2]",
    "end",
  ];
}

function words(option: OptionRow, name: string): string {
  const names = option.names.map((one) => (one.startsWith("--") ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`));
  const needed =
    option.value !== undefined && option.valueIsOptional === undefined ? [isPath(option) ? "-r" : "-x"] : [];
  const value =
    option.choices !== undefined
      ? [`-a ${quoted(option.choices.join(" "))}`]
      : isPath(option)
        ? ["-F"]
        : isContainer(option)
          ? [`-a ${quoted(`(__${name}_names --containers-of (__${name}_pod))`)}`]
          : [];
  return [...names, ...needed, ...value, `-d ${quoted(option.help)}`].join(" ");
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, (character) => `\\${character}`)}'`;
}
