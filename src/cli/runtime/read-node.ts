// What this machine's kubelet and runtime are set to: facts for `nodelet doctor` and for hints about the pod network.
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import { kubeletSettings, type KubeletSettings } from "./kubelet-settings.js";
import { readNodeMode, type NodeMode } from "./node-mode.js";
import { readRuntime } from "./read-runtime.js";
import type { RuntimeSettings } from "./runtime-settings.js";

export interface NodeSettings {
  mode: NodeMode;
  kubelet: KubeletSettings;
  /** undefined: the runtime is not installed, or does not say. */
  settings: RuntimeSettings | undefined;
}

/** @param status absent when no kubelet answers */
export async function readNode(
  context: Pick<Context, "client">,
  status: NodeletStatus | undefined,
): Promise<NodeSettings> {
  const mode = status === undefined ? await readNodeMode() : status.apiServer === undefined ? "standalone" : "cluster";
  const kubelet = await kubeletSettings(context, status, mode);
  const settings = await readRuntime({ runtimeEndpoint: kubelet.runtimeEndpoint, ...dockerOf(status) });
  return { mode, kubelet, settings };
}

function dockerOf(status: NodeletStatus | undefined): Pick<NodeletStatus, "docker"> {
  return status?.docker === undefined ? {} : { docker: status.docker };
}
