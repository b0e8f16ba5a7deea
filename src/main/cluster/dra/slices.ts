// Deletes the ResourceSlices of this node. When the kubelet starts, no driver is registered yet, so it deletes those
// of every driver. Later it deletes those of one driver without a plugin. Pods are then not scheduled to devices that
// cannot be prepared here.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { RESOURCE_SLICES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

const RETRY = { initialMs: 1000, maxMs: 5 * 60_000 };

export interface SlicesOptions {
  nodeName: string;
  client: Pick<ApiClient, "list" | "delete">;
  clock: Clock;
  log: Logger;
}

/** The deletions that run now. */
export class SliceWipes {
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly options: SlicesOptions) {}

  /** Ends when the signal aborts: that of a driver does when the driver is back, and when the kubelet stops. */
  start(driver: string | undefined, signal: AbortSignal): void {
    const wipe = wipeSlices(this.options, driver, signal).finally(() => this.running.delete(wipe));
    this.running.add(wipe);
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
  }
}

/** `driver` undefined: of all drivers. Tries until it succeeds or the signal aborts; never rejects. @internal */
export async function wipeSlices(
  { nodeName, client, clock, log }: SlicesOptions,
  driver: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const ended = (): boolean => signal.aborted;
  const fieldSelector = `spec.nodeName=${nodeName}${driver === undefined ? "" : `,spec.driver=${driver}`}`;
  const backoff = new Backoff(RETRY);
  while (!ended()) {
    const retryMs = backoff.next();
    try {
      const { items } = await client.list(RESOURCE_SLICES, { fieldSelector, signal });
      for (const { metadata } of items) await deleteSlice(client, metadata.name ?? "", signal);
      if (items.length > 0) log.info({ fieldSelector, slices: items.length }, `deleted ${items.length} ResourceSlices`);
      return;
    } catch (error) {
      // A server without the API has no slices.
      if (ended() || isNotFound(error)) return;
      log.info(
        { err: error, fieldSelector, retryMs },
        `cannot delete ResourceSlices: ${errorText(error)}; trying again`,
      );
    }
    await clock.sleep(retryMs, signal).catch(() => undefined);
  }
}

async function deleteSlice(client: Pick<ApiClient, "delete">, name: string, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(RESOURCE_SLICES, { name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
