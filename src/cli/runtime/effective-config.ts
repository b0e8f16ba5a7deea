// Finds the configuration of this node's container runtime, and the values that are in effect.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { filesOf, readThrough } from "../machine/files.js";
import { runTool, toolOrNothing, type ToolOptions } from "../machine/tool.js";
import { unitOf } from "../problems.js";
import { crioStatusConfig } from "./find-crio.js";
import { flagOf, rootProcesses } from "./root-processes.js";

type RuntimeKind = "containerd" | "docker" | "crio";

export interface RuntimePlace {
  kind: RuntimeKind;
  program: string;
  configFile: string;
  /** Folders of further files, with how deep they lie. */
  folders: readonly { path: string; depth: number }[];
}

const DEFAULTS: Readonly<Record<RuntimeKind, Omit<RuntimePlace, "kind">>> = {
  containerd: {
    program: "containerd",
    configFile: "/etc/containerd/config.toml",
    folders: [
      { path: "/etc/containerd/conf.d", depth: 1 },
      { path: "/etc/containerd/certs.d", depth: 2 },
    ],
  },
  docker: { program: "dockerd", configFile: "/etc/docker/daemon.json", folders: [] },
  crio: {
    program: "crio",
    configFile: "/etc/crio/crio.conf",
    folders: [{ path: "/etc/crio/crio.conf.d", depth: 1 }],
  },
};
const MAX_FILES = 24;
const STATUS_MS = 10_000;

const DEFAULT_ENDPOINT = "unix:///run/containerd/containerd.sock";

/** @param configured the endpoint of the configuration file, for a node without a kubelet */
export function nodeRuntime(
  status: NodeletStatus | undefined,
  configured: string | undefined,
  options: ToolOptions,
): Promise<RuntimePlace> {
  const endpoint = status?.docker?.endpoint ?? status?.runtimeEndpoint ?? configured ?? DEFAULT_ENDPOINT;
  const unit = status === undefined ? (/docker|crio/.exec(endpoint)?.[0] ?? "containerd") : unitOf(status);
  return runtimePlace(unit === "docker" || unit === "crio" ? unit : "containerd", endpoint, options);
}

/** @param endpoint "unix:///run/containerd/containerd.sock": of several runtimes of one kind, the one that has it */
async function runtimePlace(kind: RuntimeKind, endpoint: string, options: ToolOptions): Promise<RuntimePlace> {
  const usual = DEFAULTS[kind];
  const found = (await rootProcesses(usual.program)).map((one) => ({ ...one, config: configOf(one.args) }));
  const socket = endpoint.replace(/^unix:\/\//, "");
  for (const { program, config, args } of found) {
    if (config === undefined && !args.includes(socket)) continue;
    const configFile = config ?? usual.configFile;
    const text = await readThrough(configFile, options).then(
      (file) => file.text,
      () => "",
    );
    if (args.some((arg) => arg.includes(socket)) || text.includes(socket))
      return { kind, ...usual, program, configFile };
  }
  const program = found.find(({ config }) => config === undefined)?.program ?? usual.program;
  return { kind, ...usual, program };
}

/** @internal The value of `-c`, `--config` or dockerd's `--config-file`, each with one or two dashes. */
export function configOf(args: readonly string[]): string | undefined {
  return flagOf(args, CONFIG_FLAGS);
}

const CONFIG_FLAGS = ["c", "config", "config-file"].flatMap((name) => [`-${name}`, `--${name}`]);

/** The configuration file and those beside it that there are. */
export async function runtimeConfigFiles(place: RuntimePlace, options: ToolOptions): Promise<string[]> {
  const lists = await Promise.all(
    place.folders.map(async ({ path, depth }) => filesOf(path, { ...options, depth, limit: MAX_FILES })),
  );
  return [place.configFile, ...lists.flat().filter((path) => /\.(toml|conf|json)$/.test(path))];
}

/** All values that are in effect, TOML; undefined for a runtime that does not print them. */
export async function effectiveConfig(place: RuntimePlace, options: ToolOptions): Promise<string | undefined> {
  if (place.kind === "docker") return undefined;
  if (place.kind === "crio") return crioConfig(place, options);
  // Without a file, containerd has its defaults only.
  const there = await toolOrNothing("test", ["-f", place.configFile], options);
  const args = there === undefined ? ["config", "default"] : ["--config", place.configFile, "config", "dump"];
  return runTool(place.program, args, options);
}

/** The running daemon's configuration; if none runs, that of its files. */
async function crioConfig({ program, configFile }: RuntimePlace, options: ToolOptions): Promise<string> {
  const running = await crioStatusConfig(STATUS_MS, options.signal);
  return running ?? runTool(program, ["--config", configFile, "config"], options);
}
