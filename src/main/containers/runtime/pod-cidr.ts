// The pod CIDR of a stand-alone node: passed to the runtime, which may make its network configuration from it. On a
// node of a cluster the Node object names the CIDR (node-status thread).

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

export interface PodCidrDeps {
  cri: Pick<CriClient, "updateRuntimeConfig">;
  clock: Pick<Clock, "sleep">;
  log: Logger;
}

/** Returns at once; the call is repeated until the runtime has responded. */
export function startPodCidr(podCidr: string, { cri, clock, log }: PodCidrDeps): { stop(): Promise<void> } {
  const lifetime = new Lifetime();
  const { signal } = lifetime;
  const update = async (): Promise<void> => {
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      try {
        await cri.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } }, { signal });
        log.info(`updated the runtime's pod CIDR to ${podCidr}`);
        return;
      } catch (error) {
        signal.throwIfAborted();
        log.error({ err: error }, `cannot update the runtime's pod CIDR to ${podCidr}: ${errorText(error)}`);
      }
      await clock.sleep(wait, signal);
    }
  };
  const running = podCidr === "" ? Promise.resolve() : update();
  const ended = running.catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, `the update of the pod CIDR ended: ${errorText(error)}`);
  });
  return {
    async stop() {
      lifetime.end();
      await ended;
    },
  };
}
