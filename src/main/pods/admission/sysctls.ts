// The sysctls that a pod may set: safe ones and those that the operator allowed. A pod never sets a sysctl of a
// namespace that it shares with the host. Source: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/

import type { Refusal } from "../../model/refusal.js";
import { dottedSysctl, sysctlNamespace } from "../../model/sysctl-name.js";
import type { AdmissionHandler } from "./handler.js";

/** Name to the first kernel in which it belongs to a namespace; without: every kernel. */
const SAFE: Readonly<Record<string, readonly [number, number] | undefined>> = {
  "kernel.shm_rmid_forced": undefined,
  "net.ipv4.ip_local_port_range": undefined,
  "net.ipv4.tcp_syncookies": undefined,
  "net.ipv4.ping_group_range": undefined,
  "net.ipv4.ip_unprivileged_port_start": undefined,
  "net.ipv4.ip_local_reserved_ports": [3, 16],
  "net.ipv4.tcp_keepalive_time": [4, 5],
  "net.ipv4.tcp_fin_timeout": [4, 6],
  "net.ipv4.tcp_keepalive_intvl": [4, 5],
  "net.ipv4.tcp_keepalive_probes": [4, 5],
  "net.ipv4.tcp_rmem": [4, 15],
  "net.ipv4.tcp_wmem": [4, 15],
};

export const sysctlHandler: AdmissionHandler = ({ pod, node }) => {
  const { securityContext, hostNetwork, hostIPC } = pod.spec;
  for (const { name } of securityContext?.sysctls ?? []) {
    const known = dottedSysctl(name);
    const space = namespaceOf(known);
    const forbidden = (why: string): Refusal => ({
      reason: "SysctlForbidden",
      message: `forbidden sysctl: ${JSON.stringify(known)} ${why}`,
    });
    if (!isSafe(known, node.kernel) && !isAllowed(known, node.allowedUnsafeSysctls))
      return forbidden("not allowlisted");
    if (space === "Net" && hostNetwork === true) return forbidden("not allowed with host Net enabled");
    if (space === "IPC" && hostIPC === true) return forbidden("not allowed with host IPC enabled");
  }
  return undefined;
};

function isSafe(name: string, [major, minor]: readonly [number, number]): boolean {
  if (!Object.hasOwn(SAFE, name)) return false;
  const since = SAFE[name];
  return since === undefined || major > since[0] || (major === since[0] && minor >= since[1]);
}

/** A parameter that a pattern allows has the namespace of the pattern, as with "kernel.shm*". */
function namespaceOf(name: string): "Net" | "IPC" | undefined {
  return sysctlNamespace(name) ?? (/^kernel\.(?:shm|msg)/.test(name) ? "IPC" : undefined);
}

function isAllowed(name: string, patterns: readonly string[]): boolean {
  return patterns.some((given) => {
    const pattern = dottedSysctl(given);
    return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  });
}
