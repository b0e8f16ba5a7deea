// Folders and files of the node: what the kubelet makes itself, and what it reads for pods.

import { dirname } from "node:path";
import type { Settings } from "../../command/settings.js";
import { error, warning, type Finding } from "./finding.js";
import { folderProblem, readProblem, stateOf } from "./paths.js";
import { socketFindings } from "./sockets.js";

export interface NodePaths {
  rootDir: string;
  certDir: string;
  podLogsDir: string;
  dynamicConfigDir: string;
  lockFile: string;
  staticPodPath: string;
  resolvConf: string;
  volumePluginDir: string;
  runtimeEndpoint: string;
  imageEndpoint: string;
}

export function nodePathsOf(settings: Settings): NodePaths {
  const { config, rootDir, certDir, dynamicConfigDir, lockFile, docker } = settings;
  const runtime = docker.mode === "off" ? (config.get("containerRuntimeEndpoint") ?? "") : "";
  return {
    rootDir,
    certDir,
    dynamicConfigDir,
    lockFile,
    podLogsDir: settings.containerLogs.podLogsDir,
    staticPodPath: settings.sources.staticPodPath,
    resolvConf: settings.network.resolvConf,
    volumePluginDir: config.get("volumePluginDir") ?? "",
    runtimeEndpoint: runtime,
    imageEndpoint: config.get("imageServiceEndpoint") ?? "",
  };
}

export async function nodeFindings(paths: NodePaths): Promise<Finding[]> {
  const found = await Promise.all([
    ...madeFolders(paths),
    lockFileFindings(paths.lockFile),
    staticPodFindings(paths.staticPodPath),
    resolverFindings(paths.resolvConf),
    pluginFindings(paths.volumePluginDir),
    socketFindings("containerRuntimeEndpoint", paths.runtimeEndpoint),
    socketFindings("imageServiceEndpoint", paths.imageEndpoint),
  ]);
  return found.flat();
}

/** Folders that a start makes with their parents. */
function madeFolders({ rootDir, certDir, podLogsDir, dynamicConfigDir }: NodePaths): Promise<Finding[]>[] {
  const made: [path: string, folder: string][] = [
    ["--root-dir", rootDir],
    ["--cert-dir", certDir],
    ["podLogsDir", podLogsDir],
    ["--dynamic-config-dir", dynamicConfigDir],
  ];
  return made
    .filter(([, folder]) => folder !== "")
    .map(async ([path, folder]) => {
      const problem = await folderProblem(folder);
      if (problem === undefined) return [];
      return [error(path, `the folder ${folder} cannot be made: ${problem}; name another one`)];
    });
}

async function lockFileFindings(file: string): Promise<Finding[]> {
  if (file === "") return [];
  const folder = dirname(file);
  const [state, at] = await Promise.all([stateOf(folder), stateOf(file)]);
  const path = "--lock-file";
  if (typeof state === "string") return [error(path, `${state}; make the folder, or name a file in another one`)];
  if (!state.isDirectory()) return [error(path, `${folder} is no folder; name a file in a folder`)];
  if (typeof at === "string" || !at.isDirectory()) return [];
  return [error(path, `${file} is a folder; name a file`)];
}

async function staticPodFindings(folder: string): Promise<Finding[]> {
  if (folder === "") return [];
  const path = "staticPodPath";
  const state = await stateOf(folder);
  if (typeof state === "string") {
    return [warning(path, `${state}: no static pod runs until it does; make it with mkdir -p, or leave the field out`)];
  }
  if (!state.isDirectory() && !state.isFile()) {
    return [warning(path, `${folder} is neither a folder nor a file: no static pod runs; name a folder of manifests`)];
  }
  const problem = await readProblem(folder);
  return problem === undefined ? [] : [warning(path, `${problem}: run the check as the kubelet's user, root`)];
}

async function resolverFindings(file: string): Promise<Finding[]> {
  if (file === "") return [];
  const state = await stateOf(file);
  const problem = typeof state === "string" ? state : state.isFile() ? await readProblem(file) : `${file} is no file`;
  if (problem === undefined) return [];
  const effect = "pods that use the node's DNS do not start";
  return [warning("resolvConf", `${problem}: ${effect}; name the node's resolver file, or "" for none`)];
}

async function pluginFindings(folder: string): Promise<Finding[]> {
  if (folder === "") return [];
  const state = await stateOf(folder);
  // A missing one is made.
  if (typeof state === "string" || state.isDirectory()) return [];
  return [warning("volumePluginDir", `${folder} is no folder: flexVolume drivers are not found; name a folder`)];
}
