// A volume plugin whose code is loaded for the first pod that uses it.

import type { Volume } from "../../shared/api/volume.js";
import { lazily } from "../../shared/turns/lazily.js";
import type { VolumePlugin } from "./plugin.js";

interface LazyPlugin {
  name: string;
  source: string;
  indirect?: true;
  /** It has `tearDownIn`. */
  ownsDirectories?: true;
  unsupported?: (volume: Volume) => string | undefined;
  load(): Promise<VolumePlugin>;
}

/** The plugin has `refresh`, `tearDown` and `unmapDevice`, which do nothing where the loaded one has none. */
export function lazyPlugin(plugin: LazyPlugin): VolumePlugin {
  const { name, source, indirect, ownsDirectories, unsupported } = plugin;
  let loading: Promise<VolumePlugin> | undefined;
  const load = lazily(() => plugin.load());
  const loaded = (): Promise<VolumePlugin> => (loading = load());
  return {
    name,
    source,
    ...(indirect === true && { indirect }),
    ...(unsupported !== undefined && { unsupported }),
    setUp: async (request) => (await loaded()).setUp(request),
    refresh: async (request) => (await loaded()).refresh?.(request),
    tearDown: async (uid, volume, doneBy) => (await loaded()).tearDown?.(uid, volume, doneBy),
    unmapDevice: async (uid, volume, doneBy) => (await loaded()).unmapDevice?.(uid, volume, doneBy),
    ...(ownsDirectories === true && {
      tearDownIn: async (directory, uid, volume) => (await loaded()).tearDownIn?.(directory, uid, volume),
    }),
    // A plugin that failed to load has no background work to stop.
    stop: async () => (await loading?.catch(() => undefined))?.stop?.(),
  };
}
