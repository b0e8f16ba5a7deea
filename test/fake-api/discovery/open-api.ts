// As much OpenAPI v3 as kubectl needs to leave the validation of fields to the server: the paths of each version, and
// that PATCH takes fieldValidation. There are no schemas: `kubectl explain` has nothing to show.

import { createHash } from "node:crypto";
import type { Fields } from "../../../src/workers/apiserver/objects/object.js";
import { apiVersionOf, type Resource } from "../resources.js";
import { ALL } from "./resources.js";

const ROOT = "/openapi/v3";

/** undefined for other paths, and for versions that are not served. */
export function openApi(path: string): Fields | undefined {
  if (path === ROOT) {
    const entries = [...new Set(ALL.map(rootOf))].map((root) => {
      const hash = createHash("sha256").update(root).digest("hex").toUpperCase();
      return [root, { serverRelativeURL: `${ROOT}/${root}?hash=${hash}` }];
    });
    return { paths: Object.fromEntries(entries) as Fields };
  }
  const served = ALL.filter((resource) => `${ROOT}/${rootOf(resource)}` === path);
  if (served.length === 0) return undefined;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.36.0" },
    paths: Object.fromEntries(served.map((resource) => [pathOf(resource), { patch: patchOf(resource) }])),
  };
}

function rootOf(resource: Pick<Resource, "group" | "version">): string {
  return `${resource.group === "" ? "api" : "apis"}/${apiVersionOf(resource)}`;
}

function pathOf(resource: Resource): string {
  const where = resource.namespaced ? "namespaces/{namespace}/" : "";
  return `/${rootOf(resource)}/${where}${resource.resource}/{name}`;
}

function patchOf({ group, version, kind }: Resource): Fields {
  const parameter = { name: "fieldValidation", in: "query", schema: { type: "string", uniqueItems: true } };
  return {
    operationId: `patch${kind}`,
    parameters: [parameter],
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group, version, kind },
  };
}
