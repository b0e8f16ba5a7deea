// Rules of resource requests and limits: names, request against limit, what may not be overcommitted.

import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import { isQualifiedName } from "../../../../shared/kubernetes/api/manifest/formats.js";
import type { Pod, ResourceRequirements } from "../../../../shared/kubernetes/api/pod.js";
import type { Report } from "../report.js";
import { nanosOf } from "./nanos.js";
import { containersOf } from "./visit.js";

const NATIVE = ["cpu", "memory", "ephemeral-storage"];
const UNIT = 1_000_000_000n;

export function checkResources(pod: Pod, report: Report): void {
  for (const { container, path } of containersOf(pod))
    checkRequirements(container.resources, [...path, "resources"], report);
  checkRequirements(pod.spec.resources, ["spec", "resources"], report);
  for (const name of Object.keys(pod.spec.resources?.limits ?? {})) {
    if (name === "cpu" || name === "memory" || name.startsWith("hugepages-")) continue;
    report.unsupported(["spec", "resources", "limits", name], name, ["cpu", "memory", "hugepages-<size>"]);
  }
}

function checkRequirements(resources: ResourceRequirements | undefined, path: FieldPath, report: Report): void {
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
}

function isKnownName(name: string): boolean {
  return NATIVE.includes(name) || name.startsWith("hugepages-") || (name.includes("/") && isQualifiedName(name));
}

function checkEntry(name: string, value: string | number, path: FieldPath, report: Report): void {
  if (!isKnownName(name)) {
    report.unsupported(path, name, [...NATIVE, "hugepages-<size>", "<domain>/<name>"]);
    return;
  }
  const nanos = nanosOf(value) ?? 0n;
  if (name.includes("/") && nanos % UNIT !== 0n) report.invalid(path, value, "a whole number");
  if (!name.startsWith("hugepages-")) return;
  const page = nanosOf(name.slice("hugepages-".length));
  if (page === undefined || page <= 0n) report.invalid(path, name, "hugepages-<size> such as hugepages-2Mi");
  else if (nanos % page !== 0n)
    report.invalid(path, value, `a multiple of the page size (${name.slice("hugepages-".length)})`);
}
