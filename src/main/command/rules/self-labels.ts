// Labels that a node may set on itself. The API server's NodeRestriction plug-in refuses the rest of kubernetes.io and
// k8s.io. The check at start reports it before the registration of the node fails.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction

export const SELF_LABELS: readonly string[] = [
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];

export const SELF_LABEL_DOMAINS: readonly string[] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const RESERVED_DOMAINS = ["kubernetes.io", "k8s.io"];

/** False for keys of kubernetes.io and k8s.io that only others may set. */
export function mayLabelItself(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash < 0 || SELF_LABELS.includes(key)) return true;
  const domain = key.slice(0, slash);
  return !within(domain, RESERVED_DOMAINS) || within(domain, SELF_LABEL_DOMAINS);
}

function within(domain: string, parents: readonly string[]): boolean {
  return parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
}
