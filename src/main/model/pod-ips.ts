// The addresses in a pod's status.

import { isIPv6 } from "node:net";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { PodStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { PodSandboxState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/kubernetes/cri/observed-pod.js";
import { formatIP } from "./format-ip.js";

/** The addresses of a pod as its status and its variables show them: the node's first family comes first. */
export function inNodeOrder(ips: readonly string[], nodeIPs: readonly string[]): string[] {
  return pickIPs(ips, isIPv6(nodeIPs[0] ?? ""));
}

/** First address of the primary's family, then the first of the other family. */
function pickIPs(ips: readonly string[], primaryIsV6: boolean): string[] {
  const valid = ips.flatMap((ip) => formatIP(ip) ?? []);
  const first = valid.find((ip) => isIPv6(ip) === primaryIsV6);
  const second = valid.find((ip) => isIPv6(ip) !== primaryIsV6);
  return [first, second].filter((ip) => ip !== undefined);
}

/** Addresses of the newest sandbox, if it is ready, as the runtime lists them. */
function sandboxIPs(observed: Pick<ObservedPod, "sandboxes"> | undefined): string[] {
  const newest = observed?.sandboxes[0];
  if (newest?.state !== PodSandboxState.SANDBOX_READY || newest.network === undefined) return [];
  const ips = [newest.network.ip, ...newest.network.additionalIps.map(({ ip }) => ip)];
  return ips.filter((ip) => ip !== "");
}

/**
 * podIPs of a status, primary first; [] while unknown. A stopped pod keeps the addresses it had, since clients expect
 * them after its end; a pod on the node's network keeps those it was given and may gain a second family.
 */
export function podIPs(
  pod: Pod,
  observed: Pick<ObservedPod, "sandboxes"> | undefined,
  nodeIPs: readonly string[],
  previous: PodStatus | undefined,
): string[] {
  const old = (previous?.podIPs ?? []).map(({ ip }) => ip);
  const primaryIsV6 = isIPv6(nodeIPs[0] ?? "");
  if (pod.spec.hostNetwork === true) {
    const primary = old[0];
    if (primary === undefined) return pickIPs(nodeIPs, primaryIsV6);
    const added = pickIPs(nodeIPs, primaryIsV6).find((ip) => isIPv6(ip) !== isIPv6(primary));
    return old.length > 1 || added === undefined ? old : [primary, added];
  }
  const current = inNodeOrder(sandboxIPs(observed), nodeIPs);
  if (current.length > 0) return current;
  return observed?.sandboxes[0]?.state === PodSandboxState.SANDBOX_READY ? [] : old;
}

/** The status fields for these addresses. */
export function ipFields(
  pods: readonly string[],
  nodeIPs: readonly string[],
): Pick<PodStatus, "podIP" | "podIPs" | "hostIP" | "hostIPs"> {
  const hosts = inNodeOrder(nodeIPs, nodeIPs);
  return omitUndefined({
    hostIP: hosts[0],
    hostIPs: hosts[0] !== undefined ? hosts.map((ip) => ({ ip })) : undefined,
    podIP: pods[0],
    podIPs: pods[0] !== undefined ? pods.map((ip) => ({ ip })) : undefined,
  });
}
