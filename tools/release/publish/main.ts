// `make apt-repository` and `make installer`: what a release needs beside its packages.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isSetupProblem, messageOf, SetupProblem } from "../../standalone/problem.js";
import { notesOf } from "../changelog.js";
import { epochOf } from "../release.js";
import { makeAptRepository } from "./apt-repository.js";
import { makeInstaller } from "./installer.js";

/** The folder that holds dist/ and package.json. */
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const USAGE =
  "usage: apt-repository [--key KEY] [--url URL] | installer --key KEY --url URL | notes VERSION; [--packages DIR] [--out DIR]";

process.umask(0o022);
try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!isSetupProblem(error)) throw error;
  console.error(`nodelet: ${error.message}`);
  process.exitCode = 1;
}

async function main(words: readonly string[]): Promise<void> {
  const { what, subject, key, url, packages, out } = optionsOf(words);
  if (what === "apt-repository") {
    const epoch = await epochOf(ROOT, process.env);
    const count = await makeAptRepository({ packages, out, key, url, epoch });
    console.log(`${out}: ${count} packages, ${key === undefined ? "not signed (KEY= signs)" : `signed by ${key}`}`);
  } else if (what === "installer") {
    if (key === undefined || url === undefined) throw new SetupProblem(`a key and an address are needed; ${USAGE}`);
    await makeInstaller({ root: ROOT, packages, key, url });
    console.log(`${join(packages, "install.sh")}, SHA256SUMS.asc`);
  } else if (what === "notes" && subject !== undefined) {
    process.stdout.write(notesOf(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"), subject));
  } else {
    throw new SetupProblem(USAGE);
  }
}

function optionsOf(words: readonly string[]) {
  try {
    const option = { type: "string" } as const;
    const options = { key: option, url: option, packages: option, out: option };
    const { values, positionals } = parseArgs({ args: [...words], allowPositionals: true, options });
    return {
      what: positionals[0],
      subject: positionals[1],
      key: values.key,
      url: values.url,
      packages: values.packages ?? join(ROOT, "dist/packages"),
      out: values.out ?? join(ROOT, "dist/apt"),
    };
  } catch (error) {
    throw new SetupProblem(`${messageOf(error)}; ${USAGE}`);
  }
}
