// A file of an object that a person has changed counts within seconds: as the next version of the object, or it is set
// aside and the file is written anew. Watched while nothing else happens to the object, the server and the disk.

import { resourceNamed } from "../../../src/workers/apiserver/objects/resources.js";
import { textOf } from "../../../src/workers/apiserver/store/object-file.js";
import { kernel } from "../kernel/kernel.js";
import { SETTLED_MS, type HandEdit } from "../world/own-api-maps.js";
import { versionOf } from "../world/own-api.js";
import { objectFile } from "../world/own-store.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** A fault may last so long. */
const FAULT_MS = 45_000;
const MAPS = resourceNamed("configmaps").key;

export const handEditsCount: Invariant = {
  name: "edits by hand count, or are set aside",
  promisedBy: "docs/without-a-cluster.md",
  watch(world, broken) {
    const { own } = world;
    if (own === undefined) return undefined;
    own.maps.onEdited.add((edit) => {
      const revision = own.api.current?.revision ?? 0;
      kernel.after(kernel.world, SETTLED_MS, () => {
        if (isQuiet(world, edit)) check(world, edit, revision, broken);
      });
    });
    return undefined;
  },
};

function isQuiet({ facts, own, kubelet }: World, { name, beganAt }: HandEdit): boolean {
  const since = beganAt - FAULT_MS;
  const askedAt = own?.maps.askedAt.get(name) ?? -Infinity;
  const runs = kubelet?.isAlive === true && (facts.startedAt ?? Infinity) < since && own?.api.listening() !== undefined;
  return runs && facts.lastFaultAt < since && askedAt < beganAt - SETTLED_MS;
}

function check({ own }: World, { name, path, what, value, text }: HandEdit, revision: number, broken: Broken): void {
  const object = own?.api.store.get(MAPS, "default", name);
  const shown = (object?.["data"] ?? {}) as { value?: string };
  const file = objectFile(path);
  if (what === "removal") {
    if (object !== undefined) broken(`${path} was removed by hand, and its object is there`);
    return;
  }
  if (object === undefined) {
    broken(`the object of ${path}, which was edited by hand, is gone`);
    return;
  }
  if (file !== textOf(object)) broken(`${path} was edited by hand, and is not written as its object is: ${file}`);
  if (what === "value") {
    if (shown.value !== value) broken(`${path} has ${value} by hand, and its object ${shown.value}`);
    else if (versionOf(object) <= revision) broken(`the edit of ${path} has the version ${versionOf(object)}`);
  } else {
    if (objectFile(`${path}.rejected`) !== text) broken(`what was refused of ${path} is not in ${path}.rejected`);
    if (shown.value === value) broken(`the refused edit of ${path} counts`);
  }
}
