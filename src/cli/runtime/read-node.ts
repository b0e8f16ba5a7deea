// What this machine's kubelet and runtime are set to: facts for `nodelet doctor` and for hints about the pod network.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { readRegularText } from "../../shared/io/fs/regular-file.js";
import { CONFIG_FILES, type KubeletConfig } from "../machine/kubelet-config.js";
import { ENVIRONMENT, type NodeMode } from "../machine/node-mode.js";
import { CONTAINERD_SOCKET, readRuntime } from "./read-runtime.js";
import type { RuntimeSettings } from "./runtime-settings.js";

/** The kubelet's settings that must fit the runtime's. */
export interface KubeletSettings {
  cgroupDriver: string;
  /** Before the join: kubeadm has not written the file yet. */
  expected: boolean;
  runtimeEndpoint: string;
  /** The file in which `cgroupDriver` is to be changed. */
  file: string;
}

export interface NodeSettings {
  mode: NodeMode;
  kubelet: KubeletSettings;
  /** undefined: the runtime is not installed, or does not say. */
  settings: RuntimeSettings | undefined;
}

/** @param status absent when no kubelet answers */
export async function readNode(
  { mode, cgroupDriver, expected, runtimeEndpoint: configured }: KubeletConfig,
  status: NodeletStatus | undefined,
): Promise<NodeSettings> {
  const flags = status === undefined ? await readRegularText(ENVIRONMENT).catch(() => "") : "";
  const flag = /--container-runtime-endpoint[= ]([^\s"']+)/.exec(flags)?.[1];
  const runtimeEndpoint = flag ?? configured ?? CONTAINERD_SOCKET;
  const docker = status?.docker;
  const settings = await readRuntime(omitUndefined({ runtimeEndpoint, docker }));
  return { mode, kubelet: { cgroupDriver, expected, runtimeEndpoint, file: CONFIG_FILES[mode] }, settings };
}
