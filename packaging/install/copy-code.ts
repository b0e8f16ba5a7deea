// Copies code without what only its authors need: types, source maps, tests, documents. They are half of the files of node_modules. Every
// node would unpack, scan and back up each of them.
// Invariant: licences stay, and everything that a program could load.

import { cp } from "node:fs/promises";

const NEVER_LOADED = /\.(ts|mts|cts|map|md|markdown|flow|tsbuildinfo)$/;
/** Only right below a package: deeper down these are ordinary names. */
const AUTHORS_FOLDERS = /^\/(tests?|__tests__|bench|benchmarks?|docs?|examples?|coverage|node_modules|\.[^/]*)(\/|$)/;

/** Compiled code of ours; `wanted` may leave out more of it. */
export function copyCode(from: string, to: string, wanted: (path: string) => boolean = () => true): Promise<void> {
  return cp(from, to, { recursive: true, filter: (path) => !NEVER_LOADED.test(path) && wanted(path) });
}

/** One npm package; those inside it are listed, and copied, by themselves. */
export function copyPackage(from: string, to: string): Promise<void> {
  const filter = (path: string): boolean => !NEVER_LOADED.test(path) && !AUTHORS_FOLDERS.test(path.slice(from.length));
  return cp(from, to, { recursive: true, dereference: true, filter });
}
