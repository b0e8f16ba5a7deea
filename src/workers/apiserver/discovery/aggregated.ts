// Aggregated discovery: all groups, versions and resources in two documents, which kubectl asks for first.

import type { Fields } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { categoriesOf, subresourcesOf, versionsOf } from "./resources.js";

export const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** One of the client's choices, in any order of its parameters. */
export function isAggregatedWanted(accept: string): boolean {
  const wanted = AGGREGATED_TYPE.split(";");
  return accept.split(",").some((choice) => {
    const words = choice.split(";").map((word) => word.trim());
    return wanted.every((word) => words.includes(word));
  });
}

/** @param isCore the document of /api; otherwise that of /apis */
export function aggregated(all: readonly Resource[], isCore: boolean): Fields {
  const served = all.filter(({ group }) => (group === "") === isCore);
  const items = [...new Set(served.map(({ group }) => group))].map((group) => {
    const ofGroup = served.filter((one) => one.group === group);
    return {
      metadata: { name: group, creationTimestamp: null },
      versions: versionsOf(ofGroup).map((version) => ({
        version,
        freshness: "Current",
        resources: ofGroup.filter((one) => one.version === version).map(entry),
      })),
    };
  });
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function entry(resource: Resource): Fields {
  const { group, version, kind, singular, shortNames, namespaced } = resource;
  return {
    resource: resource.resource,
    responseKind: { group, version, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: resource.verbs,
    shortNames: shortNames.length > 0 ? shortNames : undefined,
    categories: categoriesOf(resource),
    subresources: subresourcesOf(resource).map((sub) => ({
      subresource: sub.name,
      responseKind: { group, version, ...sub.of, kind: sub.kind },
      verbs: sub.verbs,
    })),
  };
}
