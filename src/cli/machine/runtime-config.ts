// Where the container runtime of this node has its configuration, and what is in effect of it.
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { unitOf } from "../problems.js";
import { flagOf, rootProcesses } from "../runtime/root-processes.js";
import { filesOf, readThrough } from "./files.js";
import { readToml, type Toml } from "./toml.js";
import { runTool, toolOrNothing, type ToolOptions } from "./tool.js";

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
  if (place.kind !== "containerd") return undefined;
  // Without a file, containerd has its defaults only.
  const there = await toolOrNothing("test", ["-f", place.configFile], options);
  const args = there === undefined ? ["config", "default"] : ["--config", place.configFile, "config", "dump"];
  return runTool(place.program, args, options);
}

export interface RuntimeFacts {
  /** The image of pod sandboxes. */
  sandboxImage: string | undefined;
  /** Folder of the CNI configuration. */
  cniFolder: string | undefined;
}

const CNI_FOLDER = "/etc/cni/net.d";

/** Rejects if the runtime does not print its configuration. */
export async function runtimeFacts(
  place: RuntimePlace,
  status: NodeletStatus | undefined,
  options: ToolOptions,
): Promise<RuntimeFacts> {
  const network = status?.docker?.network;
  if (place.kind === "docker") {
    return { sandboxImage: undefined, cniFolder: network?.plugin === "cni" ? network.confDir : undefined };
  }
  const text = await effectiveConfig(place, options);
  return text === undefined ? { sandboxImage: undefined, cniFolder: CNI_FOLDER } : factsIn(readToml(text));
}

/** Reads the forms of containerd 1.x and 2.x. @internal */
export function factsIn(config: Toml): RuntimeFacts {
  const text = (...path: readonly string[]): string | undefined => {
    let value: Toml | undefined = config;
    for (const name of path) {
      value = typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
    }
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const old = ["plugins", "io.containerd.grpc.v1.cri"];
  return {
    sandboxImage:
      text("plugins", "io.containerd.cri.v1.images", "pinned_images", "sandbox") ?? text(...old, "sandbox_image"),
    cniFolder:
      text("plugins", "io.containerd.cri.v1.runtime", "cni", "conf_dir") ??
      text(...old, "cni", "conf_dir") ??
      CNI_FOLDER,
  };
}
