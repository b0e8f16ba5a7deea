// The check of manifests: every file in the folder of static pods makes a pod.

import type { ManifestViolation } from "../../shared/kubernetes/api/manifest/violation.js";
import { ManifestError, warningText } from "../../shared/kubernetes/api/manifest/violation.js";
import { sharedNames, type ReadManifest, type ReadManifests } from "../machine/manifests.js";
import { bad, ok, type Result } from "./check.js";

const CHECK = "manifests";
/** Limit of files, and of warnings. */
const MAX_SHOWN = 10;

/** Pure. */
export function staticPods(folder: string, { files, left }: ReadManifests): Result[] {
  if (folder === "") return [ok(CHECK, "no folder: staticPodPath is not set")];
  if (files.length === 0) return [ok(CHECK, `none in ${folder}`)];
  const refused = files.filter(({ violations }) => violations.length > 0).map(refusal);
  const ignored = files.flatMap(warningsOf);
  const shared = sharedNames(files).map(({ pod, path, first }) =>
    bad(
      "warning",
      CHECK,
      `${path} has the pod ${pod}, which ${first} has, too`,
      "the kubelet runs one of them",
      `give the pod of ${path} another name`,
    ),
  );
  const found = [
    ...first(refused, "refused files"),
    ...first(shared, "files with a name twice"),
    ...first(ignored, "warnings"),
  ];
  const fine = files.length - refused.length;
  const rest = left > 0 ? `; ${left} more were not read` : "";
  return [
    ...found,
    ...(fine > 0 || left > 0 ? [ok(CHECK, `${fine} of ${files.length} in ${folder} make pods${rest}`)] : []),
  ];
}

function refusal({ path, violations }: ReadManifest): Result {
  return bad(
    "error",
    CHECK,
    new ManifestError(path, violations).message,
    "it makes no pod; a pod of its last valid version goes on",
    hintOf(violations) ?? `correct ${path}: the kubelet reads it again by itself`,
  );
}

function hintOf(violations: readonly ManifestViolation[]): string | undefined {
  const hint = violations.find((one) => one.hint !== undefined)?.hint;
  return hint === undefined ? undefined : `${hint}: correct the file, and the kubelet reads it again by itself`;
}

function warningsOf({ path, warnings, violations }: ReadManifest): Result[] {
  if (violations.length > 0) return [];
  return warnings.map((warning) =>
    bad(
      "warning",
      CHECK,
      warningText(path, warning),
      "the pod runs without what the field asks for",
      `correct or remove the field in ${path}`,
    ),
  );
}

/** Some, and how many there are. */
function first(results: readonly Result[], what: string): Result[] {
  const more = results.length - MAX_SHOWN;
  if (more <= 0) return [...results];
  const rest = bad(
    "warning",
    CHECK,
    `${more} more ${what}`,
    "see those above",
    "correct those above, then run doctor again",
  );
  return [...results.slice(0, MAX_SHOWN), rest];
}
