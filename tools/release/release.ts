// Makes the packages: a staged tree for each architecture, and of it each format.

import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ProductVersion } from "../../src/shared/base/version/product-version.js";
import { ENTRIES } from "../install/wrappers.js";
import { isExecutable, run } from "../standalone/exec.js";
import { SetupProblem } from "../standalone/problem.js";
import type { Step } from "../standalone/progress.js";
import type { Build } from "./build.js";
import { makeDeb } from "./deb.js";
import type { Format, ReleaseOptions } from "./options.js";
import { packageVersion } from "./package-version.js";
import { NAMES, type Architecture, type Pin } from "./pins.js";
import { npmPackage } from "./registry.js";
import { makeRpm } from "./rpm.js";
import { makeTarball } from "./tarball.js";
import { DOC, makeTree } from "./tree.js";

const MAKERS: Readonly<Record<Format, (build: Build) => Promise<string>>> = {
  deb: makeDeb,
  rpm: makeRpm,
  tar: makeTarball,
};
/** How the names of files for an architecture end. */
const ENDS: Readonly<Record<Format | "bom", (architecture: Architecture) => string>> = {
  deb: (architecture) => `_${architecture}.deb`,
  rpm: (architecture) => `.${NAMES[architecture].rpm}.rpm`,
  tar: (architecture) => `-linux-${architecture}.tar.gz`,
  bom: (architecture) => `-${architecture}.cdx.json`,
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
  { architectures, formats, out, version, fast = false }: ReleaseOptions,
  { say, step, fetch, env = process.env }: ReleaseDependencies,
): Promise<string[]> {
  if (!(await isExecutable(join(root, ENTRIES.kubelet)))) throw new SetupProblem("not built yet: run make first");
  const built = JSON.parse(await readFile(join(root, "dist/agent/version.json"), "utf8")) as ProductVersion;
  const epoch = await epochOf(root, env);
  await mkdir(out, { recursive: true });
  const compression = fast ? "fast" : "small";
  const made: string[] = [];
  const boms: string[] = [];
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
      const build: Build = {
        root,
        work,
        tree,
        out,
        architecture,
        version: version ?? packageVersion(built),
        epoch,
        compression,
      };
      const { commit } = built;
      await step(`staging the files for ${architecture}`, () =>
        makeTree(tree, { ...build, commit, fetch: unpack, say }),
      );
      await removeEarlier(out, architecture, formats);
      for (const format of formats) {
        const file = await step(`making the ${format} package for ${architecture}`, () => MAKERS[format](build));
        say(`${file} ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
        made.push(file);
      }
      const bom = join(out, `nodelet-${build.version}-${architecture}.cdx.json`);
      await cp(join(tree, DOC, "sbom.cdx.json"), bom);
      boms.push(bom);
    } finally {
      for (const folder of [work, ...fetched]) await rm(folder, { recursive: true, force: true });
    }
  }
  const names = [...made, ...boms].map((file) => basename(file));
  await run("sh", ["-c", 'exec sha256sum -- "$@" >SHA256SUMS', "sh", ...names], { cwd: out });
  return made;
}

/** A command that names the packages by a pattern must not find those of another commit beside them. */
async function removeEarlier(out: string, architecture: Architecture, formats: readonly Format[]): Promise<void> {
  const ends = [...formats.map((format) => ENDS[format]), ENDS.bom].map((end) => end(architecture));
  const earlier = (await readdir(out)).filter(
    (name) => /^nodelet[-_]\d/.test(name) && ends.some((end) => name.endsWith(end)),
  );
  for (const name of earlier) await rm(join(out, name));
}

/** The time of every file: SOURCE_DATE_EPOCH, or that of the commit. */
export async function epochOf(root: string, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const asked = env["SOURCE_DATE_EPOCH"] ?? "";
  if (asked !== "" && !/^\d+$/.test(asked)) throw new SetupProblem(`SOURCE_DATE_EPOCH=${asked}: seconds are needed`);
  const commit = asked === "" ? await run("git", ["-C", root, "log", "-1", "--format=%ct"]).catch(() => "") : asked;
  return commit.trim() === "" ? FALLBACK_EPOCH : Number(commit);
}
