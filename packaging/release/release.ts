// Makes the packages: a staged tree for each architecture, and of it each format.

import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ENTRIES } from "../install/wrappers.js";
import { isExecutable, run } from "../standalone/exec.js";
import { SetupProblem } from "../standalone/problem.js";
import type { Step } from "../standalone/progress.js";
import type { Build } from "./build.js";
import { makeDeb } from "./deb.js";
import type { Format, ReleaseOptions } from "./options.js";
import type { Pin } from "./pins.js";
import { npmPackage } from "./registry.js";
import { makeRpm } from "./rpm.js";
import { makeTarball } from "./tarball.js";
import { makeTree } from "./tree.js";

const MAKERS: Readonly<Record<Format, (build: Build) => Promise<string>>> = {
  deb: makeDeb,
  rpm: makeRpm,
  tar: makeTarball,
};
/** Where neither SOURCE_DATE_EPOCH nor git says a time: 1 January 1980. */
const FALLBACK_EPOCH = 315_532_800;

export interface ReleaseDependencies {
  say: (line: string) => void;
  step: Step;
  /** Unpacks an npm package; replaced in tests. */
  fetch?: (pin: Pin, cacheDir: string) => Promise<string>;
  env?: Readonly<Record<string, string | undefined>>;
}

/** Returns the paths of the packages. @throws SetupProblem */
export async function release(
  root: string,
  { architectures, formats, out, version }: ReleaseOptions,
  { say, step, fetch, env = process.env }: ReleaseDependencies,
): Promise<string[]> {
  if (!(await isExecutable(join(root, ENTRIES.kubelet)))) throw new SetupProblem("not built yet: run make first");
  const described = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const epoch = await epochOf(root, env);
  await mkdir(out, { recursive: true });
  const made: string[] = [];
  for (const architecture of architectures) {
    const work = await mkdtemp(join(tmpdir(), "nodelet-packages-"));
    const cache = join(root, ".cache", "npm");
    const fetched: string[] = [];
    try {
      const unpack = async (pin: Pin): Promise<string> => {
        if (fetch !== undefined) return fetch(pin, cache);
        const folder = await npmPackage(cache, pin);
        fetched.push(folder);
        return folder;
      };
      const tree = join(work, "tree");
      const build: Build = { root, work, tree, out, architecture, version: version ?? described.version, epoch };
      await step(`staging the files for ${architecture}`, () => makeTree(tree, { ...build, fetch: unpack, say }));
      for (const format of formats) {
        const file = await step(`making the ${format} package for ${architecture}`, () => MAKERS[format](build));
        say(`${file} ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
        made.push(file);
      }
    } finally {
      for (const folder of [work, ...fetched]) await rm(folder, { recursive: true, force: true });
    }
  }
  const names = made.map((file) => basename(file));
  await run("sh", ["-c", 'exec sha256sum -- "$@" >SHA256SUMS', "sh", ...names], { cwd: out });
  return made;
}

/** The time of every file: SOURCE_DATE_EPOCH, or that of the commit. */
async function epochOf(root: string, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const asked = env["SOURCE_DATE_EPOCH"] ?? "";
  if (asked !== "" && !/^\d+$/.test(asked)) throw new SetupProblem(`SOURCE_DATE_EPOCH=${asked}: seconds are needed`);
  const commit = asked === "" ? await run("git", ["-C", root, "log", "-1", "--format=%ct"]).catch(() => "") : asked;
  return commit.trim() === "" ? FALLBACK_EPOCH : Number(commit);
}
