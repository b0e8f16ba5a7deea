// Discovery and health: as much as clients need to find the resources.

import { createHash } from "node:crypto";
import { goPlatform } from "../../../shared/base/text/go-platform.js";
import type { Fields } from "../objects/object.js";
import { apiVersionOf, type Resource } from "../objects/resource.js";
import { aggregated, AGGREGATED_TYPE, isAggregatedWanted } from "./aggregated.js";
import { openApi, OPEN_API_V2, OPEN_API_V2_BYTES, OPEN_API_V2_TYPE } from "./open-api.js";
import { categoriesOf, subresourcesOf, versionsOf } from "./resources.js";

const VERSION: Fields = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-04-22T00:00:00Z",
  goVersion: "go1.26",
  compiler: "gc",
  platform: goPlatform(),
};

export interface Document {
  body: string | Uint8Array;
  /** Media type. */
  type: string;
}

/** The document at a path that is about no resource; undefined when there is none. */
export function document(
  path: string,
  { accept, isVerbose }: { accept: string; isVerbose: boolean },
  all: readonly Resource[],
): Document | undefined {
  const trimmed = path.replace(/\/$/, "");
  const [, check, single] = /^\/(healthz|livez|readyz)(\/[\w-]+)?$/.exec(trimmed) ?? [];
  if (check !== undefined) {
    const body = isVerbose && single === undefined ? `[+]ping ok\n${check} check passed\n` : "ok";
    return { body, type: "text/plain; charset=utf-8" };
  }
  if (trimmed === "/openapi/v2" && accept.includes("proto-openapi")) {
    return { body: OPEN_API_V2_BYTES, type: OPEN_API_V2_TYPE };
  }
  if ((trimmed === "/api" || trimmed === "/apis") && isAggregatedWanted(accept)) {
    return { body: JSON.stringify(aggregated(all, trimmed === "/api")), type: AGGREGATED_TYPE };
  }
  const body = openApi(trimmed, all) ?? plain(trimmed, all);
  return body && { body: JSON.stringify(body), type: "application/json" };
}

function plain(trimmed: string, all: readonly Resource[]): Fields | undefined {
  if (trimmed === "/version") return VERSION;
  if (trimmed === "/openapi/v2") return OPEN_API_V2;
  if (trimmed === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (trimmed === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups(all) };
  const [, root, group = "", version] = trimmed.split("/");
  if (root === "api" && version === undefined) return group === "v1" ? resourceList(all, "", "v1") : undefined;
  if (root !== "apis") return undefined;
  if (version === undefined) {
    const found = groups(all).find(({ name }) => name === group);
    return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...found };
  }
  return all.some((one) => one.group === group && one.version === version)
    ? resourceList(all, group, version)
    : undefined;
}

function groups(all: readonly Resource[]): Fields[] {
  const names = [...new Set(all.map(({ group }) => group))].filter((group) => group !== "");
  return names.map((name) => {
    const ofGroup = all.filter(({ group }) => group === name);
    const versions = versionsOf(ofGroup).map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  });
}

function resourceList(all: readonly Resource[], group: string, version: string): Fields {
  const resources = all.filter((one) => one.group === group && one.version === version).flatMap(entries);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf({ group, version }), resources };
}

function entries(one: Resource): Fields[] {
  const { resource: name, singular: singularName, namespaced, kind, shortNames } = one;
  const main: Fields = { name, singularName, namespaced, kind, verbs: one.verbs, categories: categoriesOf(one) };
  if (shortNames.length > 0) main["shortNames"] = shortNames;
  if (one.verbs.length > 1) {
    main["storageVersionHash"] = createHash("sha256").update(one.key).digest("base64").slice(0, 11) + "=";
  }
  const others = subresourcesOf(one).map((sub) => ({
    name: `${name}/${sub.name}`,
    singularName: "",
    namespaced,
    ...sub.of,
    kind: sub.kind,
    verbs: sub.verbs,
  }));
  return [main, ...others];
}
