// The kubelet's configuration as far as the machine must fit it: of the running kubelet, else of the file that the next one reads.
import { hostname } from "node:os";
import { parse } from "yaml";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Client } from "../client.js";
import { readThrough } from "./files.js";
import type { ToolOptions } from "./tool.js";

/** The first that is there counts: kubeadm's, then the packages'. */
const FILES = ["/var/lib/kubelet/config.yaml", "/etc/nodelet/kubelet.yaml"];

export interface KubeletConfig {
  /** undefined: the running kubelet's; it may have no file. */
  file: string | undefined;
  nodeName: string;
  /** "": no static pods from files. */
  staticPodPath: string;
  /** Gate PreventStaticPodAPIReferences. */
  preventAPIReferences: boolean;
  failCgroupV1: boolean;
  failSwapOn: boolean;
  /** undefined: not set in the file. */
  runtimeEndpoint: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** @param status absent when no kubelet answers; undefined result: there is no configuration */
export async function readKubeletConfig(
  client: Client,
  status: NodeletStatus | undefined,
  options: ToolOptions,
): Promise<KubeletConfig | undefined> {
  if (status !== undefined) {
    const { kubeletconfig = {} } = await client.json<{ kubeletconfig?: Fields }>("/configz");
    return {
      ...settingsOf(kubeletconfig),
      file: undefined,
      nodeName: status.node,
      runtimeEndpoint: status.runtimeEndpoint,
    };
  }
  return readConfigFile(options);
}

/** With upstream's defaults, for a node without a configuration. */
export const NO_FILE: KubeletConfig = { ...settingsOf({}), file: undefined, nodeName: "" };

/** undefined: there is no configuration. */
export async function readConfigFile(options: ToolOptions): Promise<KubeletConfig | undefined> {
  for (const file of FILES) {
    const text = await readThrough(file, options).then(
      (found) => found.text,
      () => undefined,
    );
    if (text !== undefined) return { ...settingsOf(fieldsIn(text)), file, nodeName: hostname().toLowerCase() };
  }
  return undefined;
}

/** A text that is no YAML says nothing here: `kubelet --check-config` reports it. */
export function fieldsIn(text: string): Fields {
  try {
    const found: unknown = parse(text, { maxAliasCount: 100, logLevel: "silent" });
    return typeof found === "object" && found !== null ? (found as Fields) : {};
  } catch {
    return {};
  }
}

/** @internal With upstream's defaults. */
export function settingsOf(fields: Fields): Omit<KubeletConfig, "file" | "nodeName"> {
  const path = fields["staticPodPath"];
  const endpoint = fields["containerRuntimeEndpoint"];
  const gates = fields["featureGates"];
  const gate = typeof gates === "object" && gates !== null ? (gates as Fields)["PreventStaticPodAPIReferences"] : true;
  return {
    preventAPIReferences: gate !== false,
    staticPodPath: typeof path === "string" ? path : "",
    failCgroupV1: fields["failCgroupV1"] !== false,
    failSwapOn: fields["failSwapOn"] !== false,
    runtimeEndpoint: typeof endpoint === "string" && endpoint !== "" ? endpoint : undefined,
  };
}
