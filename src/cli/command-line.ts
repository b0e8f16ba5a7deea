// Makes the words of kubectl users those that the program's parser takes: -n before the command, options of `exec`
// after the pod, and values of switches such as --wait=false. Pure.

import type { Command } from "commander";

type Options = Pick<Command["options"][number], "short" | "long" | "required" | "optional">[];

/** An option of the commands; kubectl takes it before them, too. */
const NAMESPACE = { short: "-n", long: "--namespace", required: true, optional: false };

/** True if the word stands before the command, or without one. */
export function isBeforeCommand(program: Command, argv: readonly string[], word: string): boolean {
  const index = commandIndex(program, argv);
  return (index < 0 ? argv : argv.slice(0, index)).includes(word);
}

/** The command's own name, also where its alias was typed. */
export function commandName(program: Command, argv: readonly string[]): string | undefined {
  return commandAt(program, argv[commandIndex(program, argv)])?.name();
}

function commandAt(program: Command, named: string | undefined): Command | undefined {
  return program.commands.find((one) => named !== undefined && [one.name(), ...one.aliases()].includes(named));
}

/** The words for the parser. */
export function preparedWords(program: Command, argv: readonly string[]): string[] {
  const index = commandIndex(program, argv);
  const named = argv[index];
  const command = commandAt(program, named);
  if (command === undefined || named === undefined) return [...argv];
  const options = [...program.options, ...command.options];
  const { kept, moved } = namespaceApart(argv.slice(0, index));
  const words = argv.slice(index + 1);
  const end = command.name() === "exec" ? execEnd(options, words) : words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end);
  const apart = rest.length > 0 && rest[0] !== "--" ? ["--", ...rest] : rest;
  return [...kept, named, ...moved, ...own.flatMap((word) => switched(options, word)), ...apart];
}

/** Index of the first word that is neither an option nor its value; -1: there is none. */
function commandIndex(program: Command, argv: readonly string[]): number {
  const options = [...program.options, NAMESPACE];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (!word.startsWith("-")) return index;
    if (takesNext(options, word)) index++;
  }
  return -1;
}

function namespaceApart(words: readonly string[]): { kept: string[]; moved: string[] } {
  const [kept, moved]: [string[], string[]] = [[], []];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const isIt = /^(?:-n|--namespace$|--namespace=)/.test(word);
    (isIt ? moved : kept).push(word);
    if (isIt && takesNext([NAMESPACE], word)) moved.push(words[++index] ?? "");
  }
  return { kept, moved };
}

/**
 * Where the command of `exec` begins: at "--", or at the first word after the pod that is no option of exec; -1:
 * nowhere.
 */
function execEnd(options: Options, words: readonly string[]): number {
  let pod = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return index;
    if (word.startsWith("-") && word !== "-") {
      if (takesNext(options, word)) index++;
    } else if (pod) return index;
    else pod = true;
  }
  return -1;
}

/** "-c" and "-itc" take the next word; "-capp", "--container=app" and switches do not. */
function takesNext(options: Options, word: string): boolean {
  if (word.startsWith("--")) return options.some(({ long, required }) => long === word && required);
  for (let at = 1; at < word.length; at++) {
    const option = options.find(({ short }) => short === `-${word[at] ?? ""}`);
    if (option?.required === true) return at === word.length - 1;
    if (option?.optional === true) return false;
  }
  return false;
}

/** "--wait=false" is --no-wait, or nothing where the switch is off by default. */
function switched(options: Options, word: string): string[] {
  const [, long, value] = /^(--[a-z-]+)=(true|false)$/.exec(word) ?? [];
  const isSwitch = options.some((one) => one.long === long && !one.required && !one.optional);
  if (long === undefined || !isSwitch) return [word];
  if (value === "true") return [long];
  const off = `--no-${long.slice(2)}`;
  return options.some((one) => one.long === off) ? [off] : [];
}
