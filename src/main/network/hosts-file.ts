// A pod's host name, and the text of its /etc/hosts. The file is written again at each container start, so that it follows the pod's addresses.
import { type Pod, podDescription } from "../../shared/api/pod.js";
import { withoutTrailing } from "../../shared/text/linear.js";

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

/** Hosts file of a pod on the node's network: the node's own file below a mark. */
export function hostNetworkHostsFile(nodeHosts: string, aliases?: readonly HostAlias[]): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${aliasLines(aliases)}`;
}

function aliasLines(aliases: readonly HostAlias[] = []): string {
  if (aliases.length === 0) return "";
  const lines = aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join("\t"));
  return `\n# Entries added by HostAliases.\n${lines.join("\n")}\n`;
}

// The host name and domain of a pod.

const MAX_HOSTNAME = 63;
/** The kernel's limit for a host name. */
const MAX_FQDN = 64;

interface PodHostname {
  hostname: string;
  /** "" when the pod has none. */
  domain: string;
}

/** The sandbox cannot be created: setHostnameAsFQDN with a name longer than the kernel takes. */
class PodFqdnTooLongError extends Error {
  constructor(pod: Pod, fqdn: string) {
    super(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
        `(${MAX_FQDN} characters is the max, ${fqdn.length} characters requested) for pod ${podDescription(pod)}: ` +
        `shorten the name or subdomain, or do not set setHostnameAsFQDN`,
    );
    this.name = "PodFqdnTooLongError";
  }
}

/** Host name and domain as the hosts file shows them. */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { hostnameOverride, hostname, subdomain } = pod.spec;
  if (hostnameOverride) return { hostname: cut(hostnameOverride), domain: "" };
  const domain = subdomain ? `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` : "";
  return { hostname: cut(hostname || pod.metadata.name), domain };
}

/** The sandbox's hostname: the FQDN if the pod sets setHostnameAsFQDN. Throws PodFqdnTooLongError. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (pod.spec.setHostnameAsFQDN !== true || domain === "") return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length > MAX_FQDN) throw new PodFqdnTooLongError(pod, fqdn);
  return fqdn;
}

/** At most 63 characters; a cut must not leave a separator at the end. */
function cut(name: string): string {
  return withoutTrailing(name.slice(0, MAX_HOSTNAME), "-.");
}
