// A pod's host name, and the text of its /etc/hosts. The file is written again at each container start, so that it
// follows the pod's addresses.

export interface HostAlias {
  ip: string;
  hostnames?: string[];
}

export interface PodHostsInput {
  /** The pod's addresses, primary first. */
  podIPs: readonly string[];
  hostname: string;
  /** "" when the pod has no domain. */
  domain: string;
  aliases?: readonly HostAlias[];
}

const LOCAL_LINES = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::0\tip6-localnet",
  "fe00::0\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

/** Hosts file of a pod with its own network namespace. */
export function podHostsFile(input: PodHostsInput): string {
  const { hostname, domain } = input;
  const names = domain === "" ? hostname : `${hostname}.${domain}\t${hostname}`;
  const lines = ["# Kubernetes-managed hosts file.", ...LOCAL_LINES, ...input.podIPs.map((ip) => `${ip}\t${names}`)];
  return `${lines.join("\n")}\n${aliasLines(input.aliases)}`;
}

/** Hosts file of a pod on the node's network: the bytes of the node's own file below a mark. */
export function hostNetworkHostsFile(nodeHosts: Uint8Array, aliases?: readonly HostAlias[]): Buffer {
  const mark = Buffer.from("# Kubernetes-managed hosts file (host network).\n");
  return Buffer.concat([mark, nodeHosts, Buffer.from(aliasLines(aliases))]);
}

function aliasLines(aliases: readonly HostAlias[] = []): string {
  if (aliases.length === 0) return "";
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}`);
  return `\n# Entries added by HostAliases.\n${lines.join("\n")}\n`;
}
