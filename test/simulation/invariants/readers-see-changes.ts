// A reader of a node's own API sees each change of its selection once and in order, over connections that end or
// break; a list has the objects of its version; only versions before the history are too old.

import { resourceNamed } from "../../../src/workers/apiserver/objects/resources.js";
import { Chronicle } from "../world/own-api-chronicle.js";
import type { ApiReader } from "../world/own-api-reader.js";
import type { WatchEvent } from "../world/own-api-watcher.js";
import { versionOf } from "../world/own-api.js";
import type { Invariant } from "./invariant.js";

const RESOURCES = ["pods", "configmaps"] as const;

export const readersSeeChanges: Invariant = {
  name: "readers of the node's own API see each change once",
  promisedBy: "docs/adr/0125-store-of-objects-in-files.md",
  watch({ own }, broken) {
    if (own?.readers === undefined) return undefined;
    const { api, readers } = own;
    const chronicles = new Map<string, Chronicle>();
    for (const name of RESOURCES) chronicles.set(name, new Chronicle(api, resourceNamed(name)));
    /** The newest version that each reader has had. */
    const newest = new WeakMap<ApiReader, number>();
    readers.listeners.add({
      listed(reader, version, objects) {
        const what = textOf(reader);
        if (version < (newest.get(reader) ?? 0)) broken(`a list of ${what} went back to ${version}`);
        newest.set(reader, version);
        const there = chronicles.get(reader.follow.resource)?.at(reader.follow.selection, version);
        if (there === undefined) return;
        for (const [key, known] of reader.objects) {
          if (there.get(key) !== known) broken(`${key} is ${known} in ${what} of ${version}, not ${there.get(key)}`);
        }
        for (const key of there.keys()) if (!reader.objects.has(key)) broken(`${key} is not in ${what} of ${version}`);
        if (objects.length !== there.size) broken(`${what} of ${version} has an object twice`);
      },
      event(reader, event, after) {
        const chronicle = chronicles.get(reader.follow.resource);
        const wrong = chronicle === undefined ? undefined : mistakeIn(chronicle, reader, event, after);
        if (event.type === "ERROR" && after >= (api.current?.compacted ?? 0))
          broken(`version ${after} of ${textOf(reader)} is too old: ${JSON.stringify(event.object)}`);
        else if (wrong !== undefined) broken(`a watch of ${textOf(reader)} has ${wrong}`);
        if (event.type !== "ERROR") newest.set(reader, versionOf(event.object));
      },
      early: (reader, { type, object }) =>
        broken(`${type} ${versionOf(object)} came before the end of what there is of ${textOf(reader)}`),
    });
    return undefined;
  },
};

function mistakeIn(
  chronicle: Chronicle,
  { follow: { selection } }: ApiReader,
  { type, object }: WatchEvent,
  after: number,
): string | undefined {
  if (type === "ERROR") return undefined;
  const version = versionOf(object);
  if (chronicle.areApart(after, version)) return `${version} after ${after}, from before a start`;
  const next = chronicle.next(selection, after);
  if (type === "BOOKMARK") {
    if (version < after) return `a bookmark of ${version} after ${after}`;
    const isMissed = next !== undefined && next.version <= version;
    return isMissed ? `a bookmark of ${version}, and not ${next.type} ${next.version}` : undefined;
  }
  if (next?.version === version && next.type === type) return undefined;
  return `${type} ${version} after ${after}, not ${next?.type} ${next?.version}`;
}

export function textOf({ follow }: ApiReader): string {
  return `${follow.selection} ${follow.resource} by ${follow.begins}`;
}
