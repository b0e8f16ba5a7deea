// Manifests that make no pod, beside the list of pods: file, place and reason. Pure. Without such manifests there is
// nothing to show.

import { manifestHelp, manifestWord, placeOf, shortName } from "../../cli/manifests/texts.js";
import type { ManifestFacts, NodeManifests } from "../../shared/contracts/manifest-facts.js";
import { h, type VNode } from "../dom/vnode.js";
import { age, badge, section } from "./parts.js";
import { table } from "./table.js";

/** `manifests`: undefined until the kubelet's status has arrived. */
export function manifestsView(manifests: NodeManifests | undefined, now: number): VNode[] {
  const rows = (manifests?.items ?? []).filter((one) => manifestWord(one) !== "Accepted");
  if (rows.length === 0) return [];
  return [
    section(
      "Manifests without a pod",
      table<ManifestFacts>({
        caption: "Manifests that make no pod",
        columns: [
          { title: "Manifest", cell: (one) => h("span", { title: one.origin }, shortName(one)) },
          { title: "State", cell: (one) => badge("bad", manifestWord(one)) },
          { title: "Reason", cell: (one) => reasonOf(one) },
          { title: "Age", number: true, cell: ({ problems: [first] }) => age(first?.since, now) },
        ],
        rows,
        keyOf: ({ origin }) => origin,
        empty: "",
      }),
    ),
  ];
}

function reasonOf(manifest: ManifestFacts): (VNode | string)[] {
  const [problem] = manifest.problems;
  if (problem === undefined) return [];
  return [
    `${placeOf(manifest, problem)}: ${problem.message}. `,
    h("span", { class: "muted" }, `What to do: ${manifestHelp(manifest, problem).join("; ")}.`),
  ];
}
