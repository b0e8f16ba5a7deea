// Adds to the kubelet's answer where the runtime looks for its network, if a hint about the network needs it.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { NodeView } from "../problems.js";

/** @param needed a pod has failed for its network, although the runtime says that it is ready */
export async function withCni(status: NodeletStatus, needed = false): Promise<NodeView> {
  if (!needed && status.facts?.runtime?.networkReady !== false) return status;
  // It brings the reader of TOML.
  const { readRuntime } = await import("./read-runtime.js");
  const settings = await readRuntime(status);
  return settings === undefined ? status : { ...status, cni: settings };
}
