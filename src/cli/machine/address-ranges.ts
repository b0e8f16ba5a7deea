// The address ranges of a CNI network with host-local, and how many of their addresses are taken. The ranges are pure.

import { isIP } from "node:net";
import { join } from "node:path";
import { isRecord } from "../../shared/base/text/is-record.js";
import { entriesOf, filesOf, readThrough } from "./files.js";
import type { ToolOptions } from "./tool.js";

export interface AddressRange {
  /** As it is written: "10.88.0.0/16". */
  subnet: string;
  first: bigint;
  last: bigint;
  /** Addresses that pods can get. */
  size: bigint;
  family: 4 | 6;
}

interface HostLocal {
  network: string;
  /** Folder with a file for each taken address. */
  leases: string;
  ranges: AddressRange[];
}

const DATA_DIR = "/var/lib/cni/networks";
const MAX_FILES = 64;

export interface PodNetwork {
  file: string;
  leases: string;
  ranges: (AddressRange & { taken: number })[];
}

/** The network of the first file, which is the one that a runtime uses; undefined: none with host-local. */
export async function readPodNetwork(folder: string, options: ToolOptions): Promise<PodNetwork | undefined> {
  const paths = await filesOf(folder, { ...options, limit: MAX_FILES });
  for (const file of paths.filter((path) => /\.(conf|conflist|json)$/.test(path))) {
    const { text } = await readThrough(file, options);
    const network = hostLocalOf(text);
    // The runtime skips a file that it cannot read.
    if (network === "unreadable") continue;
    if (network === undefined || network.ranges.length === 0) return undefined;
    const names = (await entriesOf(network.leases, options)).map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
    const addresses = names.flatMap((name) => addressOf(name) ?? []);
    const ranges = network.ranges.map((range) => ({
      ...range,
      taken: addresses.filter(
        ({ family, value }) => family === range.family && value >= range.first && value <= range.last,
      ).length,
    }));
    return { file, leases: network.leases, ranges };
  }
  return undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** undefined: its addresses do not come from host-local. @internal */
export function hostLocalOf(text: string): HostLocal | "unreadable" | undefined {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return "unreadable";
  }
  if (!isRecord(config)) return "unreadable";
  const { name, plugins } = config;
  const list: unknown[] = Array.isArray(plugins) ? plugins : [config];
  const ipam = list.flatMap((plugin) => (isRecord(plugin) && isRecord(plugin["ipam"]) ? [plugin["ipam"]] : []))[0];
  if (ipam?.["type"] !== "host-local" || typeof name !== "string") return undefined;
  const dataDir = typeof ipam["dataDir"] === "string" && ipam["dataDir"] !== "" ? ipam["dataDir"] : DATA_DIR;
  const sets: unknown[] = Array.isArray(ipam["ranges"]) ? ipam["ranges"] : [];
  const ranges = [ipam, ...sets.flat()].flatMap((range) => (isRecord(range) ? (rangeOf(range) ?? []) : []));
  return { network: name, leases: join(dataDir, name), ranges };
}

/** As host-local counts: neither the network's own address, nor its gateway, nor the broadcast address. */
function rangeOf({ subnet, rangeStart, rangeEnd, gateway }: Fields): AddressRange | undefined {
  if (typeof subnet !== "string") return undefined;
  const [base = "", length = ""] = subnet.split("/", 2);
  const network = addressOf(base);
  const bits = network?.family === 4 ? 32 : 128;
  const prefix = Number(length);
  if (network === undefined || !/^\d{1,3}$/.test(length) || prefix > bits - 2) return undefined;
  const hosts = 1n << BigInt(bits - prefix);
  const start = network.value - (network.value % hosts);
  const end = start + hosts - 1n - (network.family === 4 ? 1n : 0n);
  const first = addressOf(rangeStart)?.value ?? start + 1n;
  const last = addressOf(rangeEnd)?.value ?? end;
  const gate = addressOf(gateway)?.value ?? start + 1n;
  if (first > last) return undefined;
  const size = last - first + 1n - (gate >= first && gate <= last ? 1n : 0n);
  return { subnet, first, last, size, family: network.family };
}

/** An address as a number; undefined for other text, as the names of host-local's own files are. */
export function addressOf(text: unknown): { family: 4 | 6; value: bigint } | undefined {
  if (typeof text !== "string") return undefined;
  const family = isIP(text);
  if (family === 4) {
    return { family, value: text.split(".").reduce((sum, byte) => sum * 256n + BigInt(byte), 0n) };
  }
  return family === 6 ? { family, value: valueOf6(text) } : undefined;
}

function valueOf6(text: string): bigint {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const hex = (high: string | undefined, low: string | undefined): string =>
    (Number(high) * 256 + Number(low)).toString(16);
  const plain = dotted === null ? text : `${dotted[1] ?? ""}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`;
  const [head = "", tail] = plain.split("::", 2);
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}
