// Reads argv as Go's pflag does, because upstream's users rely on it. It accepts --x=v and --x v, booleans without a
// value, --a_b for --a-b, repeated list flags, and -v2. (commander reads options differently; it lays out --help, see
// help.ts.) Never stops at the first mistake: all problems come back together.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { nearestName } from "../../shared/base/text/nearest-name.js";
import { quoteStart } from "../../shared/base/text/quote.js";
import type { Flag } from "./flags/flag.js";
import { accepted, readValue, together, typeOf, writeValue } from "./flags/kinds.js";
import { REMOVED_FLAGS, removedMessage } from "./flags/removed.js";
import { flagsOf, type KnownFlags } from "./flags/table.js";
import { isReportable, KUBERNETES_VERSION } from "./version.js";

interface GivenFlag {
  /** Long name without dashes. */
  readonly name: string;
  /** Decoded: of the value type that the flag's kind has (kinds.ts, typeOf). */
  readonly value: unknown;
}

export interface CommandLine {
  /** --help wins over everything else, then --version: "true" or "raw", undefined if it is not given. */
  help: boolean;
  version: string | undefined;
  /** The version to report in place of our own (--version=v1.36.0-name). */
  reportedVersion: string | undefined;
  /** By name; without help and version. */
  given: Map<string, GivenFlag>;
  problems: string[];
  /** One line for the log per deprecated flag that is used. */
  deprecations: string[];
}

export interface FlagValue {
  /** Without dashes. */
  readonly name: string;
  /** In the form of upstream's log: lists are in brackets. */
  readonly value: string;
  /** The value is given and a credential: not for the log. */
  readonly secret?: true | undefined;
}

/** `argv` without the program's own name. Flags of other platforms than `platform` are unknown. */
export function readCommandLine(argv: readonly string[], platform: NodeJS.Platform = process.platform): CommandLine {
  const line: CommandLine = {
    help: false,
    version: undefined,
    reportedVersion: undefined,
    given: new Map(),
    problems: [],
    deprecations: [],
  };
  const reading: Reading = { argv, at: 0, line, known: flagsOf(platform) };
  let positional: number | undefined;
  for (let arg = argv[0]; arg !== undefined; arg = argv[reading.at]) {
    reading.at++;
    if (arg === "--") {
      if (reading.at < argv.length) positional ??= reading.at;
      break;
    }
    if (arg.startsWith("--")) takeLong(reading, arg);
    else if (arg.length > 1 && arg.startsWith("-")) takeShort(reading, arg);
    else positional ??= reading.at - 1;
  }
  if (positional !== undefined) problem(reading, unknownCommand(reading, positional));
  return line;
}

/** Every flag with its value, given or default, in the order of the names, for the start-up log and /flagz. */
export function flagValues(line: CommandLine, platform: NodeJS.Platform = process.platform): FlagValue[] {
  const values: FlagValue[] = [];
  for (const [name, flag] of flagsOf(platform).byName) {
    const given = line.given.get(name)?.value;
    const text = given === undefined ? (asked(line, name) ?? flag.default) : writeValue(flag.kind, given);
    const shown = typeOf(flag.kind) === "strings" ? `[${text}]` : text;
    values.push(
      omitUndefined({ name, value: shown, secret: flag.secret === true && given !== undefined ? true : undefined }),
    );
  }
  return values.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Help and version are not among the given flags. */
function asked(line: CommandLine, name: string): string | undefined {
  if (name === "help") return String(line.help);
  return name === "version" ? (line.version ?? line.reportedVersion) : undefined;
}

/** The position of the parser in argv. */
interface Reading {
  readonly argv: readonly string[];
  /** Index of the next argument. */
  at: number;
  readonly line: CommandLine;
  readonly known: KnownFlags;
}

function takeLong(reading: Reading, arg: string): void {
  const { name, text } = split(arg.slice(2));
  if (name === "" || name.startsWith("-")) {
    problem(reading, `${quoteStart(arg)} is not a flag; write --name or --name=value`);
    return;
  }
  const flag = reading.known.byName.get(name);
  if (flag === undefined) {
    problem(reading, removedMessage(name) ?? unknownFlag(reading, `--${name}`, name));
    // The next word is probably the unknown flag's value: report one mistake once.
    const mayHaveValue = text === undefined && REMOVED_FLAGS[name]?.bool !== true;
    if (mayHaveValue && reading.argv[reading.at]?.startsWith("-") === false) reading.at++;
    return;
  }
  takeValue(reading, name, flag, text ?? flag.bare);
}

/** "-v2", "-v=2", "-v 2", and several letters in one as long as they take no value. */
function takeShort(reading: Reading, arg: string): void {
  // One dash too few: the letters could only be read as nonsense.
  const { name: whole } = split(arg.slice(1));
  if (whole.length > 1 && reading.known.byName.has(whole)) {
    problem(reading, unknownFlag(reading, `-${whole}`, whole));
    return;
  }
  let letters = arg.slice(1);
  while (letters !== "") {
    const name = reading.known.byLetter.get(letters.charAt(0));
    const flag = name === undefined ? undefined : reading.known.byName.get(name);
    if (name === undefined || flag === undefined) {
      problem(reading, unknownFlag(reading, `-${whole}`, whole));
      return;
    }
    letters = letters.slice(1);
    if (letters.length > 1 && letters.startsWith("=")) {
      takeValue(reading, name, flag, letters.slice(1));
      return;
    }
    if (flag.bare === undefined) {
      takeValue(reading, name, flag, letters === "" ? undefined : letters);
      return;
    }
    takeValue(reading, name, flag, flag.bare);
  }
}

/** One known flag; without `text` the next argument is its value. */
function takeValue(reading: Reading, name: string, flag: Flag, text: string | undefined): void {
  const { line } = reading;
  const value = text ?? reading.argv[reading.at++];
  const shown = dashed(name);
  if (value === undefined) {
    problem(reading, `${shown} needs a value: ${accepted(flag.kind)}`);
    return;
  }
  if (flag.deprecated !== undefined) noteDeprecated(line, `${shown} is deprecated: ${flag.deprecated}`);
  // As upstream: an empty address leaves things as they are.
  if (flag.kind === "ip" && value === "") return;
  const decoded = readValue(flag.kind, value);
  if (decoded === undefined) {
    const what = flag.secret === true ? "the value" : quoteStart(value);
    problem(reading, `${shown}: ${what} is not ${accepted(flag.kind)}`);
  } else if (name === "help") {
    line.help = decoded === true;
  } else if (name === "version") {
    takeVersion(reading, decoded as string);
  } else {
    const before = line.given.get(name);
    const all = before === undefined ? decoded : together(flag.kind, before.value, decoded);
    line.given.set(name, { name, value: all });
  }
}

function takeVersion(reading: Reading, value: string): void {
  const { line } = reading;
  line.version = value === "true" || value === "raw" ? value : undefined;
  if (!value.startsWith("v")) return;
  if (isReportable(value)) line.reportedVersion = value;
  else {
    const example = `${KUBERNETES_VERSION}-name`;
    problem(
      reading,
      `--version: ${quoteStart(value)} cannot be reported: it must be ${KUBERNETES_VERSION}, or more, as ${example}`,
    );
  }
}

function split(body: string): { name: string; text: string | undefined } {
  const equals = body.indexOf("=");
  const name = (equals < 0 ? body : body.slice(0, equals)).replaceAll("_", "-");
  return { name, text: equals < 0 ? undefined : body.slice(equals + 1) };
}

function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

/** A mistake that is made twice is reported once. */
function problem({ line }: Reading, text: string): void {
  if (!line.problems.includes(text)) line.problems.push(text);
}

function noteDeprecated(line: CommandLine, text: string): void {
  if (!line.deprecations.includes(text)) line.deprecations.push(text);
}

function unknownFlag({ known }: Reading, shown: string, name: string): string {
  const near = known.byName.has(name) ? name : nearestName(name, known.byName.keys());
  return `unknown flag ${shown}${near === undefined ? "; see --help for all flags" : `; did you mean ${dashed(near)}?`}`;
}

function unknownCommand({ argv, known }: Reading, at: number): string {
  const word = argv[at] ?? "";
  const before = /^--([^=]+)$/.exec(argv[at - 1] ?? "")?.[1]?.replaceAll("_", "-") ?? "";
  const meant = known.byName.get(before)?.kind === "bool" && readValue("bool", word) !== undefined;
  const advice = meant ? `write --${before}=${word}` : "the kubelet accepts only flags; see --help";
  return `unknown command ${quoteStart(word)}: ${advice}`;
}
