// The checks of what the kernel forwards: packets of pods to other machines, and those between pods through iptables. Pure.
import { bad, ok, type Machine, type Result } from "./check.js";

const FORWARD = "net.ipv4.ip_forward";
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
