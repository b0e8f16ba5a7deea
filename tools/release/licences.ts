// Licences of the bundled packages: the bundle has the code of npm packages without their files.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LockedPackage } from "./lock.js";

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

export interface LicensedFolder extends Pick<LockedPackage, "name" | "version" | "license"> {
  folder: string;
}

/** One text: of each package its name, its licence's name, and its licence files, if it has some. */
export async function licenceTexts(packages: readonly LicensedFolder[]): Promise<string> {
  const parts: string[] = [];
  for (const { name, version, license, folder } of packages) {
    const files = (await readdir(folder).catch((): string[] => [])).filter((file) => LICENCE_FILE.test(file)).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const text = texts.map((one) => one.trim()).join("\n\n");
    parts.push(
      `${"=".repeat(78)}\n${name} ${version} (${license})\n${"=".repeat(78)}\n${text === "" ? "" : `\n${text}\n`}`,
    );
  }
  return `${parts.join("\n")}\n`;
}
