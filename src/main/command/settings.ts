// From the command line to the settings that the kubelet runs with. Everything wrong with the command line, the files
// and their values is reported in one SettingsError. Pure but for `io`, which is called before the kubelet runs.

import { readCommandLine } from "./command-line.js";
import type { CommandIo, CommandRequest } from "./command-request.js";
import type { Strictness } from "./run-settings.js";
import type { Settings } from "./settings-of.js";
import { versionText } from "./version.js";

export type { CommandIo, CommandRequest, Settings, Strictness };

/**
 * `argv` without the program's own name. Throws SettingsError. Help and version need no valid settings and load
 * nothing that reads a configuration.
 */
export async function loadSettings(
  argv: readonly string[],
  io: CommandIo,
  strictness: Strictness = "as upstream",
): Promise<CommandRequest> {
  const line = readCommandLine(argv);
  if (line.help) return { action: "print", text: (await import("./help.js")).helpText(), exitCode: 0 };
  if (line.version !== undefined) {
    return { action: "print", text: `${versionText(line.version, line.reportedVersion)}\n`, exitCode: 0 };
  }
  return await (await import("./run-settings.js")).runSettings(line, io, strictness);
}
