// flexVolume as a pod names it itself: one plugin for all drivers, and one for each directory of a driver. Loaded with
// the first such volume.

import { asVolumeErrors } from "../claims/volume-errors.js";
import type { VolumePlugin } from "../plugin.js";
import type { FlexVolumes } from "./flex-volumes.js";
import { driverOfDirectory, FLEX_PLUGIN, flexPlugin } from "./names.js";

export function flexVolumePlugin(flex: () => Promise<FlexVolumes>): VolumePlugin {
  return {
    name: FLEX_PLUGIN,
    source: "flexVolume",
    indirect: true,
    setUp: (request) =>
      asVolumeErrors(request, async () => {
        const { pod, volume, signal, retryNow, onPluginKnown } = request;
        const source = volume.flexVolume ?? { driver: "" };
        onPluginKnown?.({ plugin: flexPlugin(source.driver) });
        return (await flex()).setUp({
          pod,
          name: volume.name,
          source,
          readOnly: source.readOnly === true,
          signal,
          retryNow,
        });
      }),
    tearDownIn: async (directory, uid, volume) => (await flex()).tearDown(driverOfDirectory(directory), uid, volume),
    stop: async () => (await flex()).stop(),
  };
}
