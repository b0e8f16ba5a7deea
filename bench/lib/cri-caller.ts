// A process that makes Version calls to a runtime over one of the two CRI channels, and reports the processor time of
// each band of calls. The parent passes the endpoint and the channel.

import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { CriChannelKind } from "../../src/shared/kubernetes/cri/channel-kind.js";
import { createCriClient } from "../../src/shared/kubernetes/cri/client.js";

/** Numbers of the last calls of each band. A kubelet lives in the first 750 calls: thirteen for each pod. */
export const BANDS = [50, 250, 750, 2750] as const;

const AT_ONCE = 4;

export interface CallerResult {
  /** Microseconds of processor time for each call, by band. */
  perCall: number[];
  rssMiB: number;
  heapMiB: number;
}

async function measure(endpoint: string, channel: CriChannelKind): Promise<CallerResult> {
  const client = createCriClient({ endpoint, channel, runtimeRequestTimeoutMs: 60_000, clock: systemClock });
  const perCall: number[] = [];
  let made = 0;
  for (const last of BANDS) {
    const first = made;
    const before = process.cpuUsage();
    const work = async (): Promise<void> => {
      while (made < last) {
        made++;
        await client.version({});
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const { user, system } = process.cpuUsage(before);
    perCall.push((user + system) / (last - first));
  }
  client.close();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { perCall, rssMiB: rss / 2 ** 20, heapMiB: heapUsed / 2 ** 20 };
}

// The bench itself has a channel to its parent, too, when another Node started it (tools/build/pinned-node.mjs).
if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , endpoint = "", channel = "own"] = process.argv;
  process.send(await measure(endpoint, channel === "own" ? "own" : "grpc-js"));
  process.disconnect();
}
