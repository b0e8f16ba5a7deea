// `make install` and `make uninstall`: puts the built agent where systemd and kubeadm look for it, and takes it away.
// A copy of this program is installed with the agent, so that it can be removed without the sources.

import { fileURLToPath } from "node:url";
import { isSetupProblem } from "../standalone/problem.js";
import { install } from "./install.js";
import { readOptions } from "./options.js";
import { uninstall } from "./uninstall.js";

/** The folder that holds dist/, node_modules/ and package.json. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

// Every user may read the installed files, also under a stricter umask of the shell.
process.umask(0o022);
try {
  const options = readOptions(process.argv.slice(2));
  const say = (line: string): void => console.log(line);
  if (options.action === "install") await install(ROOT, options, say);
  else await uninstall(options, say);
} catch (error) {
  if (!isSetupProblem(error)) throw error;
  console.error(`nodelet: ${error.message}`);
  process.exitCode = 1;
}
