// From the words somebody typed to the settings the agent runs with. Everything wrong with the command line, the files
// and their values is reported in one SettingsError. Pure but for `io`, which is called before the agent runs.
import { readCommandLine } from "./command-line.js";
import type { ConfigIo } from "./config/resolve-config.js";
import type { HostFacts } from "./rules/rule.js";
import type { Settings } from "./settings-of.js";
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
 * `argv` without the program's own words. Throws SettingsError. Help and version ask for no valid settings and load
 * nothing that reads a configuration.
 */
export async function loadSettings(argv: readonly string[], io: CommandIo): Promise<CommandRequest> {
  const line = readCommandLine(argv);
  if (line.help) return { action: "print", text: (await import("./help.js")).helpText(), exitCode: 0 };
  if (line.version !== undefined) {
    return { action: "print", text: `${versionText(line.version, line.reportedVersion)}\n`, exitCode: 0 };
  }
  return await (await import("./run-settings.js")).runSettings(line, io);
}
