// The node's CNI network: the first configuration file, by name, that is valid.
// Source: https://www.cni.dev/docs/spec/ (section 1, network configuration format)

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { readText } from "../read-text.js";

/** One plugin's configuration, as its file has it. */
export type PluginConfig = Record<string, unknown> & { type: string };

export interface NetworkConfig {
  name: string;
  cniVersion: string;
  plugins: PluginConfig[];
}

const MAX_BYTES = 1024 * 1024;
/** As libcni: a name becomes a part of file names. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** Rejects with OperatorError when there is no valid file; the message names every file that is not. */
export async function loadNetwork(dir: string): Promise<NetworkConfig> {
  const names = await filesIn(dir);
  const problems: string[] = [];
  for (const name of names) {
    try {
      return parseNetwork(JSON.parse(await readText(join(dir, name), MAX_BYTES)), name.endsWith(".conflist"));
    } catch (error) {
      problems.push(`${name}: ${messageOf(error)}`);
    }
  }
  throw new OperatorError(
    problems.length === 0 ? `no networks found in ${dir}` : `no valid networks found in ${dir}: ${problems.join("; ")}`,
  );
}

async function filesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).filter((name) => /\.(conf|conflist|json)$/.test(name)).sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** @throws OperatorError */
export function parseNetwork(found: unknown, isList: boolean): NetworkConfig {
  if (!isRecord(found)) throw new OperatorError("the file has no JSON object");
  const { name, cniVersion = "0.1.0" } = found;
  if (typeof name !== "string" || !NAME.test(name)) throw new OperatorError("the network has no valid name");
  if (typeof cniVersion !== "string") throw new OperatorError("cniVersion is no text");
  const plugins: unknown = isList ? found["plugins"] : [found];
  if (!Array.isArray(plugins) || plugins.length === 0) throw new OperatorError("the list has no plugins");
  return { name, cniVersion, plugins: plugins.map(pluginOf) };
}

function pluginOf(found: unknown): PluginConfig {
  const type = isRecord(found) ? found["type"] : undefined;
  // The type is the name of a program in the plugin directories.
  if (!isRecord(found) || typeof type !== "string" || !NAME.test(type))
    throw new OperatorError("a plugin has no valid type");
  return { ...found, type };
}
