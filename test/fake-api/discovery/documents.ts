// Discovery and health: as much as clients need to find the resources.
import { createHash } from "node:crypto";
import { apiVersionOf, RESOURCES, REVIEWS, type Resource } from "../resources.js";
import type { Fields } from "../object.js";

const ALL = [...RESOURCES, ...REVIEWS];
const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const VERSION: Fields = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-04-22T00:00:00Z",
  goVersion: "go1.26",
  compiler: "gc",
  platform: "linux/amd64",
};

/** The document at a path that is about no resource; undefined when there is none. Text is sent as text. */
export function document(path: string): Fields | string | undefined {
  const trimmed = path.replace(/\/$/, "");
  if (/^\/(healthz|livez|readyz)(\/[\w-]+)?$/.test(trimmed)) return "ok";
  if (trimmed === "/version") return VERSION;
  if (trimmed === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (trimmed === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups() };
  const [, root, group = "", version] = trimmed.split("/");
  if (root === "api" && version === undefined) return group === "v1" ? resourceList("", "v1") : undefined;
  if (root !== "apis") return undefined;
  if (version === undefined) {
    const found = groups().find(({ name }) => name === group);
    return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...found };
  }
  return ALL.some((one) => one.group === group && one.version === version) ? resourceList(group, version) : undefined;
}

function groups(): Fields[] {
  const names = [...new Set(ALL.map(({ group }) => group))].filter((group) => group !== "");
  return names.map((name) => {
    const versions = [...new Set(ALL.filter(({ group }) => group === name).map(({ version }) => version))]
      .sort((one, other) => one.length - other.length)
      .map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  });
}

function resourceList(group: string, version: string): Fields {
  const resources = ALL.filter((one) => one.group === group && one.version === version).flatMap(entries);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf({ group, version }), resources };
}

function entries(one: Resource): Fields[] {
  const { resource: name, singular: singularName, namespaced, kind, shortNames } = one;
  const isReview = REVIEWS.includes(one);
  const main: Fields = { name, singularName, namespaced, kind, verbs: isReview ? ["create"] : VERBS };
  if (shortNames.length > 0) main["shortNames"] = shortNames;
  if (!isReview) main["storageVersionHash"] = createHash("sha256").update(one.key).digest("base64").slice(0, 11) + "=";
  const subresources = [...one.subresources, ...(one.status ? ["status"] : [])];
  return [
    main,
    ...subresources.map((subresource) => ({
      name: `${name}/${subresource}`,
      singularName: "",
      namespaced,
      kind,
      verbs: ["get", "patch", "update"],
    })),
  ];
}
