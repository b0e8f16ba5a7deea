// The completion script for bash. It needs no other package: bash-completion only finds the file by the command's name.
import { isPath, optionWords, type CommandRow, type OptionRow } from "./command-table.js";

/** The text of the script; sourcing it defines one function and binds it to the command. */
export function bashCompletion(table: CommandRow): string {
  const name = `_${table.name}`;
  const { taking } = optionWords(table.options);
  const names = table.commands.map((command) => command.name);
  const cases = table.commands.flatMap((command) => [
    `    ${command.name})`,
    `      options='${optionWords(command.options).all.join(" ")}'`,
    ...(command.choices === undefined ? [] : [`      words='${command.choices.join(" ")}'`]),
    "      ;;",
  ]);
  const everyOption = [table, ...table.commands].flatMap(({ options }) => options);
  return [
    `# bash completion for ${table.name}`,
    `${name}() {`,
    '  local word="${COMP_WORDS[COMP_CWORD]}" before="" command="" words="" options="" index',
    '  [ "$COMP_CWORD" -gt 0 ] && before="${COMP_WORDS[COMP_CWORD-1]}"',
    // bash splits --name=value at "=".
    '  if [ "$word" = "=" ]; then word=""',
    '  elif [ "$before" = "=" ] && [ "$COMP_CWORD" -gt 1 ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi',
    ...valueCases(everyOption),
    "  for ((index = 1; index < COMP_CWORD; index++)); do",
    '    case "${COMP_WORDS[index]}" in',
    ...(taking.length === 0 ? [] : [`      ${taking.join("|")}) index=$((index + 1)) ;;`]),
    "      -*|=) ;;",
    '      *) command="${COMP_WORDS[index]}"; break ;;',
    "    esac",
    "  done",
    '  case "$command" in',
    `    "") words='${names.join(" ")}' ;;`,
    ...cases,
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

/** Values that may follow an option. */
function valueCases(options: readonly OptionRow[]): string[] {
  const lines = new Map<string, string>();
  for (const option of options) {
    if (option.value === undefined) continue;
    const reply =
      option.choices !== undefined
        ? `COMPREPLY=($(compgen -W '${option.choices.join(" ")}' -- "$word"))`
        : isPath(option)
          ? 'COMPREPLY=($(compgen -f -- "$word"))'
          : "COMPREPLY=()";
    if (option.valueIsOptional === undefined) lines.set(option.names.join("|"), reply);
  }
  if (lines.size === 0) return [];
  const cases = [...lines].map(([names, reply]) => `    ${names}) ${reply}; return ;;`);
  return ['  case "$before" in', ...cases, "  esac"];
}
