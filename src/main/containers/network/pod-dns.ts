// A pod's resolver configuration: its DNS policy over the node's resolver file and the cluster's DNS.

import { isIPv6 } from "node:net";
import { quote } from "../../../shared/base/text/quote.js";
import { type Pod, podDescription } from "../../../shared/kubernetes/api/pod.js";
import { MAX_SEARCH_CHARACTERS, MAX_SEARCH_DOMAIN, MAX_SEARCHES } from "./resolv-conf-problem.js";
import { mergeOptions } from "./resolv-conf.js";

export interface PodDns {
  servers: string[];
  searches: string[];
  /** "name" or "name:value". */
  options: string[];
}

/** An event to record about the pod, or about the node. */
export interface DnsWarning {
  reason: "MissingClusterDNS" | "DNSConfigForming";
  message: string;
  object: "pod" | "node";
}

export interface NodeDns {
  /** The node belongs to a cluster, which should have a DNS service. */
  inCluster: boolean;
  /** Addresses of the cluster's DNS servers; empty when the configuration names none. */
  clusterDNS: readonly string[];
  /** "" for none: no cluster search domains then. */
  clusterDomain: string;
  /** The parsed host resolver file; undefined when resolvConf is "", which turns lookups off. */
  host: PodDns | undefined;
  /** For the loopback address families when `host` is undefined. */
  nodeIPs: readonly string[];
}

const MAX_SERVERS = 3;

export function podDns(pod: Pod, node: NodeDns): { dns: PodDns; warnings: DnsWarning[] } {
  const warnings: DnsWarning[] = [];
  const extra = pod.spec.dnsConfig ?? {};
  const base = policyDns(pod, node, warnings);
  const extraOptions = (extra.options ?? []).flatMap(({ name, value }) => {
    if (!name) return [];
    return [value === undefined || value === "" ? name : `${name}:${value}`];
  });
  // Without a dnsConfig the node's own lines stay as they are.
  const joined = pod.spec.dnsConfig === undefined ? (list: string[]): string[] => list : unique;
  const servers = fitServers(joined([...base.servers, ...(extra.nameservers ?? [])]), warnings);
  const searches = fitSearches(joined([...base.searches, ...(extra.searches ?? [])]), warnings);
  return { dns: { servers, searches, options: mergeOptions(base.options, extraOptions) }, warnings };
}

function policyDns(pod: Pod, node: NodeDns, warnings: DnsWarning[]): PodDns {
  const policy = pod.spec.dnsPolicy ?? "ClusterFirst";
  switch (policy) {
    case "None":
      return { servers: [], searches: [], options: [] };
    case "Default":
      return hostDns(node);
    case "ClusterFirst":
    case "ClusterFirstWithHostNet":
      if (policy === "ClusterFirst" && pod.spec.hostNetwork === true) return hostDns(node);
      if (node.clusterDNS.length > 0) return clusterDns(pod, node);
      if (node.inCluster) warnings.push(...missingClusterDns(pod));
      return hostDns(node);
  }
}

function hostDns(node: NodeDns): PodDns {
  if (node.host !== undefined) return node.host;
  const loopbacks = node.nodeIPs.map((ip) => (isIPv6(ip) ? "::1" : "127.0.0.1"));
  return { servers: unique(loopbacks.length > 0 ? loopbacks : ["127.0.0.1"]), searches: ["."], options: [] };
}

function clusterDns(pod: Pod, node: NodeDns): PodDns {
  const domain = node.clusterDomain;
  const cluster = domain === "" ? [] : [`${pod.metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain];
  const host = node.host?.searches ?? [];
  // Without cluster domains the node's own line stays as it is.
  const searches = domain === "" ? [...host] : unique([...cluster, ...host]);
  return { servers: [...node.clusterDNS], searches, options: ["ndots:5"] };
}

function missingClusterDns(pod: Pod): DnsWarning[] {
  const text =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. ' +
    'Falling back to "Default" policy.';
  return [
    { reason: "MissingClusterDNS", object: "pod", message: `pod: ${quote(podDescription(pod))}. ${text}` },
    { reason: "MissingClusterDNS", object: "node", message: text },
  ];
}

function fitServers(servers: string[], warnings: DnsWarning[]): string[] {
  if (servers.length <= MAX_SERVERS) return servers;
  const applied = servers.slice(0, MAX_SERVERS);
  warnings.push({
    reason: "DNSConfigForming",
    object: "pod",
    message:
      "Nameserver limits were exceeded, some nameservers have been omitted, " +
      `the applied nameserver line is: ${applied.join(" ")}`,
  });
  return applied;
}

function fitSearches(searches: string[], warnings: DnsWarning[]): string[] {
  // glibc aborts on a single search domain beyond its limit, hence the filter by domain.
  const applied = searches.slice(0, MAX_SEARCHES).filter((domain) => domain.length <= MAX_SEARCH_DOMAIN);
  while (applied.join(" ").length > MAX_SEARCH_CHARACTERS) applied.pop();
  if (applied.length < searches.length) {
    warnings.push({
      reason: "DNSConfigForming",
      object: "pod",
      message:
        "Search Line limits were exceeded, some search paths have been omitted, " +
        `the applied search line is: ${applied.join(" ")}`,
    });
  }
  return applied;
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
