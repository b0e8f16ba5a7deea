// Copies code without what only its authors need: types, source maps, tests, documents. They are half of the files of
// node_modules. Every node would unpack, scan and back up each of them.
// Invariant: licences stay, and everything that a program could load.

import { cp, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../standalone/problem.js";

const NEVER_LOADED = /\.(ts|mts|cts|map|md|markdown|flow|tsbuildinfo)$/;
/** Sources of native code, which comes compiled; xml2js compiled for browsers of long ago, three megabytes. */
const NEVER_LOADED_OF_PACKAGES = /\.(c|cc|cpp|h|hh|hpp|S|asm|inc|def|gyp|gypi)$|\/xml2js\.bc\.js$/;
/** Only right below a package: deeper down these are ordinary names. */
const AUTHORS_FOLDERS = /^\/(tests?|__tests__|bench|benchmarks?|docs?|examples?|coverage|node_modules|\.[^/]*)(\/|$)/;
/** Native code for the C library musl, in folders of its own: a Node that was built for glibc does not load it. */
const MUSL = /^\/musl_[^/]*(\/|$)/;

/** Compiled code of ours; `wanted` may leave out more of it. */
export function copyCode(from: string, to: string, wanted: (path: string) => boolean = () => true): Promise<void> {
  return cp(from, to, { recursive: true, filter: (path) => !NEVER_LOADED.test(path) && wanted(path) });
}

export interface PackageCopy {
  /** The code will run on a Node for glibc only. */
  glibcOnly?: boolean;
}

/** One npm package, without its commands; packages inside it are listed, and copied, by themselves. */
export async function copyPackage(from: string, to: string, { glibcOnly = false }: PackageCopy = {}): Promise<void> {
  const commands = await commandsOf(from);
  const filter = async (path: string): Promise<boolean> => {
    const below = path.slice(from.length);
    if (AUTHORS_FOLDERS.test(below) || (glibcOnly && MUSL.test(below)) || commands.includes(path)) return false;
    return !NEVER_LOADED.test(path) && !NEVER_LOADED_OF_PACKAGES.test(path) && !(await isCommand(path));
  };
  await cp(from, to, { recursive: true, dereference: true, filter });
}

/** An executable script: a tool of the authors, which no import reaches. */
async function isCommand(path: string): Promise<boolean> {
  const stats = await stat(path);
  if (!stats.isFile() || (stats.mode & 0o111) === 0) return false;
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString("latin1") === "#!";
  } finally {
    await file.close();
  }
}

/** Files that npm would link as commands, and that no import reaches. */
async function commandsOf(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return "{}";
    throw error;
  });
  const { bin = {}, main } = JSON.parse(text) as { bin?: string | Record<string, string>; main?: string };
  const files = (typeof bin === "string" ? [bin] : Object.values(bin)).map((file) => join(folder, file));
  return files.filter((file) => main === undefined || file !== join(folder, main));
}
