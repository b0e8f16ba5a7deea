// Selects the cgroup driver of the node. The runtime creates the cgroups of containers, so its driver overrides the
// configured one. A runtime that is unavailable or does not report its driver must not delay the start.

import type { Clock } from "../../shared/base/clock/clock.js";
import {
  chooseCgroupDriver,
  type CgroupDriverChoice,
  type CgroupDriverName,
} from "../../shared/kubernetes/cri/cgroup-driver.js";
import type { CriCalls } from "../../shared/kubernetes/cri/verbs.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

export interface NodeCgroupDriverOptions {
  clock: Clock;
  log: Logger;
  /** Milliseconds for the runtime's response; default 2000. */
  deadlineMs?: number;
  /** The runtime is so old that it has no such call. */
  onCallMissing?: () => void;
}

const DEADLINE_MS = 2000;
/** Polling interval for a runtime that is just starting. */
const PAUSE_MS = 200;

/** Resolves to the driver to use, within the deadline; logs its source and a contradiction. Never rejects. */
export async function nodeCgroupDriver(
  cri: Pick<CriCalls, "runtimeConfig">,
  configured: CgroupDriverName,
  { clock, log, deadlineMs = DEADLINE_MS, onCallMissing }: NodeCgroupDriverOptions,
): Promise<CgroupDriverName> {
  const deadline = new AbortController();
  const timer = clock.after(deadlineMs, () => {
    deadline.abort(new Error(`no response within ${deadlineMs / 1000} s`));
  });
  try {
    const choice = await chooseCgroupDriver(cri, configured, {
      clock,
      pauseMs: PAUSE_MS,
      tries: Infinity,
      deadlineMs,
      signal: deadline.signal,
    });
    logChoice(choice, configured, log);
    if (choice.callMissing === true) onCallMissing?.();
    return choice.driver;
  } catch (error) {
    log.warn(
      { driver: configured, err: error },
      "the runtime did not report its cgroup driver; using cgroupDriver of the configuration; " +
        "if the runtime uses another one, pods will be outside their limits: set both to the same driver, or restart the kubelet",
    );
    return configured;
  } finally {
    timer.cancel();
  }
}

function logChoice({ driver, source, reason }: CgroupDriverChoice, configured: CgroupDriverName, log: Logger): void {
  if (driver !== configured) {
    log.warn(
      { driver, configured },
      "the runtime uses another cgroup driver than the configuration; using the runtime's",
    );
  } else {
    log.info({ driver, source, reason }, "cgroup driver");
  }
}
