// From an untrusted value to a Pod that fits schema and rules: everything wrong with it ends in the report.
import type { Pod } from "../../../shared/api/pod.js";
import { podSchema } from "./pod-schema.js";
import type { FieldPath, Report } from "./report.js";
import { checkAPIReferences } from "./rules/api-references.js";
import { checkAppArmorAnnotations } from "./rules/app-armor-rules.js";
import { checkContainers } from "./rules/container-rules.js";
import { checkPod } from "./rules/pod-rules.js";
import { checkProbes } from "./rules/probe-rules.js";
import { checkResources } from "./rules/resource-rules.js";
import { checkVolumes } from "./rules/volume-rules.js";
import { isRecord, walk } from "./walk.js";

export interface CheckOptions {
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
  checkContainers(checked, report);
  checkAppArmorAnnotations(checked, report);
  checkProbes(checked, report);
  checkResources(checked, report);
  checkVolumes(checked, report);
  checkAPIReferences(checked, options.preventAPIReferences, report);
  return checked;
}

/** True when the parts every rule looks at are there; their contents were typed by the schema. */
function isPodShaped(value: unknown): value is Pod {
  if (!isRecord(value) || !isRecord(value["metadata"]) || !isRecord(value["spec"])) return false;
  return Array.isArray(value["spec"]["containers"]);
}
