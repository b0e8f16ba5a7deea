// Brings the volumes of a running pod up to date, one after the other. Invariant: what fails is an event of the pod and
// ends nothing; a volume that something else is being done to is left to that.
import type { EventRecorder } from "../../model/event-recorder.js";
import { volumeKey, type ActualState } from "./actual-state.js";
import type { WantedPod } from "./desired-state.js";
import type { VolumeOperations } from "./operations.js";
import { emitSetUpFailed } from "./wait-for-volumes.js";
import type { VolumePlugin } from "../plugin.js";

export interface RefreshDeps {
  operations: VolumeOperations;
  events: EventRecorder;
}

/** Resolves to whether all went well. */
export async function refreshVolumes(
  { operations, events }: RefreshDeps,
  { pod, volumes }: WantedPod,
  signal: AbortSignal,
): Promise<boolean> {
  const calledOff = (): boolean => signal.aborted;
  let ok = true;
  for (const { volume, plugin } of volumes) {
    if (calledOff()) break;
    const work = async (): Promise<void> => plugin.refresh?.({ pod, volume, signal });
    try {
      await operations.refresh(volumeKey(pod.metadata.uid, volume.name), work);
    } catch (error) {
      if (calledOff()) break;
      ok = false;
      emitSetUpFailed(events, pod, volume.name, error);
    }
  }
  return ok;
}

// Claims of a pod that an earlier kubelet started: their directories on disk have other names than the pod's volumes,
// so that only their plugin can identify them. Invariant: a mounted volume is found mounted and not changed.

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
