// What the node's own API holds for its readers is bounded and returns; one that reads slowly disturbs no other.

import { resourceNamed } from "../../../src/workers/apiserver/objects/resources.js";
import { kernel } from "../kernel/kernel.js";
import { Chronicle } from "../world/own-api-chronicle.js";
import type { ApiReader } from "../world/own-api-reader.js";
import { isUndisturbed } from "./calm.js";
import type { Invariant } from "./invariant.js";
import { textOf } from "./readers-see-changes.js";

/** docs/without-a-cluster.md: of a client, and of all. */
const BEHIND_BYTES = 4 * 1024 * 1024;
const ALL_BEHIND_BYTES = 32 * 1024 * 1024;
/** A fault may last so long. */
const FAULT_MS = 45_000;
/** A reader that takes no time has a change after this. */
const SOON_MS = 2000;

export const readersAreBounded: Invariant = {
  name: "readers of the node's own API are bounded, and disturb no other",
  promisedBy: "docs/without-a-cluster.md",
  watch(world, broken) {
    const { own } = world;
    if (own?.readers === undefined) return undefined;
    const { api, readers } = own;
    const checkHeld = (): void => {
      if (api.listening() === undefined) return;
      const { watches, subscriptions, unsentBytes } = api.held;
      if (subscriptions > watches) broken(`${subscriptions} subscriptions for ${watches} watches`);
      const most = Math.max(0, ...unsentBytes);
      const all = unsentBytes.reduce((sum, bytes) => sum + bytes, 0);
      if (most > BEHIND_BYTES || all > ALL_BEHIND_BYTES) broken(`${most} of ${all} bytes wait for one client`);
    };
    for (const name of ["pods", "configmaps"] as const) {
      const chronicle = new Chronicle(api, resourceNamed(name));
      chronicle.onChange.add((version) => {
        kernel.post(kernel.world, checkHeld);
        for (const reader of readers.open) {
          if (reader.follow.resource !== name || !isPrompt(reader)) continue;
          const { watchingSince } = reader;
          kernel.after(kernel.world, SOON_MS, () => {
            if (reader.hasLeft || reader.watchingSince !== watchingSince || !isUndisturbed(world, FAULT_MS)) return;
            const { version: has = 0 } = reader;
            const next = chronicle.next(reader.follow.selection, has);
            if (next !== undefined && next.version <= version)
              broken(`${textOf(reader)} has ${has} ${SOON_MS} ms after ${next.version}`);
          });
        }
      });
    }
    readers.listeners.add({
      answered(reader, verb, status) {
        const mayRead = reader.follow.as === "admin" || readers.named().includes(reader.follow.as);
        if (!mayRead || reader.follow.paceMs !== undefined || !isUndisturbed(world, FAULT_MS)) return;
        if (status === 0) broken(`a ${verb} of ${textOf(reader)} by ${reader.follow.as} was cut`);
        if (status === 429 || status >= 500) broken(`a ${verb} of ${textOf(reader)} has ${status}`);
      },
    });
    return checkHeld;
  },
};

function isPrompt({ follow, watchingSince, version }: ApiReader): boolean {
  return follow.paceMs === undefined && watchingSince !== undefined && version !== undefined;
}
