// Claims of a pod that an earlier kubelet started. Their directories on disk have other names than the pod's volumes,
// so only their plugins can identify them. Invariant: a mounted volume is found mounted and not changed.

import type { VolumePlugin } from "../plugin.js";
import type { ActualState } from "./actual-state.js";

/** A plugin whose refresh sets the volume up, which finds it there, and takes it into the account. */
export function takingOver(plugin: VolumePlugin, actual: ActualState): VolumePlugin {
  return {
    ...plugin,
    refresh: async (request) => {
      let doer = plugin.name;
      const place = await plugin.setUp({ ...request, onPluginKnown: (found) => (doer = found.plugin) });
      actual.isAt({ uid: request.pod.metadata.uid, volume: request.volume.name, plugin: doer, place });
    },
  };
}
