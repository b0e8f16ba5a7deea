// Starts the rounds with the kernel's files, their queue and main.

import { QueueWriter } from "../../shared/base/queue/queue-writer.js";
import { RingProducer } from "../../shared/base/queue/ring.js";
import { evictionRecordCodec } from "../../shared/contracts/eviction-codec.js";
import type { EvictionControl, EvictionInit, EvictionUpcalls } from "../../shared/contracts/eviction.js";
import { watchMemcgUsage } from "../../shared/io/os/memcg-usage.js";
import { clientReports } from "../../shared/kubernetes/cri/client-reports.js";
import { readCgroupMounts } from "../../shared/node/cgroup/mounts.js";
import { CgroupReaderV1 } from "../../shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../shared/node/stats/cgroup/v2.js";
import { listKernelDirectories, readKernelText } from "../../shared/node/stats/kernel-file.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import { watchQueue } from "../../shared/telemetry/metrics/threads.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { buildEvictionService } from "./eviction-service.js";
import { openKernelLog } from "./oom/kernel-log.js";

/** Orders come one at a time, pressures when they change. A full queue means that main does not read at all. */
const PENDING_LIMIT = 1000;

export const startEviction: StartWorker<EvictionControl, EvictionInit, EvictionUpcalls> = async (context) => {
  const { init, outbox, log, clock, board, upcallsWithin } = context;
  const registry = new ThreadRegistry("eviction");
  watchThreadUsage(registry);
  const reports = clientReports(registry, log);
  const queue = new QueueWriter(
    new RingProducer(outbox),
    evictionRecordCodec,
    { kind: "backpressure", limit: PENDING_LIMIT },
    { name: "eviction→main", clock },
  );
  watchQueue(registry, "eviction→main", () => queue.stats());
  board.followQueue(() => queue.stats().pending);
  const mounts = await readCgroupMounts();
  const eviction = buildEvictionService({
    init,
    reader:
      mounts.version === 2
        ? new CgroupReaderV2(mounts.mountPoint, readKernelText, listKernelDirectories)
        : new CgroupReaderV1(mounts, readKernelText, listKernelDirectories),
    read: readKernelText,
    publish: (record) => queue.push(record),
    main: upcallsWithin,
    connect: async () => {
      const { connectRuntime } = await import("./runtime-client.js");
      const { containerRuntimeEndpoint: endpoint, criChannel: channel, runtimeRequestTimeoutMs, listStreaming } = init;
      return connectRuntime({ endpoint, channel, runtimeRequestTimeoutMs, listStreaming, reports, clock });
    },
    watchUsage: watchMemcgUsage,
    openLog: openKernelLog,
    board,
    clock,
    log,
  });
  return {
    control: {
      setPods(pods, orders, pressures) {
        eviction.setPods(pods, orders, pressures);
      },
      applyPods(delta) {
        eviction.applyPods(delta);
      },
      metrics: () => registry.exportSnapshot(),
    },
    async drain() {
      await eviction.close();
      queue.close();
    },
  };
};
