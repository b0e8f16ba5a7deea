// The network configurations in the folder of a runtime: which there are, and what the first of them says.
// Invariant: a name counts as a configuration even if its file cannot be read. Somebody has put it there.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../shared/base/text/is-record.js";
import { readRegularText } from "../../shared/io/fs/regular-file.js";

/** As libcni: by the ending of the name. */
const ENDINGS = /\.(?:conf|conflist|json)$/;

interface CniPlugin {
  type: string;
  /** The program that gives addresses. */
  ipam?: string | undefined;
  /** The plugin switches IP forwarding on, with the first pod. */
  forwards: boolean;
  /** Its pods get IPv6 addresses. */
  ipv6?: true | undefined;
}

interface CniNetwork {
  file: string;
  plugins: readonly CniPlugin[];
}

export interface CniFiles {
  /** Names, in the order in which a runtime tries them. */
  names: readonly string[];
  /** That of the first valid file. */
  network?: CniNetwork;
  /** Why the files before it are not valid: "10-x.conf: …". */
  broken: readonly string[];
}

/** @throws if the folder is there and cannot be listed */
export async function configurationsIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => ENDINGS.test(entry.name) && !entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** A folder that cannot be read has its reason in `broken`. */
export async function readCniFiles(folder: string): Promise<CniFiles> {
  const broken: string[] = [];
  let names: string[] = [];
  try {
    names = await configurationsIn(folder);
  } catch (error) {
    return { names, broken: [messageOf(error)] };
  }
  for (const name of names) {
    try {
      return { names, broken, network: networkOf(name, await readRegularText(join(folder, name))) };
    } catch (error) {
      broken.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { names, broken };
}

/** @internal @throws with the reason why a runtime refuses the file */
export function networkOf(file: string, text: string): CniNetwork {
  const found: unknown = JSON.parse(text);
  if (!isRecord(found)) throw new Error("is no JSON object");
  const plugins = file.endsWith(".conflist") ? found["plugins"] : [found];
  if (!Array.isArray(plugins) || plugins.length === 0) throw new Error('has no list "plugins"');
  return { file, plugins: plugins.map(pluginOf) };
}

function pluginOf(value: unknown): CniPlugin {
  const type = isRecord(value) ? value["type"] : undefined;
  if (!isRecord(value) || typeof type !== "string" || type === "") throw new Error('a plugin has no "type"');
  const gateway = value["isGateway"] === true || value["isDefaultGateway"] === true;
  const addresses = isRecord(value["ipam"]) ? value["ipam"] : {};
  const ipam = addresses["type"];
  return omitUndefined({
    type,
    ipam: typeof ipam === "string" && ipam !== "" ? ipam : undefined,
    forwards: type === "ptp" || (type === "bridge" && gateway),
    ipv6: hasIpv6(addresses) ? true : undefined,
  });
}

/** In the forms of host-local and static: "ranges", "subnet", "addresses". */
function hasIpv6({ subnet, ranges, addresses }: Readonly<Record<string, unknown>>): boolean {
  const lists = [ranges, addresses].flatMap((list): unknown[] => (Array.isArray(list) ? list.flat() : []));
  const found = lists.flatMap((one) => (isRecord(one) ? [one["subnet"], one["address"]] : []));
  return [subnet, ...found].some((text) => typeof text === "string" && text.includes(":"));
}
