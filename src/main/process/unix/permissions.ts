// A kubelet without root starts, so that people can try it, and logs at once which features will not work.

import type { Logger } from "../../../shared/telemetry/log/thread-log.js";

/** Warns when `uid` is not 0. Returns whether the process is root. */
export function checkPermissions(uid: number | undefined, log: Pick<Logger, "warn">): boolean {
  if (uid === 0 || uid === undefined) return true;
  log.warn(
    { uid },
    `the kubelet runs as uid ${uid}, not as root: making cgroups, mounting memory volumes, reading pods' files and ` +
      `logs, setting OOM scores and resource limits will fail where the kernel refuses; run it as root`,
  );
  return false;
}
