// The completion script for zsh: a file named _<command> in a folder of $fpath.
import { isPath, type CommandRow, type OptionRow } from "./command-table.js";

/** The text of the file. */
export function zshCompletion(table: CommandRow): string {
  const own = table.options.flatMap(specs);
  if (table.commands.length === 0) {
    return [`#compdef ${table.name}`, "_arguments \\", ...joined([...own, "'*:argument:_files'"]), ""].join("\n");
  }
  const commands = table.commands.map(({ name, help }) => `    ${quoted(`${name}:${help.replaceAll(":", "\\:")}`)}`);
  const cases = table.commands.flatMap(({ name, options, choices }) => {
    const first = choices === undefined ? [] : [`'1:argument:(${choices.join(" ")})'`];
    return [
      `    ${name})`,
      "      _arguments \\",
      ...joined([...options, ...table.options].flatMap(specs).concat(first)),
      "      ;;",
    ];
  });
  return [
    `#compdef ${table.name}`,
    "local context state state_descr line",
    "typeset -A opt_args",
    "local -a commands",
    "commands=(",
    ...commands,
    ")",
    "_arguments -C \\",
    ...joined([...own, "'1:command:->command'", "'*::argument:->argument'"]),
    'case "$state" in',
    "  command) _describe command commands ;;",
    "  argument)",
    '    case "$words[1]" in',
    ...cases,
    "    esac",
    "    ;;",
    "esac",
    "",
  ].join("\n");
}

function joined(lines: readonly string[]): string[] {
  return lines.map((line, index) => `  ${line}${index === lines.length - 1 ? "" : " \\"}`);
}

/** One line for each name of the option. */
function specs(option: OptionRow): string[] {
  const help = option.help.replace(/[[\]\\:]/g, (character) => `\\${character}`);
  const action = option.choices !== undefined ? `(${option.choices.join(" ")})` : isPath(option) ? "_files" : " ";
  const tail = option.value === undefined ? "" : `:${option.value.replaceAll(":", "\\:")}:${action}`;
  return option.names.map((name) => {
    // Long options: the value after "=" or as the next word.
    const sign = option.value === undefined ? "" : option.valueIsOptional ? "=-" : name.startsWith("--") ? "=" : "+";
    return quoted(`${name}${sign}[${help}]${option.valueIsOptional && tail !== "" ? `:${tail}` : tail}`);
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
