// `make packages`: a .deb, an .rpm and a tarball for each architecture, below dist/packages.

import { fileURLToPath } from "node:url";
import { ensurePackages, missingPrograms, type ProgramPackage } from "../standalone/packages.js";
import { isSetupProblem } from "../standalone/problem.js";
import { step } from "../standalone/progress.js";
import { readReleaseOptions, type Format } from "./options.js";
import { release } from "./release.js";

/** The folder that holds dist/, node_modules/ and package.json. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** Programs of each format, and the Debian package that has them. */
const TOOLS: Readonly<Record<Format, ProgramPackage>> = {
  deb: { program: "dpkg-deb", name: "dpkg" },
  rpm: { program: "rpmbuild", name: "rpm" },
  tar: { program: "tar", name: "tar" },
};

process.umask(0o022);
try {
  const options = readReleaseOptions(process.argv.slice(2), ROOT);
  const say = (line: string): void => console.log(line);
  const findMissing = (): Promise<string[]> => missingPrograms(options.formats.map((format) => TOOLS[format]));
  await ensurePackages({ say, step, findMissing });
  await release(ROOT, options, { say, step });
} catch (error) {
  if (!isSetupProblem(error)) throw error;
  console.error(`nodelet: ${error.message}`);
  process.exitCode = 1;
}
