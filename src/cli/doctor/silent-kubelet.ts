// The check of a kubelet that does not answer: none runs, or it hangs. Pure.

import type { CliError } from "../errors.js";
import { bad, ok, type Machine, type Result } from "./check.js";

/** @param error why the request for its status failed */
export function silentKubelet(error: CliError, { kubelet }: Pick<Machine, "kubelet">): Result {
  if (kubelet.expected && /there is no socket/.test(error.message)) {
    return ok("kubelet", "waits for kubeadm init or kubeadm join, which starts it");
  }
  const hangs = /did not respond/.test(error.message);
  return bad(
    hangs ? "error" : "warning",
    "kubelet",
    error.message,
    hangs ? "it starts and stops no pod while it hangs" : "no pod is started, changed or stopped",
    /may not use/.test(error.message)
      ? (error.remedy ?? "run the command as root")
      : `systemctl ${hangs ? "restart" : "enable --now"} kubelet; its log: journalctl -u kubelet`,
  );
}
