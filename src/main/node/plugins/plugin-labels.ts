// On a node with SELinux the folders of plugins get the label of container files. The plugins' own containers, which
// are not privileged, make their sockets there.

import { mkdir } from "fs/promises";
import { readFileLabel } from "../../../shared/io/os/se-linux.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import { run } from "../../volumes/program.js";

/** Upstream's (KubeletPluginsDirSELinuxLabel). */
const LABEL = "system_u:object_r:container_file_t:s0";
const FOLDERS = ["plugins_registry", "plugins"];

export interface PluginLabels {
  rootDir: string;
  log: Logger;
  isEnabled?: () => Promise<boolean>;
  program?: typeof run;
}

/** Never rejects: without the label only plugins in unprivileged containers fail. */
export async function labelPluginFolders({
  rootDir,
  log,
  isEnabled = enabled,
  program = run,
}: PluginLabels): Promise<void> {
  const paths = FOLDERS.map((folder) => `${rootDir}/${folder}`);
  try {
    if (!(await isEnabled())) return;
    for (const path of paths) await mkdir(path, { recursive: true, mode: 0o750 });
    await program("chcon", ["--", LABEL, ...paths]);
  } catch (error) {
    log.warn(
      { err: error, paths },
      `cannot set the SELinux label ${LABEL} on ${paths.join(" and ")}: ${errorText(error)}; plugins in unprivileged containers may fail`,
    );
  }
}

async function enabled(): Promise<boolean> {
  return (await readFileLabel()) !== undefined;
}
