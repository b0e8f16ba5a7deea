// Claims of a pod that has run since before this kubelet: on disk they have other names than in the pod, so that only their
// plugin can tell which they are. Invariant: what is mounted is found mounted, and nothing is done to it.
import type { VolumePlugin } from "../plugin.js";
import type { ActualState } from "./actual-state.js";

/** A plugin whose refresh sets the volume up, which finds it there, and takes it into the account. */
export function takingOver(plugin: VolumePlugin, actual: ActualState): VolumePlugin {
  return {
    ...plugin,
    refresh: async (request) => {
      let doer = plugin.name;
      const place = await plugin.setUp({ ...request, doneBy: (found) => (doer = found.plugin) });
      actual.isAt({ uid: request.pod.metadata.uid, volume: request.volume.name, plugin: doer, place });
    },
  };
}
