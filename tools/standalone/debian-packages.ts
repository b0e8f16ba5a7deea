// Packages of another suite of Debian or for another processor, which this machine does not install.
// Invariant: nothing of the machine changes. apt keeps its lists, state and cache below one folder. It checks the
// signature of the suite and the hash of every package.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./exec.js";

const MIRROR = "http://deb.debian.org/debian";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const DOWNLOAD_MS = 10 * 60_000;

export interface WantedPackages {
  /** E.g. "sid". */
  suite: string;
  packages: readonly string[];
  /** Debian's name of the processor; default this machine's. */
  architecture?: string;
}

/**
 * Downloads the packages below `folder`, which must be empty; returns their paths.
 * @throws CommandFailed when apt fails
 */
export async function downloadPackages(
  folder: string,
  { suite, packages, architecture }: WantedPackages,
): Promise<string[]> {
  const [etc, state, lists, cache] = ["etc", "state", "lists", "cache"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  const folders = ["apt.conf.d", "preferences.d", "sources.list.d"].map((name) => join(etc, name));
  for (const path of [...folders, state, join(lists, "partial"), join(cache, "archives", "partial")]) {
    await mkdir(path, { recursive: true });
  }
  await writeFile(join(state, "status"), "");
  await writeFile(join(etc, "sources.list"), `deb [signed-by=${KEYRING}] ${MIRROR} ${suite} main\n`);
  const options = [
    `Dir::Etc=${etc}`,
    `Dir::State=${state}`,
    `Dir::State::status=${join(state, "status")}`,
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${cache}`,
    ...(architecture === undefined ? [] : [`APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`]),
    // The folder is root's: apt's own user could not write there.
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
    "Acquire::Retries=3",
  ].flatMap((option) => ["-o", option]);
  const into = { cwd: cache, timeoutMs: DOWNLOAD_MS };
  await run("apt-get", [...options, "-q", "update"], into);
  await run("apt-get", [...options, "-q", "download", ...packages], into);
  return (await readdir(cache)).filter((name) => name.endsWith(".deb")).map((name) => join(cache, name));
}
