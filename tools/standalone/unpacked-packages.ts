// Programs of another suite of Debian that this machine does not install: their packages are unpacked below a folder of
// the cache.
// Invariant: nothing of the machine changes; a folder is complete from the moment it has its name; a second use needs
// no network.

import { access, chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { downloadPackages, type WantedPackages } from "./debian-packages.js";
import { findExecutable, isCommandFailed, run } from "./exec.js";
import { moveIntoPlace } from "./move-into-place.js";
import { SetupProblem } from "./problem.js";

/** The newest packages that Debian has. */
export const NEWEST_SUITE = "sid";

export interface Unpacking extends WantedPackages {
  /** The packages' root folder, a folder of the cache. */
  folder: string;
  /** File of the packages that shows that they are there. */
  program: string;
  /** Begin of the message of a failure, and its remedy. */
  problem: { what: string; remedy: string };
  /** Work on the unpacked files before the folder gets its name. */
  prepare?: (incoming: string) => Promise<void>;
}

export async function isUnpacked({ program }: Pick<Unpacking, "program">): Promise<boolean> {
  return access(program).then(
    () => true,
    () => false,
  );
}

/** Downloads and unpacks the packages. @throws SetupProblem */
export async function unpackPackages({ folder, problem, prepare, ...wanted }: Unpacking): Promise<void> {
  const cacheDir = dirname(folder);
  await mkdir(cacheDir, { recursive: true });
  // Folders of this process alone: another one may unpack the same at the same time.
  const apt = await mkdtemp(`${cacheDir}/apt-`);
  const incoming = await mkdtemp(`${folder}-`);
  try {
    if ((await findExecutable("apt-get")) === undefined) {
      throw new SetupProblem(`${problem.what} needs apt-get: ${problem.remedy}`);
    }
    const packages = await downloadPackages(apt, wanted);
    await chmod(incoming, 0o755);
    for (const file of packages) await run("dpkg-deb", ["--extract", file, incoming]);
    await prepare?.(incoming);
    await moveIntoPlace(incoming, folder);
  } catch (error) {
    if (isCommandFailed(error)) throw new SetupProblem(`${problem.what}: ${error.message}; ${problem.remedy}`);
    throw error;
  } finally {
    for (const path of [apt, incoming]) await rm(path, { recursive: true, force: true });
  }
}
