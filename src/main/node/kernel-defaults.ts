// Kernel flags that a node needs. Memory may be overcommitted, and the OOM killer kills instead of a kernel panic. A
// panic ends in a reboot, and keys of root suffice for many containers. With protectKernelDefaults they are only looked
// at. Source: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/ (protectKernelDefaults)

import { readFile, writeFile } from "node:fs/promises";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

/** Paths below /proc/sys. */
const WANTED: Readonly<Record<string, number>> = {
  "vm/overcommit_memory": 1,
  "vm/panic_on_oom": 0,
  "kernel/panic": 10,
  "kernel/panic_on_oops": 1,
  "kernel/keys/root_maxkeys": 1_000_000,
  "kernel/keys/root_maxbytes": 25_000_000,
};

/** @throws OperatorError */
export async function checkKernelDefaults(directory = "/proc/sys"): Promise<void> {
  const problems: string[] = [];
  for (const [path, wanted] of Object.entries(WANTED)) {
    try {
      const actual = await read(directory, path);
      if (actual === wanted) continue;
      problems.push(`invalid kernel flag: ${path}, expected value: ${wanted}, actual value: ${actual}`);
    } catch (error) {
      problems.push(`kernel flag ${path} can't be read: ${errorText(error)}`);
    }
  }
  if (problems.length > 0)
    throw new OperatorError(
      `${problems.join("; ")}: set them (sysctl -w), or let the kubelet do so with protectKernelDefaults: false`,
    );
}

/**
 * Sets the kernel flags that differ. A flag that the kernel refuses is logged and skipped; in a user namespace it is
 * skipped without a log line.
 */
export async function setKernelDefaults(
  log: Pick<Logger, "info" | "warn">,
  { inUserNamespace, directory = "/proc/sys" }: { inUserNamespace: boolean; directory?: string },
): Promise<void> {
  for (const [path, wanted] of Object.entries(WANTED)) {
    try {
      const actual = await read(directory, path);
      if (actual === wanted) continue;
      log.info({ flag: path, wanted, actual }, `updating kernel flag ${path}: ${actual} becomes ${wanted}`);
      await writeFile(`${directory}/${path}`, String(wanted));
    } catch (error) {
      log[inUserNamespace ? "info" : "warn"](
        { err: error, flag: path, wanted },
        `kernel flag ${path} can't be made ${wanted}: ${errorText(error)}`,
      );
    }
  }
}

async function read(directory: string, path: string): Promise<number> {
  return Number((await readFile(`${directory}/${path}`, "utf8")).trim());
}
