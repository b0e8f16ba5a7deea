// The completion script for zsh: a file named _<command> in a folder of $fpath.

import { isContainer, isPath, type CommandRow, type OptionRow } from "./command-table.js";
import { NAMES_COMMAND } from "./names-command.js";

/** The text of the file. */
export function zshCompletion(table: CommandRow): string {
  const own = table.options.flatMap((option) => specs(option, table.name));
  if (table.commands.length === 0) {
    return [`#compdef ${table.name}`, "_arguments \\", ...joined([...own, "'*:argument:_files'"]), ""].join("\n");
  }
  const commands = table.commands.map(({ name, help }) => `    ${quoted(`${name}:${help.replaceAll(":", "\\:")}`)}`);
  const functions = table.commands.some(({ takesPod }) => takesPod === true) ? nameFunctions(table) : [];
  const cases = table.commands.flatMap(({ name, options, args, choices, takesPod, takesPods }) => {
    const first =
      choices !== undefined
        ? [`'1:argument:(${choices.join(" ")})'`]
        : takesPod === true
          ? [`'${takesPods === true ? "*" : "1"}:pod:_${table.name}_pods'`]
          : args[0]?.includes("files") === true
            ? ["'*:file:_files'"]
            : [];
    return [
      `    ${name})`,
      "      _arguments \\",
      ...joined([...options, ...table.options].flatMap((option) => specs(option, table.name)).concat(first)),
      "      ;;",
    ];
  });
  return [
    `#compdef ${table.name}`,
    ...functions,
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
    ...(functions.length === 0 ? [] : OWN_OPTIONS),
    '    case "$words[1]" in',
    ...cases,
    "    esac",
    "    ;;",
    "esac",
    "",
  ].join("\n");
}

/** The inner _arguments forgets the options before the command. */
const OWN_OPTIONS = [
  "    local option",
  "    local -a own",
  "    for option in --socket --root-dir; do",
  '      [[ -n "${opt_args[$option]}" ]] && own+=("$option" "${opt_args[$option]}")',
  "    done",
];

/**
 * Names from the kubelet, silent without one. `_arguments` leaves the words from the command's name on, and the values
 * of options.
 */
function nameFunctions({ name }: CommandRow): string[] {
  const own = ["--socket", "--root-dir", "-n", "--namespace"];
  return [
    `_${name}_names() {`,
    "  local option",
    // own: of the options before the command.
    '  local -a given; given=("${own[@]}")',
    `  for option in ${own.join(" ")}; do`,
    '    [[ -n "${opt_args[$option]}" ]] && given+=("$option" "${opt_args[$option]}")',
    "  done",
    `  ${name} ${NAMES_COMMAND} "\${given[@]}" "$@" 2>/dev/null`,
    "}",
    `_${name}_pods() {`,
    "  local -a found",
    `  found=("\${(@f)$(_${name}_names)}")`,
    "  compadd -a found",
    "}",
    `_${name}_containers() {`,
    "  local -a found",
    // With *:: in the spec above, line holds what _arguments took for arguments: the pod first.
    `  [[ -n "$line[1]" ]] && found=("\${(@f)$(_${name}_names --containers-of "$line[1]")}")`,
    "  compadd -a found",
    "}",
  ];
}

function joined(lines: readonly string[]): string[] {
  return lines.map((line, index) => `  ${line}${index === lines.length - 1 ? "" : " \\"}`);
}

/** One line for each name of the option. */
function specs(option: OptionRow, program: string): string[] {
  const help = option.help.replace(/[[\]\\:]/g, (character) => `\\${character}`);
  const action =
    option.choices !== undefined
      ? `(${option.choices.join(" ")})`
      : isPath(option)
        ? "_files"
        : isContainer(option)
          ? `_${program}_containers`
          : " ";
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
