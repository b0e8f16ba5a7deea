// Rules of `nodelet why` about a pod's own manifest, shown before all others, and about other manifests that want the
// pod's name. Pure.

import type { ManifestFacts, ManifestProblem } from "../../shared/contracts/manifest-facts.js";
import { manifestHelp, placeOf, refusalWords } from "../manifests/texts.js";
import { fullName } from "../pods/find.js";
import type { Finding, WhyInput } from "./input.js";

/** Findings about the manifest of a pod, and then about others that want its name. */
export function* manifestFindings({ pod, node }: Pick<WhyInput, "pod" | "node">): Iterable<Finding> {
  const full = fullName(pod);
  const manifests = node.manifests?.items ?? [];
  const shadowOf = ({ problems }: ManifestFacts): ManifestProblem | undefined =>
    problems.find((problem) => problem.kind === "shadowed" && problem.pod === full);
  for (const manifest of manifests) {
    if (!manifest.pods.includes(full) || shadowOf(manifest) !== undefined) continue;
    for (const problem of manifest.problems) if (problem.kind !== "shadowed") yield findingOf(manifest, problem);
  }
  for (const manifest of manifests) {
    const shadowed = shadowOf(manifest);
    if (shadowed === undefined) continue;
    const what = `another manifest wants this name: ${placeOf(manifest, shadowed)}. It has no effect: the pod of ${shadowed.runs ?? "another manifest"} runs`;
    yield { ...findingOf(manifest, shadowed), severity: "warning", what };
  }
}

export function findingOf(manifest: ManifestFacts, problem: ManifestProblem): Finding {
  const said = `${placeOf(manifest, problem)}: ${problem.message}`;
  const isEdit = problem.kind === "refused" && manifest.pods.length > 0;
  const what = isEdit ? `its manifest ${refusalWords(problem)} in its present version: ${said}` : said;
  return {
    severity: problem.kind === "warning" ? "warning" : "error",
    about: "manifest",
    what,
    since: problem.since,
    help: manifestHelp(manifest, problem),
  };
}
