// The completion script for bash. It needs no other package: bash-completion only finds the file by the command's name.

import { isContainer, isPath, optionWords, type CommandRow, type OptionRow } from "./command-table.js";
import { NAMES_COMMAND } from "./names-command.js";

/** Options of the program and of a command that decide which pods are named. */
const OF_NAMES = "--socket|--root-dir|-n|--namespace";

/** The text of the script; sourcing it defines functions and binds one of them to the command. */
export function bashCompletion(table: CommandRow): string {
  const name = `_${table.name}`;
  // -n may stand before the command, too.
  const taking = [...optionWords(table.options).taking, ...(table.commands.length > 0 ? ["-n", "--namespace"] : [])];
  const names = table.commands.map((command) => command.name);
  const takesPods = table.commands.some((command) => command.takesPod === true);
  return [
    `# bash completion for ${table.name}`,
    ...(takesPods ? nameFunctions(name) : []),
    `${name}() {`,
    '  local word="${COMP_WORDS[COMP_CWORD]}" before="" command="" words="" options="" index',
    '  [ "$COMP_CWORD" -gt 0 ] && before="${COMP_WORDS[COMP_CWORD-1]}"',
    // bash splits --name=value at "=".
    '  if [ "$word" = "=" ]; then word=""',
    '  elif [ "$before" = "=" ] && [ "$COMP_CWORD" -gt 1 ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi',
    ...valueCases(table.options, name).map((line) => `  ${line}`),
    "  for ((index = 1; index < COMP_CWORD; index++)); do",
    '    case "${COMP_WORDS[index]}" in',
    ...(taking.length === 0
      ? []
      : [
          `      ${taking.join("|")}) index=$((index + 1)); [ "\${COMP_WORDS[index]}" = "=" ] && index=$((index + 1)) ;;`,
        ]),
    "      -*|=) ;;",
    '      *) command="${COMP_WORDS[index]}"; break ;;',
    "    esac",
    "  done",
    '  case "$command" in',
    `    "") words='${names.join(" ")}' ;;`,
    ...table.commands.flatMap((command) => commandCase(command, name, taking)),
    "  esac",
    '  if [[ "$word" == -* ]]; then',
    `    COMPREPLY=($(compgen -W "$options ${optionWords(table.options).all.join(" ")}" -- "$word"))`,
    "  else",
    '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "  fi",
    "}",
    `complete -F ${name} ${table.name}`,
    "",
  ].join("\n");
}

function commandCase(command: CommandRow, name: string, programTaking: readonly string[]): string[] {
  const { options, choices, takesPod, takesPods } = command;
  const taking = [...programTaking, ...optionWords(options).taking];
  const podWord = `${name}_pod "$index" ${taking.map((word) => `'${word}'`).join(" ")}`;
  const container = options.some(isContainer) ? [`pod="$(${podWord})"`] : [];
  // Of several arguments only the first is a pod, unless all are.
  const onlyFirst = takesPods === true ? "" : `[ -z "$(${podWord})" ] && `;
  return [
    `    ${command.name})`,
    ...(container.length > 0 ? ["      local pod", ...container.map((line) => `      ${line}`)] : []),
    ...valueCases(options, name).map((line) => `      ${line}`),
    `      options='${optionWords(options).all.join(" ")}'`,
    ...(choices === undefined ? [] : [`      words='${choices.join(" ")}'`]),
    ...(takesPod === true ? [`      [[ "$word" != -* ]] && ${onlyFirst}words="$(${name}_names)"`] : []),
    ...(takesPod === undefined && options.some(isPath) && choices === undefined && command.args[0]?.includes("files")
      ? ['      [[ "$word" != -* ]] && { COMPREPLY=($(compgen -f -- "$word")); return; }']
      : []),
    "      ;;",
  ];
}

/** Names from the kubelet, silent without one; and the pod that the words name. */
function nameFunctions(name: string): string[] {
  return [
    `${name}_names() {`,
    "  local index next own=()",
    "  for ((index = 1; index < ${#COMP_WORDS[@]}; index++)); do",
    '    case "${COMP_WORDS[index]}" in',
    `      ${OF_NAMES})`,
    "        next=$((index + 1))",
    '        [ "${COMP_WORDS[next]}" = "=" ] && next=$((next + 1))',
    '        [ "$next" != "$COMP_CWORD" ] && own+=("${COMP_WORDS[index]}" "${COMP_WORDS[next]}")',
    "        index=$next ;;",
    "      --) break ;;",
    "    esac",
    "  done",
    `  "\${COMP_WORDS[0]}" ${NAMES_COMMAND} "\${own[@]}" "$@" 2>/dev/null`,
    "}",
    // $1: index of the command; the others: options that take the next word.
    `${name}_pod() {`,
    '  local at="$1" option',
    "  shift",
    "  for ((at++; at < ${#COMP_WORDS[@]}; at++)); do",
    '    [ "$at" = "$COMP_CWORD" ] && continue',
    '    case "${COMP_WORDS[at]}" in',
    "      --) return ;;",
    "      -*|=)",
    '        for option in "$@"; do',
    '          [ "$option" = "${COMP_WORDS[at]}" ] || continue',
    "          at=$((at + 1))",
    '          [ "${COMP_WORDS[at]}" = "=" ] && at=$((at + 1))',
    "          break",
    "        done ;;",
    '      *) printf "%s" "${COMP_WORDS[at]}"; return ;;',
    "    esac",
    "  done",
    "}",
  ];
}

/** Values that may follow an option. */
function valueCases(options: readonly OptionRow[], name: string): string[] {
  const lines = new Map<string, string>();
  for (const option of options) {
    if (option.value === undefined) continue;
    const reply =
      option.choices !== undefined
        ? `COMPREPLY=($(compgen -W '${option.choices.join(" ")}' -- "$word"))`
        : isPath(option)
          ? 'COMPREPLY=($(compgen -f -- "$word"))'
          : isContainer(option)
            ? `COMPREPLY=($(compgen -W "$([ -n "$pod" ] && ${name}_names --containers-of "$pod")" -- "$word"))`
            : "COMPREPLY=()";
    if (option.valueIsOptional === undefined) lines.set(option.names.join("|"), reply);
  }
  if (lines.size === 0) return [];
  const cases = [...lines].map(([names, reply]) => `  ${names}) ${reply}; return ;;`);
  return ['case "$before" in', ...cases, "esac"];
}
