// Whether this node is to run alone or in a cluster, before a kubelet runs. The packages' program start-kubelet decides
// by the same rules.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readRegularText } from "../../shared/io/fs/regular-file.js";
import { isThere } from "../machine/is-there.js";
import { findProgram } from "./find-program.js";

export type NodeMode = "standalone" | "cluster";

/** Files of a node that kubeadm has joined, or is about to. */
const JOINED = [
  "/etc/kubernetes/kubelet.conf",
  "/etc/kubernetes/bootstrap-kubelet.conf",
  "/var/lib/kubelet/kubeadm-flags.env",
  "/var/lib/kubelet/config.yaml",
];
/** Static pods, and records of pods that any other source of a stand-alone node gave. */
const OWN_PODS = ["/etc/kubernetes/manifests", "/var/lib/kubelet/nodelet/pods"];
/** The environment of the unit. */
export const ENVIRONMENT = "/etc/default/kubelet";

/**
 * MODE of the unit's environment decides. Without it, kubeadm's files mean a cluster. So does the program kubeadm,
 * unless the node has pods of its own: then it is in use as a stand-alone node.
 */
export async function readNodeMode(root = ""): Promise<NodeMode> {
  const environment = await readRegularText(join(root, ENVIRONMENT)).catch(() => "");
  const chosen = environment
    .split("\n")
    .map((line) => /^MODE=["']?([A-Za-z]*)["']?$/.exec(line.trim())?.[1])
    .findLast((value) => value !== undefined);
  if (chosen === "standalone" || chosen === "cluster") return chosen;
  for (const path of JOINED) if (await isThere(join(root, path))) return "cluster";
  if ((await findProgram("kubeadm", root === "" ? "/" : root)) === undefined) return "standalone";
  for (const folder of OWN_PODS) {
    const names = await readdir(join(root, folder)).catch(() => []);
    if (names.some((name) => !name.startsWith("."))) return "standalone";
  }
  return "cluster";
}
