// The host name and domain of a pod.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { withoutTrailing } from "../../../shared/base/text/without-trailing.js";
import { type Pod, podDescription } from "../../../shared/kubernetes/api/pod.js";

const MAX_HOSTNAME = 63;
/** The kernel's limit for a host name. */
const MAX_FQDN = 64;

interface PodHostname {
  hostname: string;
  /** "" when the pod has none. */
  domain: string;
}

/** Host name and domain as the hosts file shows them. */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { hostnameOverride, hostname, subdomain } = pod.spec;
  if (hostnameOverride) return { hostname: cut(hostnameOverride), domain: "" };
  const domain = subdomain ? `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}` : "";
  return { hostname: cut(hostname || pod.metadata.name), domain };
}

/** The sandbox's hostname: the FQDN if the pod sets setHostnameAsFQDN. Throws OperatorError. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (pod.spec.setHostnameAsFQDN !== true || domain === "") return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length > MAX_FQDN)
    throw new OperatorError(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
        `(${MAX_FQDN} characters is the max, ${fqdn.length} characters requested) for pod ${podDescription(pod)}: ` +
        `shorten the name or subdomain, or do not set setHostnameAsFQDN`,
    );
  return fqdn;
}

/** At most 63 characters; a cut must not leave a separator at the end. */
function cut(name: string): string {
  return withoutTrailing(name.slice(0, MAX_HOSTNAME), "-.");
}
