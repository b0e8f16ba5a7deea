// The node's addresses by upstream's rules: --node-ip, else the address of the node's name, else that of the default
// route. Addresses of a cloud provider take precedence.

import { isIP, isIPv4 } from "node:net";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { nodeIPs, type Interfaces } from "../../shared/io/net/host-addresses.js";
import type { NodeAddress } from "../../shared/kubernetes/api/node.js";

export interface AddressRules {
  hostname: string;
  /** The value of --node-ip. */
  nodeIPs: readonly string[];
  externalCloudProvider: boolean;
}

/** The machine's present network. */
export interface HostNetwork {
  interfaces: Interfaces;
  /** Name of the interface with the default route. */
  defaultInterface: string | undefined;
  /** Addresses that the node's name resolves to; [] if it does not resolve. */
  resolved: readonly string[];
}

/** Annotation with the operator's node IP, for a cloud controller manager. */
export const PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";

const isUnspecified = (ip: string): boolean => ip === "0.0.0.0" || ip === "::";

/** Those of --node-ip that name an address, not just a family. */
export function specifiedIPs(rules: Pick<AddressRules, "nodeIPs">): string[] {
  const [first] = rules.nodeIPs;
  if (first === undefined || isUnspecified(first)) return [];
  return rules.nodeIPs.filter((ip) => !isUnspecified(ip));
}

/** True if the rules need the interfaces and names. */
export function needsResolving(rules: AddressRules): boolean {
  return specifiedIPs(rules).length === 0 && isIP(rules.hostname) === 0 && !rules.externalCloudProvider;
}

/** `existing`: as the Node object has them. @throws OperatorError */
export function nodeAddresses(
  rules: AddressRules,
  network: HostNetwork,
  existing: readonly NodeAddress[],
): readonly NodeAddress[] {
  const specified = specifiedIPs(rules);
  for (const ip of specified) checkOurs(ip, network.interfaces);
  const hostname: NodeAddress = { type: "Hostname", address: rules.hostname };
  if (rules.externalCloudProvider) {
    if (existing.length > 0) return existing;
    if (specified.length === 0) return [hostname];
  }
  const internal = specified.length > 0 ? specified : [defaultIP(rules, network)];
  return [...internal.map((address): NodeAddress => ({ type: "InternalIP", address })), hostname];
}

function defaultIP({ hostname, nodeIPs: asked }: AddressRules, network: HostNetwork): string {
  if (isIP(hostname) !== 0) return hostname;
  const v4 = asked[0] === undefined || isIPv4(asked[0]);
  const usable = network.resolved.filter((ip) => problemOf(ip, network.interfaces) === undefined);
  const resolved = usable.find((ip) => isIPv4(ip) === v4) ?? usable[0];
  if (resolved !== undefined) return resolved;
  const [picked = "127.0.0.1"] = nodeIPs(asked.slice(0, 1), network.interfaces, network.defaultInterface);
  return picked;
}

function checkOurs(ip: string, interfaces: Interfaces): void {
  const problem = problemOf(ip, interfaces);
  if (problem !== undefined)
    throw new OperatorError(
      `cannot use --node-ip ${ip} as this node's address: ${problem}; keeping the node's addresses`,
    );
}

function problemOf(ip: string, interfaces: Interfaces): string | undefined {
  if (isIP(ip) === 0) return "it is no IP address";
  if (isUnspecified(ip)) return "it names no address";
  if (ip.startsWith("127.") || ip === "::1") return "it is a loopback address";
  if (ip.startsWith("169.254.") || /^fe[89ab]/i.test(ip)) return "it is a link-local address";
  if (/^(22[4-9]|23\d)\.|^ff/i.test(ip)) return "it is a multicast address";
  const ours = Object.values(interfaces).some((infos) => infos?.some(({ address }) => same(address, ip)) === true);
  return ours ? undefined : "no network interface of this machine has it";
}

/** IPv6 has many spellings. */
function same(a: string, b: string): boolean {
  if (isIPv4(a) || isIPv4(b)) return a === b;
  return canonical(a) === canonical(b);
}

function canonical(ip: string): string {
  return new URL(`http://[${ip.split("%")[0] ?? ip}]`).hostname;
}
