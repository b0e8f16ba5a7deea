// Reads argv as Go's pflag does, which upstream's users rely on: --x=v and --x v, booleans without a value, --a_b for
// --a-b, repeated list flags, -v2. (commander reads options differently; it lays out --help, see help.ts.)
// Never stops at the first mistake: all problems come back together.
import { nearest } from "./nearest.js";
import { OPTION_ROWS, OPTIONS, type AnyOption, type SettingName } from "./options.js";
import { ACCEPTED, accumulate, fromText } from "./values.js";

/** A value somebody gave, and where: "--max-pods" or "/etc/kubelet.yaml:7:3: maxPods". */
export interface Given {
  value: unknown;
  origin: string;
}

export interface CommandLine {
  /** --help and --version win over everything else; `version` holds the flag's value ("true" when bare). */
  help: boolean;
  version: string | undefined;
  given: Map<SettingName, Given>;
  problems: string[];
}

const BY_FLAG = new Map<string, SettingName>();
const BY_SHORT = new Map<string, string>([["h", "help"]]);
for (const [name, { flag, short }] of OPTION_ROWS) {
  if (flag !== undefined) BY_FLAG.set(flag, name);
  if (flag !== undefined && short !== undefined) BY_SHORT.set(short, flag);
}
const KNOWN_FLAGS = [...BY_FLAG.keys(), "help", "version"];

/** `argv` without the program's own words. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const line: CommandLine = { help: false, version: undefined, given: new Map(), problems: [] };
  const rest = [...argv];
  let positional: string | undefined;
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      positional ??= rest.shift();
      break;
    }
    if (arg.startsWith("--")) {
      const equals = arg.indexOf("=");
      const flag = (equals < 0 ? arg.slice(2) : arg.slice(2, equals)).replaceAll("_", "-");
      take(line, flag, equals < 0 ? undefined : arg.slice(equals + 1), rest);
    } else if (arg.length > 1 && arg.startsWith("-")) {
      const flag = BY_SHORT.get(arg.charAt(1));
      const text = arg.slice(2).replace(/^=/, "");
      if (flag === undefined || (flag === "help" && arg.length > 2)) line.problems.push(unknownFlag(arg, arg.slice(1)));
      else take(line, flag, text === "" ? undefined : text, rest);
    } else {
      positional ??= arg;
    }
  }
  if (positional !== undefined) {
    line.problems.push(`unknown command ${JSON.stringify(positional)}: the kubelet takes flags only, see --help`);
  }
  return line;
}

/** One flag; its value is `text`, or the next argument unless the flag is a boolean. */
function take(line: CommandLine, flag: string, text: string | undefined, rest: string[]): void {
  if (flag === "help") {
    line.help = true;
    return;
  }
  if (flag === "version") {
    if (text === undefined || text === "true" || text === "raw" || /^v\d+\.\d+\.\d+/.test(text)) {
      line.version = text ?? "true";
    } else if (text !== "false") {
      line.problems.push(`--version: ${JSON.stringify(text)} is not true, false, raw or a version such as v1.36.0`);
    }
    return;
  }
  const name = BY_FLAG.get(flag);
  if (name === undefined) {
    line.problems.push(unknownFlag(`--${flag}`, flag));
    // What follows is most likely the unknown flag's value: one mistake, one message.
    if (text === undefined && rest[0]?.startsWith("-") === false) rest.shift();
    return;
  }
  const option: AnyOption = OPTIONS[name];
  const value = text ?? (option.type === "bool" ? "true" : rest.shift());
  if (value === undefined) {
    line.problems.push(`--${flag} needs a value: ${acceptedBy(option)}`);
    return;
  }
  const decoded = fromText(option.type, value);
  if (decoded === undefined) {
    line.problems.push(`--${flag}: ${JSON.stringify(value)} is not ${acceptedBy(option)}`);
    return;
  }
  const before = line.given.get(name);
  const all = before === undefined ? decoded : accumulate(option.type, before.value, decoded);
  line.given.set(name, { value: all, origin: `--${flag}` });
}

function acceptedBy(option: AnyOption): string {
  if (option.type === "strings") return "a list separated by commas";
  return option.type === "headerMap" ? "name:value, separated by commas" : ACCEPTED[option.type];
}

function unknownFlag(shown: string, name: string): string {
  const near = nearest(name, KNOWN_FLAGS);
  return `unknown flag ${shown}${near === undefined ? "; --help lists the known ones" : `; did you mean --${near}?`}`;
}
