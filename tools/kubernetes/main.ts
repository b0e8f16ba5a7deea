// `npm run generate:kubernetes`: writes what follows from the contract. With --sources it makes the contract anew
// first.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { generate } from "./generate.js";
import { readerOf } from "./sources/checkout.js";
import { joinVersions, readVersion } from "./sources/read-contract.js";
import { readTables, readVersions, writeTables } from "./tables.js";

// This file runs from dist/tools/kubernetes.
const ROOT = resolve(import.meta.dirname, "../../..");

const { values } = parseArgs({
  options: {
    sources: { type: "string" },
    pinned: { type: "string" },
    other: { type: "string" },
    release: { type: "string" },
  },
});

if (values.sources !== undefined) {
  const last = await readVersions(ROOT);
  const { pinned = last.pinned, other = last.other, release = last.release } = values;
  const [own, theirs] = [
    await readVersion(readerOf(values.sources, pinned)),
    await readVersion(readerOf(values.sources, other)),
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
