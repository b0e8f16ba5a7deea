// `make packages`: a .deb, an .rpm and a tarball for each architecture, below dist/packages.

import { fileURLToPath } from "node:url";
import { findExecutable } from "../standalone/exec.js";
import { ensurePackages } from "../standalone/packages.js";
import { isSetupProblem } from "../standalone/problem.js";
import { step } from "../standalone/progress.js";
import { readReleaseOptions, type Format } from "./options.js";
import { release } from "./release.js";

/** The folder that holds dist/, node_modules/ and package.json. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** Programs of each format, and the Debian package that has them. */
const TOOLS: Readonly<Record<Format, readonly [program: string, debian: string]>> = {
  deb: ["dpkg-deb", "dpkg"],
  rpm: ["rpmbuild", "rpm"],
  tar: ["tar", "tar"],
};

process.umask(0o022);
try {
  const options = readReleaseOptions(process.argv.slice(2), ROOT);
  const say = (line: string): void => console.log(line);
  const findMissing = async (): Promise<string[]> => {
    const found = await Promise.all(
      options.formats.map(async (format) => ((await findExecutable(TOOLS[format][0])) ? [] : [TOOLS[format][1]])),
    );
    return found.flat();
  };
  await ensurePackages({ say, step, findMissing });
  await release(ROOT, options, { say, step });
} catch (error) {
  if (!isSetupProblem(error)) throw error;
  console.error(`nodelet: ${error.message}`);
  process.exitCode = 1;
}
