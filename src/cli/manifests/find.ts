// Asks the kubelet for its manifests, and finds them by what an operator types: a path, a file's name with or without
// its ending, or the name of a pod in a refused text.

import { resolve } from "node:path";
import { NO_MANIFESTS, type ManifestFacts, type NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { Client } from "../client.js";
import { shortName } from "./texts.js";

const ENDING = /\.(?:ya?ml|json|manifest|pod)$/;

/** Empty for a kubelet that does not know this request: it is older than this command. */
export async function manifestsOf(client: Client): Promise<NodeManifests> {
  return (await client.find<NodeManifests>("/nodelet/manifests")) ?? NO_MANIFESTS;
}

/** The best kind of match alone; empty: there is none. */
export function findManifests(manifests: readonly ManifestFacts[], named: string): ManifestFacts[] {
  const path = resolve(named);
  const kinds: ((manifest: ManifestFacts) => boolean)[] = [
    ({ origin }) => origin === named || origin === path,
    (manifest) => shortName(manifest) === named,
    ({ pods, claims }) => [...pods, ...claims].some((full) => full === named),
    (manifest) => shortName(manifest).replace(ENDING, "") === named,
    ({ claims, problems }) =>
      [...claims, ...problems.flatMap(({ pod }) => pod ?? [])].some((full) => full.endsWith(`/${named}`)),
  ];
  for (const matches of kinds) {
    const found = manifests.filter(matches);
    if (found.length > 0) return found;
  }
  return [];
}
