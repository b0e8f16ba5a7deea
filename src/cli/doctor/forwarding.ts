// The checks of what the kernel forwards: packets of pods to other machines, and those between pods through iptables.
// Pure.

import { acceptCommand } from "../network/pod-range6.js";
import { bad, ok, type Machine, type Result } from "./check.js";

const FORWARD = "net.ipv4.ip_forward";
const FORWARD6 = "net.ipv6.conf.all.forwarding";
const BRIDGE = "net.bridge.bridge-nf-call-iptables";

export function ipForward({ mode, sysctls, cniFiles }: Machine): Result {
  const value = sysctls["net/ipv4/ip_forward"];
  if (value === "1") return ok(FORWARD, "1");
  // kubeadm's preflight asks for it before there is a network plugin.
  const plugin = mode === "standalone" ? cniFiles.network?.plugins.find(({ forwards }) => forwards) : undefined;
  if (plugin !== undefined) {
    return ok(FORWARD, `${value ?? "not readable"}: the CNI plugin ${plugin.type} switches it on with the first pod`);
  }
  return bad(
    "error",
    FORWARD,
    value ?? "not readable",
    "pods reach nothing outside the node",
    `echo ${FORWARD}=1 >/etc/sysctl.d/k8s.conf && sysctl -p /etc/sysctl.d/k8s.conf`,
  );
}

/** Only where pods have IPv6 addresses. */
export function ipv6Forward({ mode, sysctls, cniFiles, fromRouter }: Machine): Result[] {
  const plugin = cniFiles.network?.plugins.find(({ ipv6 }) => ipv6 === true);
  if (plugin === undefined) return [];
  const value = sysctls["net/ipv6/conf/all/forwarding"];
  const switchesOn = mode === "standalone" && plugin.forwards;
  const found = value ?? "not readable";
  const forwards =
    value === "1"
      ? ok(FORWARD6, "1")
      : switchesOn
        ? ok(FORWARD6, `${found}: the CNI plugin ${plugin.type} switches it on with the first pod`)
        : bad(
            "error",
            FORWARD6,
            found,
            "pods reach nothing outside the node over IPv6",
            `echo ${FORWARD6}=1 >/etc/sysctl.d/k8s-ipv6.conf && sysctl -p /etc/sysctl.d/k8s-ipv6.conf`,
          );
  if (fromRouter.length === 0) return [forwards];
  const why = "a kernel that forwards ignores router advertisements: the node loses its IPv6 routes when they expire";
  return [forwards, bad("warning", "accept_ra", `1 for ${fromRouter.join(", ")}`, why, acceptCommand(fromRouter))];
}

export function bridgeTraffic({ mode, sysctls }: Machine): Result {
  const value = sysctls["net/bridge/bridge-nf-call-iptables"];
  if (value === "1") return ok(BRIDGE, "1");
  if (mode === "standalone") return ok(BRIDGE, "not needed: a stand-alone node has no services");
  return bad(
    "warning",
    BRIDGE,
    value ?? "the module br_netfilter is not loaded",
    "services do not work between pods of one bridge, with network plugins that use a bridge and iptables",
    `echo br_netfilter >/etc/modules-load.d/br_netfilter.conf && modprobe br_netfilter && sysctl -w ${BRIDGE}=1`,
  );
}
