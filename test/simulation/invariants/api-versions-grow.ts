// The resourceVersion of a node's own API never goes back, and no version is given twice with different content.

import { fnv32 } from "../../../src/shared/base/hash/fnv32.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Resource } from "../../../src/workers/apiserver/objects/resource.js";
import { RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { versionOf } from "../world/own-api.js";
import type { Invariant } from "./invariant.js";

export const apiVersionsGrow: Invariant = {
  name: "versions of the node's own API are given once",
  promisedBy: "docs/adr/0125-store-of-objects-in-files.md",
  watch({ own }, broken) {
    if (own === undefined) return undefined;
    /** The content of each version that was shown. */
    const contents = new Map<number, string>();
    let newest = 0;
    const see = (resource: Resource, object: ApiObject): void => {
      const version = versionOf(object);
      const { name, uid = "" } = object.metadata;
      const content = `${resource.key} ${name} ${uid} ${fnv32(JSON.stringify(object))}`;
      const known = contents.get(version);
      if (known !== undefined && known !== content) broken(`version ${version} is that of ${known} and of ${content}`);
      contents.set(version, content);
      newest = Math.max(newest, version);
    };
    own.api.onAnyChange.add((resource, { object }, made) => {
      if (made && versionOf(object) <= newest) broken(`version ${versionOf(object)} comes after ${newest}`);
      see(resource, object);
    });
    own.api.onAnswer.add(({ status, body }) => {
      const { resourceVersion = "0" } = body.metadata ?? {};
      if (status < 300) newest = Math.max(newest, Number(resourceVersion));
    });
    own.api.onOpen.add(({ store }) => {
      if (store.revision < newest) broken(`the version went from ${newest} back to ${store.revision}`);
      for (const resource of RESOURCES) for (const [, object] of store.entries(resource)) see(resource, object);
    });
    return undefined;
  },
};
