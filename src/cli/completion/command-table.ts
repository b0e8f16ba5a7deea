// A program's commands and options as data: completion scripts and man pages are made of it.

import type { Command } from "commander";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { NAMES_COMMAND } from "./names-command.js";

export interface OptionRow {
  /** As typed, short ones first: ["-o", "--output"]. */
  readonly names: readonly string[];
  /** Placeholder of its value; absent: the option takes none. */
  readonly value?: string;
  /** The value may be left out, or stands after "=" only. */
  readonly valueIsOptional?: true;
  /** All values that it takes, where they are few. */
  readonly choices?: readonly string[];
  /** One line. */
  readonly help: string;
}

export interface CommandRow {
  readonly name: string;
  readonly help: string;
  /** Options of this command only; those of the commands above hold, too. */
  readonly options: readonly OptionRow[];
  /** Arguments as the usage shows them: ["<pod>", "[command...]"]. */
  readonly args: readonly string[];
  /** All values of the first argument, where they are few. */
  readonly choices?: readonly string[] | undefined;
  /** Its first argument is a pod: scripts request the names from the kubelet. */
  readonly takesPod?: true | undefined;
  /** So are the others. */
  readonly takesPods?: true | undefined;
  readonly commands: readonly CommandRow[];
}

const HELP: OptionRow = { names: ["-h", "--help"], help: "show the help and exit" };

/** The table of a commander program: commands in their order, without "help". */
export function commandTable(command: Command): CommandRow {
  const options = command.options.map(({ short, long, required, optional, flags, description, argChoices }) => {
    const names = [short, long].filter((name) => name !== undefined);
    const value = required || optional ? placeholder(flags) : undefined;
    return omitUndefined<OptionRow>({
      names,
      help: description,
      value,
      valueIsOptional: optional ? true : undefined,
      choices: argChoices,
    });
  });
  const args = command.registeredArguments;
  const choices = args[0]?.argChoices;
  const ofPods = args[0]?.name() === "pod" || args[0]?.name() === "pods";
  return {
    name: command.name(),
    help: command.description(),
    options: [...options, HELP],
    args: args.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
      return argument.required ? `<${name}>` : `[${name}]`;
    }),
    choices,
    takesPod: ofPods ? (true as const) : undefined,
    takesPods: ofPods && args[0]?.variadic === true ? (true as const) : undefined,
    commands: command.commands.filter((one) => one.name() !== NAMES_COMMAND).map(commandTable),
  };
}

/** Returns the name of the value in the flags: "name" from "-n, --namespace <name>". */
function placeholder(flags: string): string {
  const begin = flags.search(/[<[]/);
  return begin < 0 ? "value" : flags.slice(begin + 1, -1);
}

/** All names of options, and those that take the next word as their value. */
export function optionWords(options: readonly OptionRow[]): { all: string[]; taking: string[] } {
  const taking = options.filter(({ value, valueIsOptional }) => value !== undefined && valueIsOptional === undefined);
  return { all: options.flatMap(({ names }) => names), taking: taking.flatMap(({ names }) => names) };
}

/** True for an option whose value is a container of the command's pod. */
export function isContainer(option: OptionRow): boolean {
  return option.names.includes("--container");
}

/** True for a placeholder that stands for a file or a folder. */
export function isPath(option: OptionRow): boolean {
  return option.value === "path" || option.value === "file";
}
