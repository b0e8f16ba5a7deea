// The kubelet's configuration as far as the machine must fit it: of the running kubelet, else of the file that the next
// one reads.

import { hostname } from "node:os";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { readKubernetesYaml } from "../../shared/io/yaml/kubernetes-yaml.js";
import { YamlError } from "../../shared/io/yaml/yaml-error.js";
import type { Client } from "../client.js";
import { readThrough } from "./files.js";
import { readNodeMode, type NodeMode } from "./node-mode.js";
import type { ToolOptions } from "./tool.js";

/** The files of the packages' unit. */
export const CONFIG_FILES: Readonly<Record<NodeMode, string>> = {
  standalone: "/etc/nodelet/kubelet.yaml",
  cluster: "/var/lib/kubelet/config.yaml",
};

export interface KubeletConfig {
  /** undefined: there is none, or the kubelet runs: it may have another one. */
  file: string | undefined;
  mode: NodeMode;
  nodeName: string;
  /** "": no static pods from files. */
  staticPodPath: string;
  /** Gate PreventStaticPodAPIReferences. */
  preventAPIReferences: boolean;
  failCgroupV1: boolean;
  failSwapOn: boolean;
  cgroupDriver: string;
  /** Before the join: kubeadm will write the file, with its own default if the cluster has set no driver. */
  expected: boolean;
  /** undefined: not set in the file. */
  runtimeEndpoint: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** @param status absent when no kubelet answers */
export async function readKubeletConfig(
  client: Client,
  status: NodeletStatus | undefined,
  options: ToolOptions,
): Promise<KubeletConfig> {
  if (status === undefined) return readConfigFile(await readNodeMode(), options);
  const mode = status.apiServer === undefined ? "standalone" : "cluster";
  const { kubeletconfig = {} } = await client.json<{ kubeletconfig?: Fields }>("/configz");
  const { runtimeEndpoint, node: nodeName } = status;
  return { ...settingsOf(kubeletconfig), expected: false, file: undefined, mode, nodeName, runtimeEndpoint };
}

/** With upstream's defaults for a node without a configuration. */
async function readConfigFile(mode: NodeMode, options: ToolOptions): Promise<KubeletConfig> {
  const nodeName = hostname().toLowerCase();
  const file = CONFIG_FILES[mode];
  const found = await readThrough(file, options).catch(() => undefined);
  if (found !== undefined) return { ...settingsOf(fieldsIn(found.text)), expected: false, file, mode, nodeName };
  const expected = mode === "cluster";
  const settings = settingsOf({});
  const defaults = expected ? { ...settings, cgroupDriver: "systemd" } : settings;
  return { ...defaults, expected, file: undefined, mode, nodeName };
}

/** A text that is no YAML says nothing here: `kubelet --check-config` reports it. @internal */
export function fieldsIn(text: string): Fields {
  try {
    const { value } = readKubernetesYaml(text).root;
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch (error) {
    if (error instanceof YamlError) return {};
    throw error;
  }
}

/** @internal With upstream's defaults. */
export function settingsOf(fields: Fields): Omit<KubeletConfig, "expected" | "file" | "mode" | "nodeName"> {
  const gates = fields["featureGates"];
  const gate = typeof gates === "object" && gates !== null ? (gates as Fields)["PreventStaticPodAPIReferences"] : true;
  return {
    preventAPIReferences: gate !== false,
    staticPodPath: textOf(fields["staticPodPath"]) ?? "",
    failCgroupV1: fields["failCgroupV1"] !== false,
    failSwapOn: fields["failSwapOn"] !== false,
    cgroupDriver: textOf(fields["cgroupDriver"]) ?? "cgroupfs",
    runtimeEndpoint: textOf(fields["containerRuntimeEndpoint"]),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
