// npm packages that are not in node_modules: Node itself, and native code for other processors.
// Invariant: only a tarball with the pinned hash is unpacked; a second run needs no network.

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isCommandFailed, run } from "../standalone/exec.js";
import { errnoOf, SetupProblem } from "../standalone/problem.js";
import type { Pin } from "./pins.js";

const DOWNLOAD_MS = 10 * 60_000;

/** Where the unpacked package lies, below `cacheDir`. @throws SetupProblem */
export async function npmPackage(cacheDir: string, pin: Pin): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const label = `${pin.name.replace(/^@/, "").replaceAll("/", "-")}-${pin.version}`;
  const tarball = join(cacheDir, `${label}.tgz`);
  if ((await hashOf(tarball)) !== pin.integrity) await download(cacheDir, pin, tarball);
  const folder = await mkdtemp(join(cacheDir, `${label}-`));
  await run("tar", ["-xzf", tarball, "-C", folder, "--no-same-owner", "--strip-components=1"]);
  return folder;
}

async function download(cacheDir: string, pin: Pin, tarball: string): Promise<void> {
  const incoming = await mkdtemp(join(cacheDir, "incoming-"));
  try {
    const name = `${pin.name}@${pin.version}`;
    const said = await run("npm", ["pack", name, "--silent", "--ignore-scripts", "--pack-destination", incoming], {
      cwd: incoming,
      timeoutMs: DOWNLOAD_MS,
    });
    const file = join(incoming, said.trim().split("\n").at(-1) ?? "");
    const hash = await hashOf(file);
    if (hash !== pin.integrity) throw new SetupProblem(`npm pack ${name}: its hash is ${hash}, not ${pin.integrity}`);
    await rename(file, tarball);
  } catch (error) {
    if (isCommandFailed(error)) throw new SetupProblem(error.message);
    throw error;
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
}

/** "sha512-<base64>"; "" when there is no such file. */
async function hashOf(file: string): Promise<string> {
  try {
    return `sha512-${createHash("sha512")
      .update(await readFile(file))
      .digest("base64")}`;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}
