// A watch of a node's own API neither misses nor repeats a change, over cut connections and starts of the server. Only
// a version from before a start is too old: the client lists again then.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed } from "../../../src/workers/apiserver/objects/resources.js";
import { keyOf } from "../../../src/workers/apiserver/store/tables.js";
import { OwnApiWatcher, type WatchEvent } from "../world/own-api-watcher.js";
import { versionOf } from "../world/own-api.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

const RESOURCES = ["pods", "configmaps"];

export const watchesAreComplete: Invariant = {
  name: "watches of the node's own API are complete",
  promisedBy: "docs/adr/0125-store-of-objects-in-files.md",
  watch(world, broken) {
    const { own } = world;
    if (own === undefined) return undefined;
    const checks = RESOURCES.map((resource) => follow(own, resource, broken));
    return () => {
      for (const check of checks) check();
    };
  },
};

type Own = NonNullable<World["own"]>;

function follow({ api }: Own, name: string, broken: Broken): () => void {
  /** Changes that a server has made, by version. */
  const made: { version: number; type: string }[] = [];
  const seen = new Map<string, number>();
  api.onAnyChange.add(({ key }, { type, object }, isMade) => {
    if (key === name && isMade) made.push({ version: versionOf(object), type });
  });
  const idOf = ({ metadata }: ApiObject): string => keyOf(metadata.namespace, metadata.name);
  const watcher = new OwnApiWatcher(`/api/v1/${name}`);
  watcher.onList = (_, objects) => {
    seen.clear();
    for (const object of objects) seen.set(idOf(object), versionOf(object));
  };
  watcher.onEvent = ({ type, object }: WatchEvent, after) => {
    if (type === "ERROR") {
      const { current } = api;
      if (after >= (current?.compacted ?? 0))
        broken(`version ${after} of ${name} is too old: ${JSON.stringify(object)}`);
      return;
    }
    const version = versionOf(object);
    const next = made.find((change) => change.version > after);
    if (type === "BOOKMARK") {
      if (version < after) broken(`a bookmark of ${name} went from ${after} back to ${version}`);
      if (next !== undefined && next.version <= version) broken(`a watch of ${name} missed version ${next.version}`);
      return;
    }
    if (next?.version !== version || next.type !== type)
      broken(`a watch of ${name} has ${type} ${version} after ${after}, not ${next?.type} ${next?.version}`);
    if (type === "DELETED") seen.delete(idOf(object));
    else seen.set(idOf(object), version);
  };
  return () => {
    for (const [key, object] of api.current?.entries(resourceNamed(name)) ?? []) {
      if (seen.get(key) !== versionOf(object)) broken(`a watch of ${name} has version ${seen.get(key)} of ${key}`);
      seen.delete(key);
    }
    for (const key of seen.keys()) broken(`a watch of ${name} has ${key}, which is gone`);
  };
}
