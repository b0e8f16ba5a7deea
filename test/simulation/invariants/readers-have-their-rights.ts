// A user whom the file of readers names may look at everything but secrets, and has a kubeconfig; another
// user has neither, and loses open watches.

import { kernel } from "../kernel/kernel.js";
import { VIEWERS } from "../world/own-api-readers.js";
import { isUndisturbed } from "./calm.js";
import type { Invariant } from "./invariant.js";

/** "Within seconds". */
const SECONDS_MS = 5000;
/** A file that the disk did not give is read again after a minute. */
const READ_AGAIN_MS = 70_000;
/** After the begin of the calm. */
const SETTLED_MS = 100_000;

export const readersHaveTheirRights: Invariant = {
  name: "readers of the node's own API have their rights",
  promisedBy: "docs/without-a-cluster.md",
  watch(world, broken) {
    const { own } = world;
    if (own?.readers === undefined) return undefined;
    const { readers } = own;
    readers.listeners.add({
      answered({ follow: { as, resource } }, verb, status) {
        if (as === "admin") return;
        if (status === 200 && resource === "secrets") broken(`${as} has a ${verb} of secrets`);
        if (kernel.monotonic - readers.namedAt < SECONDS_MS || !isUndisturbed(world, READ_AGAIN_MS)) return;
        const isNamed = readers.named().includes(as);
        if (status === 200 && !isNamed) broken(`${as} has a ${verb} of ${resource}, and is not in the file`);
        if (status === 403 && isNamed && resource !== "secrets") broken(`${as} has no ${verb} of ${resource}`);
      },
    });
    world.onEvent.add(({ do: what }) => {
      if (what === "calm") kernel.after(kernel.world, SETTLED_MS, check);
      if (what === "viewers-named") kernel.after(kernel.world, SECONDS_MS, check);
    });
    const check = (): void => {
      if (kernel.monotonic - readers.namedAt < SECONDS_MS || !isUndisturbed(world, READ_AGAIN_MS)) return;
      const named = readers.named();
      for (const name of VIEWERS) {
        const isNamed = named.includes(name);
        if (readers.hasKubeconfig(name) !== isNamed) broken(`${name} has ${isNamed ? "no" : "a"} kubeconfig`);
      }
      for (const { follow, watchingSince } of readers.open) {
        if (follow.as === "admin" || watchingSince === undefined || named.includes(follow.as)) continue;
        broken(`${follow.as} watches ${follow.resource}, and is not in the file`);
      }
    };
    return check;
  },
};
