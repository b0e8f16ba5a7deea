// Rules of the pod as a whole: names, DNS, host namespaces, tolerations, metadata.

import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import { isQualifiedName, labelValue } from "../../../../shared/kubernetes/api/manifest/formats.js";
import { safePodUid } from "../../../../shared/kubernetes/api/pod-uid.js";
import type { Pod, Toleration } from "../../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import type { Report } from "../report.js";
import { containersOf, incomplete, items } from "./visit.js";

const ANNOTATIONS_LIMIT = 256 * 1024;
const NAMESERVERS_LIMIT = 3;
const SEARCHES_LIMIT = 32;
const SEARCH_CHARACTERS_LIMIT = 2048;
const INT64 = /^-?(0|[1-9][0-9]{0,18})$/;

export function checkPod(pod: Pod, report: Report): void {
  checkMetadata(pod, report);
  checkContainerSet(pod, report);
  checkDNS(pod, report);
  checkHostNamespaces(pod, report);
  for (const [toleration, path] of items(pod.spec.tolerations, ["spec", "tolerations"])) {
    checkToleration(toleration, path, report);
  }
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    report.forbidden(["spec", "schedulingGates"], "a static pod is not scheduled and may not wait for gates");
  }
  const sysctls = new Set<string>();
  for (const [sysctl, path] of items(pod.spec.securityContext?.sysctls, ["spec", "securityContext", "sysctls"])) {
    const { name } = incomplete(sysctl);
    if (name === undefined) continue;
    const namespace = hostNamespaceOf(pod, name.replaceAll("/", "."));
    if (namespace !== undefined)
      report.invalid([...path, "name"], name, `a parameter of the pod's own, with ${namespace}`);
    // As upstream: the two forms of one name are two names, and the later one counts.
    if (sysctls.has(name)) report.duplicate([...path, "name"], name, "each parameter once");
    sysctls.add(name);
  }
}

/** The pod shares with the node what the parameter belongs to. */
function hostNamespaceOf({ spec }: Pod, sysctl: string): string | undefined {
  if (spec.hostNetwork === true && sysctl.startsWith("net.")) return "hostNetwork";
  const isIpc = sysctl === "kernel.sem" || /^(?:kernel\.(?:shm|msg)|fs\.mqueue\.)/.test(sysctl);
  return spec.hostIPC === true && isIpc ? "hostIPC" : undefined;
}

function checkMetadata(pod: Pod, report: Report): void {
  checkUid(pod.metadata.uid, report);
  const QUALIFIED = 'keys are an optional DNS prefix and "/", then at most 63 letters, digits, "-", "_" or "."';
  for (const field of ["labels", "annotations"] as const) {
    for (const key of Object.keys(pod.metadata[field] ?? {})) {
      // Annotation keys are compared in lower case, as the API server does.
      if (isQualifiedName(field === "annotations" ? key.toLowerCase() : key)) continue;
      report.add(["metadata", field, key], "invalid value", { got: JSON.stringify(key), allowed: QUALIFIED });
    }
  }
  for (const key of Object.keys(pod.spec.nodeSelector ?? {})) {
    if (!isQualifiedName(key)) report.invalid(["spec", "nodeSelector", key], key, QUALIFIED);
  }
  let size = 0;
  for (const entry of Object.entries(pod.metadata.annotations ?? {})) size += Buffer.byteLength(entry.join(""));
  if (size > ANNOTATIONS_LIMIT) report.add(["metadata", "annotations"], "limit", { allowed: "256 KiB in all" });
}

/** It becomes a directory's name; without one the kubelet makes its own. */
function checkUid(uid: PodUid | undefined, report: Report): void {
  if (uid === undefined || uid === "") return;
  try {
    safePodUid(uid);
  } catch {
    report.invalid(["metadata", "uid"], uid, 'letters, digits, "-", "_" and inner dots, at most 128 characters');
  }
}

function checkContainerSet(pod: Pod, report: Report): void {
  if (pod.spec.containers.length === 0) report.required(["spec", "containers"], "at least one container");
  if ((pod.spec.ephemeralContainers ?? []).length > 0) {
    report.forbidden(["spec", "ephemeralContainers"], "they can only be added to a running pod");
  }
  const names = new Set<string>();
  for (const { container, path } of containersOf(pod)) {
    const { name } = incomplete(container);
    if (name === undefined) continue;
    if (names.has(name)) report.duplicate([...path, "name"], name, "each container name once in the pod");
    names.add(name);
  }
}

function checkDNS(pod: Pod, report: Report): void {
  const { dnsPolicy, dnsConfig } = pod.spec;
  const path = ["spec", "dnsConfig"];
  const servers = dnsConfig?.nameservers ?? [];
  const searches = Array.from(items(dnsConfig?.searches, []), ([search]) => search);
  if (dnsPolicy === "None" && servers.length === 0) {
    report.required(
      dnsConfig === undefined ? path : [...path, "nameservers"],
      "at least one nameserver with dnsPolicy None",
    );
  }
  if (servers.length > NAMESERVERS_LIMIT) {
    report.invalid([...path, "nameservers"], servers.length, `at most ${NAMESERVERS_LIMIT} nameservers`);
  }
  if (searches.length > SEARCHES_LIMIT) {
    report.invalid([...path, "searches"], searches.length, `at most ${SEARCHES_LIMIT} search domains`);
  }
  if (searches.join(" ").length > SEARCH_CHARACTERS_LIMIT) {
    report.invalid([...path, "searches"], searches, `at most ${SEARCH_CHARACTERS_LIMIT} characters in all`);
  }
}

function checkHostNamespaces(pod: Pod, report: Report): void {
  const { hostNetwork, hostPID, hostIPC, hostUsers, shareProcessNamespace, hostnameOverride } = pod.spec;
  if (hostPID === true && shareProcessNamespace === true) {
    report.forbidden(["spec", "shareProcessNamespace"], "it may not be true together with hostPID");
  }
  if (hostUsers === false) {
    for (const [name, set] of Object.entries({ hostNetwork, hostPID, hostIPC })) {
      if (set === true) report.forbidden(["spec", name], "it may not be true while hostUsers is false");
    }
  }
  if (hostnameOverride !== undefined && hostNetwork === true) {
    report.forbidden(["spec", "hostnameOverride"], "it may not be set together with hostNetwork");
  }
  if (hostnameOverride !== undefined && pod.spec.setHostnameAsFQDN === true) {
    report.forbidden(["spec", "hostnameOverride"], "it may not be set together with setHostnameAsFQDN");
  }
}

function checkToleration(toleration: Toleration, path: FieldPath, report: Report): void {
  const { key = "", operator = "Equal", value = "", effect, tolerationSeconds } = toleration;
  if (key !== "" && !isQualifiedName(key)) report.invalid([...path, "key"], key, "a qualified name");
  if (key === "" && operator !== "Exists") {
    report.invalid([...path, "operator"], operator, "Exists, when the key is empty");
  }
  if (operator === "Equal") {
    const allowed = labelValue(value);
    if (allowed !== undefined) report.invalid([...path, "value"], value, allowed);
  }
  if (operator === "Exists" && value !== "") {
    report.invalid([...path, "value"], value, "nothing, with operator Exists");
  }
  if ((operator === "Lt" || operator === "Gt") && !INT64.test(value)) {
    report.invalid([...path, "value"], value, `an integer, with operator ${operator}`);
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    report.invalid([...path, "effect"], effect ?? "", "NoExecute, when tolerationSeconds is set");
  }
}
