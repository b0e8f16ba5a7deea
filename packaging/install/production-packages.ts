// Which npm packages the agent needs at run time: those that package-lock.json does not mark as for development.
// Read from the lock file, so that installing needs neither npm nor a network.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { SetupProblem } from "../standalone/problem.js";

interface LockedPackage {
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

/** Folders below `root` (`node_modules/pino`), sorted. Throws SetupProblem when one that is needed is not there. */
export async function productionPackages(root: string): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const wanted = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true && !isTypesOnly(path),
  );
  const present = await Promise.all(wanted.map(([path]) => isFolder(join(root, path))));
  const missing = wanted.filter(([, { optional }], index) => optional !== true && present[index] !== true);
  if (missing.length > 0) {
    throw new SetupProblem(`npm packages are missing, run npm ci first: ${missing.map(([path]) => path).join(" ")}`);
  }
  return wanted
    .filter((_, index) => present[index] === true)
    .map(([path]) => path)
    .sort();
}

/** Type declarations that a dependency asks for, and what those ask for: nothing loads them. */
function isTypesOnly(path: string): boolean {
  return /(^|\/)node_modules\/(@types\/[^/]+|undici-types)$/.test(path);
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
