// The kubelet's settings that must fit the runtime's: of the running kubelet, or of the configuration file that the next one will read.
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { CliError } from "../errors.js";
import type { Context } from "../context.js";
import { fieldsIn, type Fields } from "../machine/kubelet-config.js";
import { readBounded } from "../network/read-bounded.js";
import { ENVIRONMENT, type NodeMode } from "./node-mode.js";
import { CONTAINERD_SOCKET } from "./read-runtime.js";

export interface KubeletSettings {
  cgroupDriver: string;
  runtimeEndpoint: string;
  /** The file in which `cgroupDriver` is to be changed. */
  file: string;
}

const FILES: Readonly<Record<NodeMode, string>> = {
  standalone: "/etc/nodelet/kubelet.yaml",
  cluster: "/var/lib/kubelet/config.yaml",
};

/** @param status absent when no kubelet answers */
export async function kubeletSettings(
  { client }: Pick<Context, "client">,
  status: NodeletStatus | undefined,
  mode: NodeMode,
): Promise<KubeletSettings> {
  const file = FILES[mode];
  const text = (): Promise<string> => readBounded(file).catch(() => "");
  const config = status === undefined ? fieldsIn(await text()) : await runningConfig(client);
  const flags = status === undefined ? await readBounded(ENVIRONMENT).catch(() => "") : "";
  const endpoint = /--container-runtime-endpoint[= ]([^\s"']+)/.exec(flags)?.[1];
  return {
    cgroupDriver: textOf(config["cgroupDriver"]) ?? "cgroupfs",
    runtimeEndpoint:
      status?.runtimeEndpoint ?? endpoint ?? textOf(config["containerRuntimeEndpoint"]) ?? CONTAINERD_SOCKET,
    file,
  };
}

async function runningConfig(client: Context["client"]): Promise<Fields> {
  try {
    const { kubeletconfig } = await client.json<{ kubeletconfig?: Fields }>("/configz");
    return kubeletconfig ?? {};
  } catch (error) {
    if (error instanceof CliError) return {};
    throw error;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
