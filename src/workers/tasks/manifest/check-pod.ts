// From an untrusted value to a Pod that fits schema and rules: everything wrong with it ends in the report.

import { isRecord } from "../../../shared/base/text/is-record.js";
import type { KubernetesYaml } from "../../../shared/io/yaml/kubernetes-yaml.js";
import { offsetAt } from "../../../shared/io/yaml/tree.js";
import type { FieldPath } from "../../../shared/kubernetes/api/manifest/field-path.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { podSchema } from "./pod-schema.js";
import type { Report, Finding } from "./report.js";
import { checkAffinity } from "./rules/affinity-rules.js";
import { checkAnnotations } from "./rules/annotation-rules.js";
import { checkAPIReferences } from "./rules/api-references.js";
import { checkContainers, checkAppArmorAnnotations } from "./rules/container-rules.js";
import { warnOfLaterFields } from "./rules/later-rules.js";
import { checkPod } from "./rules/pod-rules.js";
import { checkProbes } from "./rules/probe-rules.js";
import { checkResources } from "./rules/resource-rules.js";
import { checkVolumes } from "./rules/volume-rules.js";
import { walk } from "./walk.js";

interface CheckOptions {
  /** Gate PreventStaticPodAPIReferences. */
  preventAPIReferences: boolean;
}

/**
 * Checks one pod found at the root of `value`; the result holds known fields only and no defaults yet. It may be used
 * when the report has no violations; otherwise it is undefined or has holes where values were refused.
 */
export function checkPodManifest(value: unknown, options: CheckOptions, report: Report): Pod | undefined {
  const path: FieldPath = [];
  const checked = walk(podSchema, value, path, report);
  if (!isPodShaped(checked)) return undefined;
  checkPod(checked, report);
  checkAffinity(checked, report);
  checkContainers(checked, report);
  checkAnnotations(checked, report);
  checkAppArmorAnnotations(checked, report);
  checkProbes(checked, report);
  checkResources(checked, report);
  checkVolumes(checked, report);
  warnOfLaterFields(checked, report);
  checkAPIReferences(checked, options.preventAPIReferences, report);
  return checked;
}

/** True if the parts that every rule reads exist; the schema has checked their types. */
function isPodShaped(value: unknown): value is Pod {
  if (!isRecord(value) || !isRecord(value["metadata"]) || !isRecord(value["spec"])) return false;
  return Array.isArray(value["spec"]["containers"]);
}

/** Line and column of the value at the finding's path, or of its nearest enclosing one. */
export function locate({ root, lines }: KubernetesYaml, { path, atKey }: Finding): { line: number; column: number } {
  return lines.at(offsetAt(root, path, atKey));
}
