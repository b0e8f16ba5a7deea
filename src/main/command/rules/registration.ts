// Taints and labels with which the node registers.
import { isQualifiedName, labelValue, qualifiedName } from "../../../shared/api/manifest/formats.js";
import type { ConfigView, Violation } from "./rule.js";
import { notOneOf, quote } from "./check.js";

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function* taints(config: ConfigView): Iterable<Violation> {
  for (const [index, taint] of (config.get("registerWithTaints") ?? []).entries()) {
    const path = `registerWithTaints[${index}]`;
    if (!isQualifiedName(taint.key)) {
      yield { path: `${path}.key`, message: `${quote(taint.key)} is not ${qualifiedName(taint.key) ?? ""}` };
    }
    const problem = labelValue(taint.value);
    if (problem !== undefined) yield { path: `${path}.value`, message: `${quote(taint.value)} is not ${problem}` };
    if (taint.effect !== "" && !TAINT_EFFECTS.includes(taint.effect)) {
      yield { path: `${path}.effect`, message: notOneOf(taint.effect, TAINT_EFFECTS) };
    }
    if (taint.timeAdded !== undefined) {
      yield { path: `${path}.timeAdded`, message: "is set by the control plane; remove it" };
    }
  }
}

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
