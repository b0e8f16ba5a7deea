// Calls to volumes' file systems as the kubelet makes them, for tests whose volumes answer.

import { systemClock } from "../../src/shared/base/clock/clock.js";
import { startHelperProcess } from "../../src/shared/node/volume-calls/helper.js";
import { VolumeCalls } from "../../src/shared/node/volume-calls/volume-calls.js";
import { silentLog } from "./silent.js";

export function volumeCalls(): VolumeCalls {
  const log = silentLog;
  return new VolumeCalls({ clock: systemClock, log, startHelper: startHelperProcess });
}
