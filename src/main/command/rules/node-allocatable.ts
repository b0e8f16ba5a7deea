// enforceNodeAllocatable: which part of the node gets a cgroup that holds it within its share.

import type { Violation } from "../violation.js";
import { notOneOf } from "./check.js";
import type { ConfigView } from "./rule.js";

const PATH = "enforceNodeAllocatable";
const ENTRIES = [
  "none",
  "pods",
  "system-reserved",
  "system-reserved-compressible",
  "kube-reserved",
  "kube-reserved-compressible",
];

const RESERVED = [
  ["system-reserved", "systemReservedCgroup"],
  ["kube-reserved", "kubeReservedCgroup"],
] as const;

export function* nodeAllocatable(config: ConfigView): Iterable<Violation> {
  const listed = config.get(PATH) ?? [];
  const has = new Set(listed);
  for (const entry of has) {
    if (!ENTRIES.includes(entry)) yield { path: PATH, message: notOneOf(entry, ENTRIES) };
    else if (entry !== "none" && config.get("cgroupsPerQOS") === false) {
      yield { path: PATH, message: `${entry} requires cgroupsPerQOS: true; set it, or set ${PATH}: [none]` };
    }
    const times = listed.filter((other) => other === entry).length;
    if (times > 1) yield { path: PATH, message: `lists ${entry} ${times} times; list it once` };
  }
  if (has.has("none") && has.size > 1) {
    yield { path: PATH, message: "none cannot be combined with other entries; remove it or the others" };
  }
  for (const [entry, cgroup] of RESERVED) {
    const compressible = `${entry}-compressible`;
    if (has.has(entry) && has.has(compressible)) {
      yield { path: PATH, message: `lists both ${entry} and ${compressible}; keep one` };
    }
    const needing = [entry, compressible].find((name) => has.has(name));
    if (needing !== undefined && (config.get(cgroup) ?? "") === "") {
      yield { path: PATH, message: `${needing} requires ${cgroup}, which is empty; set it or remove the entry` };
    }
  }
}
