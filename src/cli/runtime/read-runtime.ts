// The settings of the runtime that serves this node's kubelet, for `nodelet doctor`, `status` and `why`.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { findContainerd } from "./find-containerd.js";
import { findCrio } from "./find-crio.js";
import type { RuntimeSettings } from "./runtime-settings.js";

export const CONTAINERD_SOCKET = "unix:///run/containerd/containerd.sock";

/**
 * undefined: the runtime is not installed, or does not say.
 * @param status that of a running kubelet, or what its configuration says
 */
export async function readRuntime(
  status: Partial<Pick<NodeletStatus, "runtimeEndpoint" | "docker">>,
): Promise<RuntimeSettings | undefined> {
  const { docker, runtimeEndpoint = CONTAINERD_SOCKET } = status;
  if (docker !== undefined) {
    const { network } = docker;
    return network.plugin === "cni"
      ? { runtime: "docker", confDir: network.confDir, binDirs: network.binDirs }
      : undefined;
  }
  return runtimeEndpoint.includes("crio") ? findCrio() : findContainerd(runtimeEndpoint);
}
