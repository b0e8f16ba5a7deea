// A device plugin is asked for its preference among devices that are free, and a container gets the devices that the
// plugin prefers, where these are among them.

import { kernel } from "../kernel/kernel.js";
import type { Preference } from "../world/device-plugin.js";
import { deviceHolders } from "./devices-are-given-once.js";
import type { Invariant } from "./invariant.js";

/** The kubelet allocates at once what the plugin prefers. */
const AT_ONCE_MS = 100;

export const preferencesAreKept: Invariant = {
  name: "containers get the devices that their plugin prefers",
  promisedBy: "docs/adr/0032-devices.md",
  watch(world, broken) {
    const { plugin } = world;
    if (plugin === undefined) return undefined;
    let answered: (Preference & { atMs: number }) | undefined;
    plugin.onPreference.add((preference) => {
      answered = { ...preference, atMs: kernel.monotonic };
      const { available, mustInclude, size } = preference;
      if (size < 1 || available.length < size || mustInclude.some((id) => !available.includes(id)))
        broken(`the plugin is to prefer ${size} of [${available.join()}] with [${mustInclude.join()}]`);
      for (const { devices, pod } of deviceHolders(world))
        for (const device of devices)
          if (available.includes(device)) broken(`${device} is offered while a container has it`, pod);
    });
    plugin.onAllocate.add((ids) => {
      const before = answered;
      answered = undefined;
      if (before === undefined || kernel.monotonic - before.atMs > AT_ONCE_MS) return;
      const { preferred, size, available, mustInclude } = before;
      const isUsable =
        new Set(preferred).size === size &&
        // A device may get sick while the plugin thinks.
        preferred.every((id) => available.includes(id) && plugin.isHealthy(id)) &&
        mustInclude.every((id) => preferred.includes(id));
      if (!isUsable || preferred.toSorted().join() === ids.toSorted().join()) return;
      broken(`the plugin prefers [${preferred.join()}], and is to allocate [${ids.join()}]`);
    });
    return undefined;
  },
};
