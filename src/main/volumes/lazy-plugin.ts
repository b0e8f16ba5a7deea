// A volume plugin whose code is loaded when the first pod asks for it: a node without such pods never reads it.
import type { Volume } from "../../shared/api/volume.js";
import type { VolumePlugin } from "./plugin.js";

export interface LazyPlugin {
  name: string;
  source: string;
  indirect?: true;
  unsupported?: (volume: Volume) => string | undefined;
  load(): Promise<VolumePlugin>;
}

/** The plugin has `refresh`, `tearDown` and `unmapDevice`, which do nothing where the loaded one has none. */
export function lazyPlugin(plugin: LazyPlugin): VolumePlugin {
  const { name, source, indirect, unsupported } = plugin;
  let loading: Promise<VolumePlugin> | undefined;
  const loaded = (): Promise<VolumePlugin> => {
    loading ??= plugin.load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    name,
    source,
    ...(indirect === true && { indirect }),
    ...(unsupported !== undefined && { unsupported }),
    setUp: async (request) => (await loaded()).setUp(request),
    refresh: async (request) => (await loaded()).refresh?.(request),
    tearDown: async (uid, volume, doneBy) => (await loaded()).tearDown?.(uid, volume, doneBy),
    unmapDevice: async (uid, volume, doneBy) => (await loaded()).unmapDevice?.(uid, volume, doneBy),
  };
}
