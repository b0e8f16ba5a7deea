// `npm run docs`: writes the generated pages and pictures of docs.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { programWords } from "../standalone/program-words.js";
import { generate } from "./generate.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

await programWords("dist/tools/docs/main.js");
for (const [path, text] of await generate(ROOT)) {
  await mkdir(dirname(join(ROOT, path)), { recursive: true });
  await writeFile(join(ROOT, path), text);
  console.log(path);
}
