// Files of the Docker Engine's node: docs/docker.md.

import type { DockerFlags } from "../../command/docker-flags.js";
import { warning, type Finding } from "./finding.js";
import { stateOf } from "./paths.js";
import { socketFindings } from "./sockets.js";

export async function dockerFindings({ mode, endpoint, network }: DockerFlags): Promise<Finding[]> {
  if (mode === "off") return [];
  const found = [socketFindings("--docker-endpoint", endpoint)];
  if (network.plugin === "cni") found.push(confFindings(network.confDir), programFindings(network.binDirs));
  return (await Promise.all(found)).flat();
}

async function confFindings(folder: string): Promise<Finding[]> {
  const problem = await folderMissing(folder);
  if (problem === undefined) return [];
  return [warning("--cni-conf-dir", `${problem}: no pod gets a network until it has a configuration; name its folder`)];
}

/** One folder of several may be missing, as in $PATH. */
async function programFindings(folders: readonly string[]): Promise<Finding[]> {
  const problems = await Promise.all(folders.map(folderMissing));
  if (problems.length === 0 || problems.includes(undefined)) return [];
  return [
    warning("--cni-bin-dir", `${problems.join(", ")}: no CNI plugin is found; install them, or name their folder`),
  ];
}

async function folderMissing(folder: string): Promise<string | undefined> {
  const state = await stateOf(folder);
  if (typeof state === "string") return state;
  return state.isDirectory() ? undefined : `${folder} is no folder`;
}
