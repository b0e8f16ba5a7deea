// Rules of one container: ports, environment, security, restart rules.

import { APP_ARMOR_ANNOTATION, appArmorFromAnnotation } from "../../../../shared/kubernetes/api/app-armor.js";
import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import type { Container, EnvVar, Pod, SeccompProfile } from "../../../../shared/kubernetes/api/pod.js";
import { RESOURCE_FIELD } from "../../../../shared/kubernetes/api/resource-field.js";
import type { DownwardAPIVolumeFile } from "../../../../shared/kubernetes/api/volume.js";
import type { Report } from "../report.js";
import { isSubscripted } from "../subscripted-path.js";
import { containersOf, incomplete, items, membersSet, type VisitedContainer } from "./visit.js";

const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;
/** Bytes of the longest AppArmor profile name, by the API: a path of the kernel. */
const MAX_PROFILE_BYTES = 4095;

export function checkContainers(pod: Pod, report: Report): void {
  const hostPorts = new Set<string>();
  for (const visited of containersOf(pod)) {
    const { container, path } = visited;
    checkPorts(pod, visited, hostPorts, report);
    for (const [variable, at] of items(container.env, [...path, "env"])) checkEnv(variable, at, report);
    for (const [source, at] of items(container.envFrom, [...path, "envFrom"])) {
      exactlyOne(source, ["configMapRef", "secretRef"], at, "source", report);
    }
    checkRestartRules(container, path, report);
    checkResizePolicy(pod, visited, report);
    checkSecurity(pod, container, path, report);
  }
  checkWindowsOptions(pod, pod.spec.securityContext, ["spec", "securityContext"], report);
  checkProfile(pod.spec.securityContext?.seccompProfile, ["spec", "securityContext", "seccompProfile"], report);
  checkProfile(pod.spec.securityContext?.appArmorProfile, ["spec", "securityContext", "appArmorProfile"], report);
}

/** A union type: one of its members must be set, and no second one. */
export function exactlyOne<T extends object>(
  value: T,
  names: readonly (keyof T & string)[],
  path: FieldPath,
  what: string,
  report: Report,
): void {
  const set = membersSet(value, names);
  if (set.length === 0) {
    // A member that was refused is there, though it is not set.
    if (!names.some((name) => report.isRefused([...path, name])))
      report.required(path, `one ${what}: ${names.join(", ")}`);
  }
  for (const name of set.slice(1))
    report.forbidden([...path, name], `one ${what} only, and ${set[0] ?? ""} is set already`);
}

function checkPorts(pod: Pod, visited: VisitedContainer, hostPorts: Set<string>, report: Report): void {
  const isRegular = visited.kind === "containers";
  // Init containers run one after the other: two of them may share a host port, and upstream holds none to hostNetwork.
  const taken = isRegular ? hostPorts : new Set<string>();
  const names = new Set<string>();
  for (const [port, path] of items(visited.container.ports, [...visited.path, "ports"])) {
    if (port.name !== undefined) {
      if (names.has(port.name)) report.duplicate([...path, "name"], port.name, "each port name once in the container");
      names.add(port.name);
    }
    const hostPort = port.hostPort ?? 0;
    if (hostPort === 0) continue;
    if (
      isRegular &&
      pod.spec.hostNetwork === true &&
      !report.isRefused([...path, "containerPort"]) &&
      hostPort !== port.containerPort
    ) {
      report.invalid([...path, "hostPort"], hostPort, `the containerPort (${port.containerPort}), with hostNetwork`);
    }
    const key = `${port.protocol ?? "TCP"}/${port.hostIP ?? ""}/${hostPort}`;
    if (taken.has(key)) report.duplicate([...path, "hostPort"], hostPort, "each host port once in the pod");
    taken.add(key);
  }
}

const ENV_SOURCES = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"] as const;
const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** The name of spec.nodeName in the first releases of the API, which upstream reads still. */
const NODE_NAME_BEFORE = "spec.host";

function checkEnv(variable: EnvVar, path: FieldPath, report: Report): void {
  const source = variable.valueFrom;
  if (source === undefined) return;
  const at = [...path, "valueFrom"];
  if (variable.value !== undefined && variable.value !== "") {
    report.forbidden(at, "it may not stand beside a value");
  }
  exactlyOne(source, ENV_SOURCES, at, "source", report);
  const fieldPath = source.fieldRef?.fieldPath;
  const known = [...ENV_FIELDS, NODE_NAME_BEFORE];
  if (fieldPath !== undefined && !known.includes(fieldPath) && !isSubscripted(fieldPath)) {
    const allowed = [...ENV_FIELDS, "metadata.labels['KEY']", "metadata.annotations['KEY']"];
    report.unsupported([...at, "fieldRef", "fieldPath"], fieldPath, allowed);
  }
  checkResource(source.resourceFieldRef, [...at, "resourceFieldRef"], report);
}

const CPU_DIVISORS = ["1m", "1"];
const DIVISORS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** A resource of a container as a value: its name, and the unit in which it is given. */
export function checkResource(ref: DownwardAPIVolumeFile["resourceFieldRef"], path: FieldPath, report: Report): void {
  if (ref === undefined) return;
  const { resource, divisor = "0" } = incomplete(ref);
  checkResourceName(resource, [...path, "resource"], report);
  // Canonical by now. 0 is the default.
  if (resource === undefined || divisor === "0") return;
  const allowed = resource.endsWith(".cpu") ? CPU_DIVISORS : DIVISORS;
  if (!allowed.includes(String(divisor))) report.invalid([...path, "divisor"], divisor, allowed.join(", "));
}

function checkResourceName(resource: string | undefined, path: FieldPath, report: Report): void {
  if (resource === undefined || RESOURCE_FIELD.test(resource)) return;
  const known = ["cpu", "memory", "ephemeral-storage"].flatMap((name) => [`limits.${name}`, `requests.${name}`]);
  report.unsupported(path, resource, known);
}

function checkRestartRules(container: Container, path: FieldPath, report: Report): void {
  const rules = container.restartPolicyRules ?? [];
  const at = [...path, "restartPolicyRules"];
  if (rules.length > 0 && container.restartPolicy === undefined) {
    report.required([...path, "restartPolicy"], "it must be set beside restartPolicyRules");
  }
  if (rules.length > MAX_RESTART_RULES) report.invalid(at, rules.length, `at most ${MAX_RESTART_RULES} rules`);
  for (const [rule, ruleAt] of items(rules, at)) {
    const values = rule.exitCodes?.values ?? [];
    const valuesAt = [...ruleAt, "exitCodes", "values"];
    if (values.length > MAX_EXIT_CODES) report.invalid(valuesAt, values.length, `at most ${MAX_EXIT_CODES} exit codes`);
  }
}

function checkResizePolicy(pod: Pod, { container, kind, path }: VisitedContainer, report: Report): void {
  const resources = new Set<string>();
  for (const [policy, at] of items(container.resizePolicy, [...path, "resizePolicy"])) {
    const { resourceName, restartPolicy } = incomplete(policy);
    if (resourceName !== undefined && resources.has(resourceName))
      report.duplicate([...at, "resourceName"], resourceName, "each resource once");
    if (resourceName !== undefined) resources.add(resourceName);
    if (restartPolicy !== "RestartContainer") continue;
    const field = [...at, "restartPolicy"];
    if (pod.spec.restartPolicy === "Never")
      report.invalid(field, restartPolicy, "NotRequired, as the pod's restartPolicy is Never");
    else if (kind === "initContainers" && container.restartPolicy !== "Always")
      report.invalid(field, restartPolicy, "NotRequired, in an init container that is no sidecar");
  }
}

function checkSecurity(pod: Pod, container: Container, path: FieldPath, report: Report): void {
  const context = container.securityContext;
  if (context === undefined) return;
  const at = [...path, "securityContext"];
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      report.invalid([...at, "allowPrivilegeEscalation"], false, "true, in a privileged container");
    }
    if (context.capabilities?.add?.includes("CAP_SYS_ADMIN") === true) {
      report.invalid([...at, "allowPrivilegeEscalation"], false, "true, with capability CAP_SYS_ADMIN");
    }
  }
  if (context.procMount === "Unmasked" && pod.spec.hostUsers !== false) {
    report.invalid([...at, "procMount"], "Unmasked", "Default, unless hostUsers is false");
  }
  checkWindowsOptions(pod, context, at, report);
  checkProfile(context.seccompProfile, [...at, "seccompProfile"], report);
  checkProfile(context.appArmorProfile, [...at, "appArmorProfile"], report);
}

function checkWindowsOptions(
  pod: Pod,
  context: { windowsOptions?: object } | undefined,
  path: FieldPath,
  report: Report,
): void {
  if (pod.spec.os?.name !== "linux" || context?.windowsOptions === undefined) return;
  report.forbidden([...path, "windowsOptions"], "it may not be set for a pod whose os is linux");
}

function checkProfile(profile: SeccompProfile | undefined, path: FieldPath, report: Report): void {
  if (profile?.type === undefined) return;
  const at = [...path, "localhostProfile"];
  const named = profile.localhostProfile !== undefined && profile.localhostProfile !== "";
  if (profile.type === "Localhost" && !named) report.required(at, "the profile's name, with type Localhost");
  if (path.at(-1) === "appArmorProfile" && named && profile.localhostProfile !== profile.localhostProfile?.trim())
    report.invalid(at, profile.localhostProfile, "the profile's name without blanks around it");
  if (path.at(-1) === "appArmorProfile" && Buffer.byteLength(profile.localhostProfile ?? "") > MAX_PROFILE_BYTES)
    report.add(at, "invalid value", { allowed: `at most ${MAX_PROFILE_BYTES} bytes` });
  if (profile.type !== "Localhost" && named) report.forbidden(at, "it belongs to type Localhost only");
}

/** Rules of AppArmor annotations: each names a container of the pod and a profile, and must equal an existing field. */
export function checkAppArmorAnnotations(pod: Pod, report: Report): void {
  const visited = [...containersOf(pod)];
  for (const [key, value] of Object.entries(pod.metadata.annotations ?? {})) {
    if (!key.startsWith(APP_ARMOR_ANNOTATION)) continue;
    const path = ["metadata", "annotations", key];
    const profile = appArmorFromAnnotation(value);
    if (profile === undefined && value !== "") {
      report.invalid(path, value, '"runtime/default", "unconfined" or "localhost/" and the name of a profile');
    }
    const name = key.slice(APP_ARMOR_ANNOTATION.length);
    const found = visited.find(({ container }) => container.name === name);
    if (found === undefined) {
      report.invalid(path, name, "the name of a container of the pod");
      continue;
    }
    const field = found.container.securityContext?.appArmorProfile ?? pod.spec.securityContext?.appArmorProfile;
    if (field === undefined) continue;
    if (field.type === profile?.type && field.localhostProfile === profile.localhostProfile) continue;
    report.forbidden([...found.path, "securityContext", "appArmorProfile"], "the same profile as in the annotation");
  }
}
