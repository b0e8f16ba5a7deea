// After the faults the files of a node's own API are as its objects. A lease may wait until a lasting change comes.

import { RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { pathOf, textOf } from "../../../src/workers/apiserver/store/object-file.js";
import { objectFile, objectPaths } from "../world/own-store.js";
import type { Invariant } from "./invariant.js";

const LEASES = "leases.coordination.k8s.io";

export const filesFollowObjects: Invariant = {
  name: "files follow the objects of the node's own API",
  promisedBy: "docs/adr/0125-store-of-objects-in-files.md",
  watch({ own }, broken) {
    if (own === undefined) return undefined;
    return () => {
      const known = new Set<string>();
      for (const resource of RESOURCES) {
        for (const [key, object] of own.api.current?.entries(resource) ?? []) {
          const path = pathOf(resource, object);
          known.add(path);
          if (resource.key === LEASES || own.maps.isInDoubt(path)) continue;
          const text = objectFile(path);
          if (text !== textOf(object)) broken(`the file of ${resource.key} ${key} is not as its object: ${text}`);
        }
      }
      for (const path of objectPaths()) {
        if (known.has(path) || !path.endsWith(".json") || own.maps.isInDoubt(path)) continue;
        broken(`the file ${path} is left of an object that is gone`);
      }
    };
  },
};
