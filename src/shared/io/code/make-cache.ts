// Writes the code cache of each script of the bundle for this Node. The build and make install run it with the flags of
// the kubelet. It has all functions, also those that a start does not call: V8 drops functions without calls from
// memory. Caches that exist stay. A second argument is the largest number of caches that are made; then the number of
// those that were made is printed.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { cachePath, sealCache } from "./code-cache.js";
import { setRestFlags, setV8Flags } from "./v8-flags.js";

const [, , root = "", limit] = process.argv;
let made = 0;
setV8Flags();
for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".js") || !["packs", "main/chunks"].includes(dirname(name))) continue;
  const file = join(root, name);
  // Names of scripts contain a hash of their text.
  if (existsSync(cachePath(file))) continue;
  if (made === Number(limit ?? Infinity)) break;
  made++;
  setFlagsFromString("--no-lazy");
  setFlagsFromString("--no-flush-bytecode");
  // Packs are loaded by a start, single chunks mostly later.
  setRestFlags(dirname(name) !== "packs");
  // A copy of the name. A part of a longer string would bring the whole string, with the build's path, into the cache.
  const script = new Script(readFileSync(file, "latin1"), { filename: Buffer.from(name).toString() });
  // The cache holds for the flags of the moment.
  setFlagsFromString("--lazy");
  setFlagsFromString("--flush-bytecode");
  writeFileSync(cachePath(file), sealCache(script.createCachedData()));
}
if (limit !== undefined) process.stdout.write(`${made}\n`);
