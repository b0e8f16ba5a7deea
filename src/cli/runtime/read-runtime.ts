// The settings of the runtime that serves this node's kubelet, for `nodelet doctor`, `status` and `why`.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { readBounded } from "../network/read-bounded.js";
import { findContainerd } from "./find-containerd.js";
import { readCrioConfig } from "./crio-config.js";
import type { RuntimeSettings } from "./runtime-settings.js";

export const CONTAINERD_SOCKET = "unix:///run/containerd/containerd.sock";
const CRIO = "/etc/crio";

/** undefined: the runtime is not installed, or does not say. @param status that of a running kubelet, or what its configuration says */
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
  return runtimeEndpoint.includes("crio") ? readCrioConfig(await crioFiles()) : findContainerd(runtimeEndpoint);
}

/** crio.conf, then the drop-ins by name. A file that cannot be read says nothing. */
async function crioFiles(): Promise<string[]> {
  const folder = join(CRIO, "crio.conf.d");
  const dropIns = (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name));
  const texts = [join(CRIO, "crio.conf"), ...dropIns].map((file) => readBounded(file).catch(() => ""));
  return Promise.all(texts);
}
