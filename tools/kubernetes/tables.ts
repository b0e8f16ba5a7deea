// The contract on disk: a table of fields for each package, one of string types with known values, and the versions
// that they are of.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  formatEnums,
  formatMessages,
  parseEnums,
  parseMessages,
  type Contract,
  type Enum,
  type Message,
} from "./contract.js";
import { PACKAGES } from "./roots.js";

const FOLDER = "tools/kubernetes/contract";

export interface Versions {
  /** The tag of upstream's repositories that the contract is of. */
  pinned: string;
  /** A tag or commit whose additional fields are kept. */
  other: string;
  /** Its minor version, for example "1.37". */
  release: string;
}

/** @throws ContractError */
export async function readTables(root: string): Promise<Contract> {
  const messages = new Map<string, Message>();
  for (const { name } of PACKAGES) {
    for (const one of parseMessages(await readFile(join(root, FOLDER, `${name}.tsv`), "utf8")))
      messages.set(one.name, one);
  }
  const enums = new Map<string, Enum>();
  for (const one of parseEnums(await readFile(join(root, FOLDER, "enums.tsv"), "utf8"))) enums.set(one.name, one);
  return { messages, enums };
}

export async function writeTables(root: string, { messages, enums }: Contract, versions: Versions): Promise<void> {
  await mkdir(join(root, FOLDER), { recursive: true });
  for (const { name } of PACKAGES) {
    const own = [...messages.values()].filter((one) => one.name.startsWith(`${name}.`));
    await writeFile(join(root, FOLDER, `${name}.tsv`), formatMessages(own));
  }
  await writeFile(join(root, FOLDER, "enums.tsv"), formatEnums([...enums.values()]));
  await writeFile(join(root, FOLDER, "versions.json"), `${JSON.stringify(versions, null, 2)}\n`);
}

export async function readVersions(root: string): Promise<Versions> {
  return JSON.parse(await readFile(join(root, FOLDER, "versions.json"), "utf8")) as Versions;
}
