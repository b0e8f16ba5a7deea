// What decides about the command line of the packages' unit beside the package kubeadm, whose drop-in replaces it.

import { join } from "node:path";
import { isThere } from "../machine/is-there.js";
import { readNodeMode, type NodeMode } from "../machine/node-mode.js";

/** The packages' generator of systemd, and the drop-in that it writes on a stand-alone node. */
const GENERATOR = "/usr/lib/systemd/system-generators/nodelet-generator";
const OWN_DROP_IN = "/run/systemd/generator/kubelet.service.d/50-nodelet-standalone.conf";
/** Folders in which a package or an operator may have put kubeadm's drop-in. */
const KUBEADM_DROP_INS = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"].map(
  (folder) => `${folder}/kubelet.service.d/10-kubeadm.conf`,
);

export interface UnitFacts {
  /** By the files of the machine; a running kubelet may have been started by others. */
  mode: NodeMode;
  kubeadmDropIn: boolean;
  /** Whether systemd has the unit's own command line, in spite of kubeadm's drop-in. */
  ownDropIn: boolean;
}

/** undefined: the unit is not that of a package. */
export async function readUnitFacts(root = ""): Promise<UnitFacts | undefined> {
  if (!(await isThere(join(root, GENERATOR)))) return undefined;
  const found = await Promise.all(KUBEADM_DROP_INS.map((path) => isThere(join(root, path))));
  return {
    mode: await readNodeMode(root),
    kubeadmDropIn: found.includes(true),
    ownDropIn: await isThere(join(root, OWN_DROP_IN)),
  };
}
