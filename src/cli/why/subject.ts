// What `nodelet why` is asked about: a pod, or manifests that make none. A pod of that name comes first. Pure.

import type { ManifestFacts, NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { CliError, EXIT } from "../errors.js";
import { findManifests } from "../manifests/find.js";
import { manifestWord } from "../manifests/texts.js";
import { findPod, fullName } from "../pods/find.js";

type Subject = { kind: "pod"; pod: Pod } | { kind: "manifests"; manifests: [ManifestFacts, ...ManifestFacts[]] };

/** @throws CliError when there is neither, or more than one pod */
export function subjectOf(
  pods: readonly Pod[],
  { items, configured }: NodeManifests,
  named: string,
  namespace?: string,
): Subject {
  let missing: unknown;
  try {
    return { kind: "pod", pod: findPod(pods, named, namespace) };
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.wrong) throw error;
    missing = error;
  }
  const found = findManifests(items, named);
  const [first, ...others] = found.filter((one) => manifestWord(one) !== "Accepted");
  if (first !== undefined) return { kind: "manifests", manifests: [first, ...others] };
  const theirs = new Set(found.flatMap((one) => one.pods));
  const running = pods.filter((pod) => theirs.has(fullName(pod)));
  const [pod] = running;
  if (pod !== undefined && running.length === 1) return { kind: "pod", pod };
  if (running.length > 1) {
    throw new CliError(
      EXIT.usage,
      `the manifest ${named} has ${running.length} pods`,
      `name one of them: ${running.map(fullName).join(", ")}`,
    );
  }
  if (!named.startsWith("/")) throw missing;
  throw new CliError(
    EXIT.wrong,
    `${named} is no manifest of this node`,
    `the kubelet reads ${configured.length === 0 ? "no files or URLs" : configured.join(" and ")}: files of the folder itself, none below it, and no names that begin with a dot`,
  );
}
