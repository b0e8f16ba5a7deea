// Loads a configuration with this command line, without applying it: the result is the settings' problems, or every
// value.

import { configzBodies } from "../../command/config/configz.js";
import { plain } from "../../command/config/tree.js";
import { SettingsError } from "../../command/errors.js";
import { loadSettings, type CommandIo, type Strictness } from "../../command/settings.js";
import { type ConfigFiles } from "./config-files.js";
import { ioOf } from "./config-io.js";

export type Examination =
  | {
      readonly ok: true;
      /** JSON text by path. */
      readonly values: Readonly<Record<string, string>>;
      /** The responses of /configz with it. */
      readonly configz: { readonly plain: string; readonly withOrigins: string };
    }
  | { readonly ok: false; readonly problems: readonly string[] };

export async function examine(
  argv: readonly string[],
  files: ConfigFiles,
  base: CommandIo,
  strictness: Strictness,
): Promise<Examination> {
  try {
    const request = await loadSettings(argv, ioOf(files, base), strictness);
    if (request.action !== "run")
      return { ok: false, problems: request.action === "print" ? [request.text.trim()] : request.problems };
    const { config, certDir } = request.settings;
    const values = [...config.leaves()].map(({ path, node }) => [path, JSON.stringify(plain(node))] as const);
    return { ok: true, values: Object.fromEntries(values), configz: configzBodies(config, certDir) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { ok: false, problems: error.problems };
  }
}

/** Paths whose values differ. */
export function differences(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]);
}
