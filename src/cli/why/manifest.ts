// Rules of `nodelet why` about a pod's own manifest, shown before all others, and about other manifests that want the pod's name. Pure.
import type { ManifestFacts, ManifestProblem } from "../../shared/contracts/manifest-facts.js";
import { manifestHelp, placeOf } from "../manifests/texts.js";
import { fullName } from "../pods/find.js";
import type { Finding, WhyInput } from "./input.js";

/** Findings about the manifest of a pod, and about others that want its name. */
export function* manifestFindings({ pod, node }: Pick<WhyInput, "pod" | "node">): Iterable<Finding> {
  const full = fullName(pod);
  for (const manifest of node.manifests?.items ?? []) {
    const { pods, problems } = manifest;
    const shadowed = problems.find((problem) => problem.kind === "shadowed" && problem.pod === full);
    if (shadowed !== undefined) {
      yield {
        ...findingOf(manifest, shadowed),
        severity: "warning",
        what: `another manifest wants this name: ${placeOf(manifest, shadowed)}. It has no effect: the pod of ${shadowed.runs ?? "another manifest"} runs`,
      };
      continue;
    }
    if (!pods.includes(full)) continue;
    for (const problem of problems) if (problem.kind !== "shadowed") yield findingOf(manifest, problem);
  }
}

export function findingOf(manifest: ManifestFacts, problem: ManifestProblem): Finding {
  const place = placeOf(manifest, problem);
  const what =
    problem.kind === "warning"
      ? `${place}: ${problem.message}`
      : problem.kind === "refused" && manifest.pods.length > 0
        ? `its manifest was changed and is refused: ${place}: ${problem.message}`
        : `${place}: ${problem.message}`;
  return {
    severity: problem.kind === "warning" ? "warning" : "error",
    about: "manifest",
    what,
    since: problem.since,
    help: manifestHelp(manifest, problem),
  };
}
