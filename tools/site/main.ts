// `npm run site`: builds the documentation below dist/site.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSetupProblem } from "../standalone/problem.js";
import { programWords } from "../standalone/program-words.js";
import { buildSite } from "./build.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

await programWords("dist/tools/site/main.js");
try {
  const folder = join(ROOT, "dist/site");
  const { files } = await buildSite(ROOT, folder);
  console.log(`${files.length} files in ${folder}; open ${join(folder, "index.html")}`);
} catch (error) {
  if (!isSetupProblem(error)) throw error;
  console.error(`nodelet: ${error.message}`);
  process.exitCode = 1;
}
