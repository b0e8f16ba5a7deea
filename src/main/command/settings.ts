// From the words somebody typed to the settings the agent runs with. Everything wrong with the command line, the files
// and their values is reported in one SettingsError. Pure but for `io`, which is called before the agent runs.
import { readAgentFlags, readQuestions, type AgentFlags, type Questions } from "./agent-flags.js";
import { readCommandLine } from "./command-line.js";
import { resolveConfig, type ConfigIo, type ResolvedConfig } from "./config/resolve-config.js";
import { rootDirProblem } from "./config/usable.js";
import { SettingsError } from "./errors.js";
import { validateFlags } from "./rules/index.js";
import type { HostFacts, Violation } from "./rules/rule.js";
import { settingsOf, type Settings } from "./settings-of.js";
import { versionText } from "./version.js";

export type { Settings };

export interface CommandIo extends ConfigIo {
  /** What rules need to know of this machine. */
  host(): HostFacts;
}

export type CommandRequest =
  /** `text` ends with a line break; it belongs on stdout when the exit code is 0, else on stderr. */
  { action: "print"; text: string; exitCode: 0 | 1 } | { action: "run"; settings: Settings };

/**
 * `argv` without the program's own words. Throws SettingsError. Help and version ask for no valid settings;
 * --check-config and --print-config answer for any machine: rules that need to know this one are left out.
 */
export async function loadSettings(argv: readonly string[], io: CommandIo): Promise<CommandRequest> {
  const line = readCommandLine(argv);
  if (line.help) return print((await import("./help.js")).helpText());
  if (line.version !== undefined) return print(`${versionText(line.version, line.reportedVersion)}\n`);
  const flags = readAgentFlags(line.given);
  const questions = readQuestions(line.given);
  const offline = questions.checkConfig || questions.printConfig !== "";
  const resolved = await resolveConfig(line.given, io, offline ? {} : io.host(), flagViolations(flags));
  const problems = [...line.problems, ...resolved.problems];
  if (offline) return await answerOffline(questions, resolved, problems);
  if (problems.length > 0) throw new SettingsError(problems);
  return { action: "run", settings: settingsOf(line, flags, resolved) };
}

function flagViolations(flags: AgentFlags): Violation[] {
  const root = rootDirProblem(flags.rootDir);
  return [...validateFlags(flags), ...(root === undefined ? [] : [root])];
}

async function answerOffline(
  { printConfig }: Questions,
  { config, files }: ResolvedConfig,
  problems: readonly string[],
): Promise<CommandRequest> {
  if (problems.length > 0) return { action: "print", text: `${problems.join("\n")}\n`, exitCode: 1 };
  if (printConfig === "") return print(["ok", ...files, ""].join("\n"));
  const { printJson, printYaml } = await import("./config/print.js");
  return print(printConfig === "json" ? printJson(config) : printYaml(config));
}

function print(text: string): CommandRequest {
  return { action: "print", text, exitCode: 0 };
}
