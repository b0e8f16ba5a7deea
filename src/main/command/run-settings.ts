// A command line that starts a kubelet, or only checks or prints its configuration. It reads the configuration, applies
// all rules, and reports all problems together.

import { escaped } from "../../shared/base/text/printable.js";
import { readAgentFlags, readQuestions, type AgentFlags, type Questions } from "./agent-flags.js";
import type { CommandLine } from "./command-line.js";
import type { CommandIo, CommandRequest } from "./command-request.js";
import { resolveConfig, type ResolvedConfig } from "./config/resolve-config.js";
import { rootDirProblem } from "./config/usable.js";
import { SettingsError } from "./errors.js";
import { validateFlags } from "./rules/index.js";
import { settingsOf } from "./settings-of.js";
import type { Violation } from "./violation.js";

/**
 * Throws SettingsError. --check-config and --print-config work for any machine: rules that depend on this machine are
 * left out.
 */
export async function runSettings(line: CommandLine, io: CommandIo, strictness: Strictness): Promise<CommandRequest> {
  const flags = readAgentFlags(line.given);
  const questions = readQuestions(line.given);
  const offline = questions.checkConfig || questions.printConfig !== "";
  // A process that only serves CRI runs no pods: the machine need not be fit for them.
  const host = offline || flags.docker.mode === "server" ? {} : io.host();
  const resolved = await resolveConfig(line.given, io, host, flagViolations(flags));
  const problems = [...line.problems.map(escaped), ...resolved.problems];
  const unusable = problems.length - resolved.tolerated.length;
  if (questions.checkConfig && questions.printConfig === "" && unusable === 0) {
    return { action: "check", settings: settingsOf(line, flags, resolved), problems, files: resolved.files };
  }
  if (offline) return await answerOffline(questions, resolved, problems);
  const refused = strictness === "all problems" ? problems.length : unusable;
  if (refused > 0) throw new SettingsError(problems);
  return { action: "run", settings: settingsOf(line, flags, resolved) };
}

function flagViolations(flags: AgentFlags): Violation[] {
  const root = rootDirProblem(flags.rootDir);
  return [...validateFlags(flags), ...(root === undefined ? [] : [root])];
}

async function answerOffline(
  { printConfig }: Questions,
  { config }: ResolvedConfig,
  problems: readonly string[],
): Promise<CommandRequest> {
  if (problems.length > 0) return { action: "print", text: `${problems.join("\n")}\n`, exitCode: 1 };
  const { printJson, printYaml } = await import("./config/print.js");
  return printed(printConfig === "json" ? printJson(config) : printYaml(config));
}

function printed(text: string): CommandRequest {
  return { action: "print", text, exitCode: 0 };
}

/**
 * What refuses a command line that runs a kubelet: every problem, or what upstream's kubelet does not start with
 * either.
 */
export type Strictness = "all problems" | "as upstream";
