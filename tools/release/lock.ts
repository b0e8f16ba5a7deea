// package-lock.json as the packages need it: which npm packages are in our code, and which run beside it.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { wantedPackages } from "../install/production-packages.js";
import { SetupProblem } from "../standalone/problem.js";
import { NAMES, type Architecture, type Pin } from "./pins.js";

export interface LockedPackage extends Pin {
  /** Folder below the project: node_modules/pino. */
  path: string;
  /** SPDX expression as its author wrote it. */
  license: string;
  /** Native code for one platform. */
  native: boolean;
}

interface Entry {
  version?: string;
  integrity?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

/**
 * All packages that are not for development only and that this architecture can use, sorted by path.
 * @throws SetupProblem
 */
export async function lockedPackages(root: string, architecture: Architecture): Promise<LockedPackage[]> {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, Entry>;
  };
  const found: LockedPackage[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    // A link leads to a folder of this repository: the Node of the commands of a checkout (tools/build/node).
    const isOurs = entry.link === true || !path.includes("node_modules/");
    if (isOurs || entry.dev === true || !isFor(architecture, entry) || path.includes("@types/")) continue;
    const { version, integrity } = entry;
    if (version === undefined || integrity === undefined) {
      throw new SetupProblem(`package-lock.json: ${path} has no version or no integrity`);
    }
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    found.push({
      path,
      name,
      version,
      integrity,
      license: entry.license ?? "NOASSERTION",
      native: entry.cpu !== undefined,
    });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Those that run beside our code, because it loads files of theirs. */
export async function besideOurCode(root: string, all: readonly LockedPackage[]): Promise<LockedPackage[]> {
  const wanted = await wantedPackages(root);
  return all.filter(({ path }) => wanted.has(path));
}

function isFor(architecture: Architecture, { os, cpu, libc }: Entry): boolean {
  return (
    (os?.includes("linux") ?? true) &&
    (cpu?.includes(NAMES[architecture].npm) ?? true) &&
    (libc?.includes("glibc") ?? true)
  );
}
