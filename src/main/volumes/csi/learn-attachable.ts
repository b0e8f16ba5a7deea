// Volumes that an earlier kubelet process set up need no API server to mount. Whether they are attachable is read
// later.

import type { CsiContext } from "./context.js";
import { type CsiVolume, deviceKey } from "./csi-volume.js";

/** Until the API server responds, the volume counts as attached: it is in volumesInUse. */
export function learnAttachable(context: CsiContext, volume: CsiVolume): void {
  const device = context.users.get(deviceKey(volume));
  if (device === undefined || device.attachable !== undefined) return;
  context.objects.get(volume.driver).then(
    (spec) => {
      device.attachable ??= spec?.attachRequired !== false;
      if (!device.attachable) context.onInUse();
    },
    () => undefined,
  );
}
