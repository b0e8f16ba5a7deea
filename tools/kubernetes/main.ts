// `npm run generate:kubernetes`: writes what follows from the contract. With --sources it makes the contract anew
// first.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { programWords } from "../standalone/program-words.js";
import { generate } from "./generate.js";
import { readerOf } from "./sources/checkout.js";
import { joinVersions, readVersion } from "./sources/read-contract.js";
import { readTables, readVersions, writeTables } from "./tables.js";

// This file runs from dist/tools/kubernetes.
const ROOT = resolve(import.meta.dirname, "../../..");

/** As tools/usage/programs.mjs reads them. */
interface Words {
  sources?: string;
  pinned?: string;
  other?: string;
  release?: string;
}

const words = await programWords<Words>("dist/tools/kubernetes/main.js");
if (words.sources !== undefined) {
  const last = await readVersions(ROOT);
  const { pinned = last.pinned, other = last.other, release = last.release } = words;
  const [own, theirs] = [
    await readVersion(readerOf(words.sources, pinned)),
    await readVersion(readerOf(words.sources, other)),
  ];
  await writeTables(ROOT, joinVersions(own, theirs, labelOf(release, pinned)), { pinned, other, release });
}

/** "-1.36" if it is older than the pinned version. */
function labelOf(release: string, pinned: string): string {
  const minor = (version: string): number => Number(/^v?\d+\.(\d+)/.exec(version)?.[1] ?? "Infinity");
  return minor(release) < minor(pinned) ? `-${release}` : release;
}

for (const [path, text] of generate(await readTables(ROOT))) {
  await mkdir(dirname(join(ROOT, path)), { recursive: true });
  await writeFile(join(ROOT, path), text);
  console.log(path);
}
