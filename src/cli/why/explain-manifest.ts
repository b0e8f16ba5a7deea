// `nodelet why` of a manifest that makes no pod: the reason with its position, and what to do. Pure.

import type { ManifestFacts } from "../../shared/contracts/manifest-facts.js";
import { manifestName, manifestWord, refusalWords } from "../manifests/texts.js";
import type { Explanation } from "./explain.js";
import { findingOf } from "./manifest.js";

/** If several have that name, all findings are shown. */
export function explainManifests(manifests: readonly [ManifestFacts, ...ManifestFacts[]]): Explanation {
  const [first] = manifests;
  const problems = manifests.flatMap((manifest) => manifest.problems.map((problem) => [manifest, problem] as const));
  const ran = first.pods.length === 0 ? "" : `; ${first.pods.join(", ")} of its last good version still runs`;
  return {
    pod: manifestName(first),
    uid: "",
    manifest: first.origin,
    verdict:
      manifestWord(first) === "InvalidManifest"
        ? `${refusalWords(first.problems[0] ?? {})} (InvalidManifest): the kubelet makes no pod of it${ran}`
        : "has no effect (ShadowedManifest): another pod has the name of its pod",
    fine: false,
    findings: problems.map(([manifest, problem]) => findingOf(manifest, problem)),
    decisions: problems.map(([manifest, { kind, since }]) => ({
      at: since,
      what: `${SAID[kind]} ${manifestName(manifest)}`,
    })),
  };
}

const SAID = {
  refused: "the kubelet refused",
  shadowed: "the kubelet ignored a pod of",
  warning: "the kubelet ignored a part of",
} as const;
