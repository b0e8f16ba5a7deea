// What the API of a node without a cluster has shown or answered is there after each crash, a loss of power included,
// and what it has removed stays away. A renewal of a lease needs not survive.

import { fnv32 } from "../../../src/shared/base/hash/fnv32.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Resource } from "../../../src/workers/apiserver/objects/resource.js";
import { RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { pathOf } from "../../../src/workers/apiserver/store/object-file.js";
import type { Store } from "../../../src/workers/apiserver/store/store.js";
import { keyOf } from "../../../src/workers/apiserver/store/tables.js";
import { versionOf, type Answer } from "../world/own-api.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

const WRITES = new Set(["create", "update", "patch", "delete"]);
const LEASES = "leases.coordination.k8s.io";

export const apiChangesSurvive: Invariant = {
  name: "what the node's own API answered survives",
  promisedBy: "docs/adr/0125-store-of-objects-in-files.md",
  watch({ own }, broken) {
    if (own === undefined) return undefined;
    const gone = new Set<string>();
    /** Hashes of what each object was, without its version. */
    const contents = new Map<string, Set<string>>();
    own.api.onAnyChange.add((_, { type, object }) => {
      const { uid = "" } = object.metadata;
      if (type === "DELETED") gone.add(uid);
      contents.set(uid, (contents.get(uid) ?? new Set()).add(contentOf(object)));
    });
    own.api.onAnswer.add((answer) => checkAnswer(own.api.current, answer, broken));
    own.api.onOpen.add(({ store, before }) => {
      if (before === undefined) return;
      for (const resource of RESOURCES) {
        checkStart({ own }, resource, [before, store], broken);
        for (const [key, object] of store.entries(resource)) {
          const { uid = "" } = object.metadata;
          if (own.maps.isInDoubt(pathOf(resource, object))) continue;
          if (gone.has(uid)) broken(`${resource.key} ${key} was removed, and is back`);
          const known = before.get(resource, key);
          if (resource.key === LEASES || known === undefined || versionOf(known) === versionOf(object)) continue;
          // A change that was under way when the server ended is another content.
          if (contents.get(uid)?.has(contentOf(object)) === true)
            broken(`${resource.key} ${key} has an earlier content as version ${versionOf(object)}`);
        }
      }
    });
    return undefined;
  },
};

function contentOf(object: ApiObject): string {
  return String(fnv32(JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: "" } })));
}

/** A change is visible with its answer. */
function checkAnswer(store: Store | undefined, answer: Answer, broken: Broken): void {
  const { verb, resource, namespace, status, body } = answer;
  const { name = answer.name, resourceVersion } = body.metadata ?? {};
  if (!WRITES.has(verb) || status >= 300 || resourceVersion === undefined) return;
  const shown = store?.get(resource, keyOf(namespace, name));
  const isOver = (store?.revision ?? 0) >= Number(resourceVersion) && shown === undefined;
  if (isOver || (shown !== undefined && versionOf(shown) >= Number(resourceVersion))) return;
  broken(`version ${resourceVersion} of ${resource.key} ${name} was answered before it is visible`);
}

function checkStart(
  { own }: Pick<World, "own">,
  resource: Resource,
  [before, after]: readonly [Store, Store],
  broken: Broken,
): void {
  for (const [key, object] of before.entries(resource)) {
    if (own?.maps.isInDoubt(pathOf(resource, object)) === true) continue;
    const found = after.get(resource, key);
    if (found === undefined) broken(`${resource.key} ${key} is gone after a start of the API`);
    else if (resource.key !== LEASES && versionOf(found) < versionOf(object)) {
      broken(`${resource.key} ${key} went from version ${versionOf(object)} back to ${versionOf(found)}`);
    }
  }
}
