// Rules of resource requests and limits: names, request against limit, what may not be overcommitted.

import { aggregate } from "../../../../shared/kubernetes/api/aggregate-resources.js";
import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import { isQualifiedName } from "../../../../shared/kubernetes/api/manifest/formats.js";
import type {
  Container,
  Pod,
  PodSpec,
  ResourceList,
  ResourceRequirements,
} from "../../../../shared/kubernetes/api/pod.js";
import type { Report } from "../report.js";
import { nanosOf } from "./nanos.js";
import { containersOf, items } from "./visit.js";

const NATIVE = ["cpu", "memory", "ephemeral-storage"];
const UNIT = 1_000_000_000n;

export function checkResources(pod: Pod, report: Report): void {
  for (const { container, path } of containersOf(pod))
    checkRequirements(container.resources, [...path, "resources"], report);
  // The defaults give a pod with limits of its own what its containers request.
  const ownLimits = Object.keys(pod.spec.resources?.limits ?? {}).length > 0;
  const beside = ownLimits ? [...requestsOfContainers(withoutHoles(pod.spec)).keys()] : [];
  checkRequirements(pod.spec.resources, ["spec", "resources"], report, beside);
  checkPodLevel(pod, report);
  if ((pod.spec.resources?.claims ?? []).length > 0)
    report.forbidden(["spec", "resources", "claims"], "claims belong to containers");
  for (const name of Object.keys(pod.spec.resources?.limits ?? {})) {
    if (name === "cpu" || name === "memory" || name.startsWith("hugepages-")) continue;
    report.unsupported(["spec", "resources", "limits", name], name, ["cpu", "memory", "hugepages-<size>"]);
  }
}

/** @param beside names of further resources that the defaults add. */
function checkRequirements(
  resources: ResourceRequirements | undefined,
  path: FieldPath,
  report: Report,
  beside: readonly string[] = [],
): void {
  if (resources === undefined) return;
  const { limits = {}, requests = {} } = resources;
  for (const [field, list] of [["limits", limits] as const, ["requests", requests] as const]) {
    for (const [name, value] of Object.entries(list)) checkEntry(name, value, [...path, field, name], report);
  }
  for (const [name, value] of Object.entries(requests)) {
    const at = [...path, "requests", name];
    const limit = limits[name];
    const overcommit = NATIVE.includes(name);
    if (limit === undefined) {
      if (!overcommit && isKnownName(name))
        report.required([...path, "limits", name], `a limit equal to the request for ${name}`);
      continue;
    }
    const requested = nanosOf(value) ?? 0n;
    const allowed = nanosOf(limit) ?? 0n;
    if (overcommit && requested > allowed) report.invalid(at, value, `at most the limit (${limit})`);
    if (!overcommit && requested !== allowed)
      report.invalid(at, value, `the limit (${limit}): ${name} cannot be overcommitted`);
  }
  const names = [...Object.keys({ ...limits, ...requests }), ...beside];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    report.forbidden(path, "huge pages need a request or limit of cpu or memory beside them");
  }
}

/** Resources of the pod as a whole against those of its containers. */
function checkPodLevel(pod: Pod, report: Report): void {
  const { resources } = pod.spec;
  if (resources === undefined) return;
  const { limits = {}, requests = {} } = resources;
  const path = ["spec", "resources"];
  const spec = withoutHoles(pod.spec);
  for (const [name, { nanos }] of requestsOfContainers(spec)) {
    const request = requests[name];
    const limit = limits[name];
    const most = nanosOf(request ?? limit ?? "");
    if (most === undefined || nanos <= most) continue;
    if (request !== undefined) {
      report.invalid([...path, "requests", name], request, "at least the sum of the containers' requests");
    } else if (!report.isRefused([...path, "requests"])) {
      report.invalid([...path, "limits", name], limit, "at least the sum of the containers' requests");
    }
  }
  for (const [container, at] of items(pod.spec.containers, ["spec", "containers"])) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const most = nanosOf(limits[name] ?? "");
      if (limits[name] === undefined || most === undefined || (nanosOf(limit) ?? 0n) <= most) continue;
      report.invalid([...at, "resources", "limits", name], limit, `at most the pod's limit (${limits[name]})`);
    }
  }
  for (const [name, { nanos }] of aggregate(spec, (container) => amounts(container.resources?.limits ?? {}))) {
    if (isHugePages(name) && limits[name] !== undefined && nanos > (nanosOf(limits[name]) ?? nanos))
      report.invalid([...path, "limits", name], limits[name], "at least the sum of the containers' limits");
  }
}

/** A container's limit is its request, unless it has one. */
function requestsOfContainers(spec: PodSpec): ReturnType<typeof aggregate> {
  return aggregate(spec, (container) => amounts({ ...container.resources?.limits, ...container.resources?.requests }));
}

function withoutHoles({ containers, initContainers }: PodSpec): PodSpec {
  const kept = (list: readonly Container[] | undefined): Container[] =>
    Array.from(items(list, []), ([container]) => container);
  return { containers: kept(containers), initContainers: kept(initContainers) };
}

/** Without values that are no quantities, which are reported where they stand. */
function amounts(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([, value]) => nanosOf(value) !== undefined));
}

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");

function isKnownName(name: string): boolean {
  if (NATIVE.includes(name) || isHugePages(name)) return true;
  return name.includes("/") && isQualifiedName(name) && !name.startsWith("requests.");
}

function checkEntry(name: string, value: string | number, path: FieldPath, report: Report): void {
  if (!isKnownName(name)) {
    report.unsupported(path, name, [...NATIVE, "hugepages-<size>", "<domain>/<name>"]);
    return;
  }
  const nanos = nanosOf(value) ?? 0n;
  if (name.includes("/") && nanos % UNIT !== 0n) report.invalid(path, value, "a whole number");
  if (!isHugePages(name)) return;
  const page = nanosOf(name.slice("hugepages-".length));
  if (page === undefined || page <= 0n) report.invalid(path, name, "hugepages-<size> such as hugepages-2Mi");
  else if (nanos % page !== 0n)
    report.invalid(path, value, `a multiple of the page size (${name.slice("hugepages-".length)})`);
}
