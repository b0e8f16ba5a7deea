// Manifests in `nodelet status`: refused, shadowed and warned ones as problems of the node. Pure.

import type { ManifestFacts, ManifestProblem, NodeManifests } from "../../shared/contracts/manifest-facts.js";
import { manifestHelp, manifestName, placeOf, refusalWords } from "./texts.js";

/** A Problem of problems.ts. */
interface OfManifest {
  severity: "error" | "warning";
  what: string;
  since?: number;
  help: string;
}

/** Manifests that are named one by one. */
const NAMED = 20;

export function* manifestProblems({ items, more }: NodeManifests): Iterable<OfManifest> {
  const wrong = items.filter(({ problems }) => problems.length > 0);
  for (const manifest of wrong.slice(0, NAMED)) yield* problemsOfOne(manifest);
  const left = wrong.length - NAMED + more;
  if (wrong.length <= NAMED && more === 0) return;
  yield {
    severity: "error",
    what: `${left} more manifest${left === 1 ? " has" : "s have"} problems`,
    help: "`nodelet pods` lists them; the kubelet's log names the reason of each",
  };
}

function* problemsOfOne(manifest: ManifestFacts): Iterable<OfManifest> {
  const [first] = manifest.problems;
  const warnings = manifest.problems.filter(({ kind }) => kind === "warning");
  const refusal = first?.kind === "warning" ? undefined : first;
  if (refusal !== undefined) yield problem(manifest, refusal, refusal.message);
  const [warning] = warnings;
  // What a refused text ignored before is not the next thing to do.
  if (warning === undefined || refusal?.kind === "refused") return;
  const others = warnings.length === 1 ? "" : `; and ${warnings.length - 1} more`;
  yield problem(manifest, warning, `${warning.message}${others}`);
}

function problem(manifest: ManifestFacts, about: ManifestProblem, text: string): OfManifest {
  const [severity, words] = WORDS[about.kind];
  const state = about.kind === "refused" ? refusalWords(about) : words;
  const what = `manifest ${placeOf(manifest, about)} ${state}: ${text}`;
  return { severity, what, since: about.since, help: manifestHelp(manifest, about)[0] ?? manifestName(manifest) };
}

const WORDS = {
  refused: ["error", "is refused"],
  shadowed: ["error", "has no effect"],
  warning: ["warning", "is accepted with a warning"],
} as const;
