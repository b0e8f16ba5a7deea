// logind delays a shutdown by five seconds by default. When the configuration grants pods more time, the kubelet writes
// a drop-in file into logind's configuration, as upstream does.

import { mkdir } from "fs/promises";
import { join } from "path/posix";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import { InhibitDelayTooShortError } from "./errors.js";
import type { Logind } from "./logind.js";

export const LOGIND_CONF_DIR = "/etc/systemd/logind.conf.d";
const FILE = "99-kubelet.conf";
/** logind reads its configuration when its turn comes. */
const TRIES = 50;
const PAUSE_MS = 100;

interface InhibitDelayDeps {
  logind: Pick<Logind, "inhibitDelayMs" | "reload">;
  confDir: string;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

/** @throws InhibitDelayTooShortError, the error of the bus, or the signal's reason */
export async function ensureInhibitDelay(needMs: number, deps: InhibitDelayDeps): Promise<void> {
  const { logind, confDir, clock, log, signal } = deps;
  const before = await logind.inhibitDelayMs();
  if (before >= needMs) return;
  const file = join(confDir, FILE);
  try {
    await mkdir(confDir, { recursive: true, mode: 0o755 });
    await atomicWrite(file, content(needMs), { mode: 0o644 });
  } catch (error) {
    throw new InhibitDelayTooShortError(needMs, before, file, error);
  }
  log.info(`logind delays a shutdown for ${before / 1000} s at most: ${file} now sets ${needMs / 1000} s`);
  await logind.reload();
  let delay = before;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    delay = await logind.inhibitDelayMs();
    if (delay >= needMs) return;
    await clock.sleep(PAUSE_MS, signal);
  }
  throw new InhibitDelayTooShortError(needMs, delay, file);
}

function content(needMs: number): string {
  return `# Written by the kubelet for its shutdown grace periods.\n[Login]\nInhibitDelayMaxSec=${Math.ceil(needMs / 1000)}\n`;
}
