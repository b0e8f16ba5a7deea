// A volume plugin whose code is loaded for the first pod that uses it.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { Deferred } from "../../shared/base/turns/deferred.js";
import type { Volume } from "../../shared/kubernetes/api/volume.js";
import type { VolumePlugin } from "./plugin.js";

interface LazyPlugin {
  name: string;
  source: string;
  indirect?: boolean | undefined;
  /** It has `tearDownIn`. */
  ownsDirectories?: boolean | undefined;
  unsupported?: (volume: Volume) => string | undefined;
  load(): Promise<VolumePlugin>;
}

/** The plugin has `refresh`, `tearDown` and `unmapDevice`, which do nothing where the loaded one has none. */
export function lazyPlugin(plugin: LazyPlugin): VolumePlugin {
  const { name, source, indirect, ownsDirectories, unsupported } = plugin;
  const code = new Deferred({
    name: `volumes of ${source}`,
    when: "first use",
    load: () => plugin.load(),
    end: (loaded) => loaded.stop?.(),
  });
  return omitUndefined({
    name,
    source,
    indirect: indirect === true ? indirect : undefined,
    unsupported,
    setUp: async (request) => (await code.get()).setUp(request),
    refresh: async (request) => (await code.get()).refresh?.(request),
    tearDown: async (uid, volume, onPluginKnown) => (await code.get()).tearDown?.(uid, volume, onPluginKnown),
    unmapDevice: async (uid, volume, onPluginKnown) => (await code.get()).unmapDevice?.(uid, volume, onPluginKnown),
    tearDownIn:
      ownsDirectories === true
        ? async (directory, uid, volume) => (await code.get()).tearDownIn?.(directory, uid, volume)
        : undefined,
    stop: () => code.stop(),
  });
}
