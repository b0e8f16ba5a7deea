// The check of a stand-alone node whose unit would run kubeadm's command line, or whose kubelet still does. Pure.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import { bad, ok, type Machine, type Result } from "./check.js";

const CHECK = "mode of the unit";

/** @param status absent when no kubelet answers */
export function unitMode({ unit }: Pick<Machine, "unit">, status: NodeletStatus | undefined): Result[] {
  if (unit?.mode !== "standalone") return [];
  if (unit.kubeadmDropIn && !unit.ownDropIn) {
    return [
      bad(
        "error",
        CHECK,
        "stand-alone, but kubeadm's drop-in gives the command line",
        "systemd looks at MODE and at the node's files only at boot and at daemon-reload",
        "systemctl daemon-reload && systemctl restart kubelet",
      ),
    ];
  }
  if (status?.apiServer !== undefined) {
    return [
      bad(
        "warning",
        CHECK,
        "stand-alone, but the kubelet that runs is in a cluster",
        "MODE takes effect when the kubelet starts",
        "systemctl restart kubelet",
      ),
    ];
  }
  return unit.kubeadmDropIn ? [ok(CHECK, "stand-alone; kubeadm's drop-in is not used")] : [];
}
