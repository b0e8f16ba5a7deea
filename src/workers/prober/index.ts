// Thread entry: wires the schedule to the handlers, its queue and its metrics.
import type { ProberControl, ProberInit } from "../../shared/contracts/prober.js";
import { probeRecordCodec } from "../../shared/contracts/prober-codec.js";
import { probeMetrics, scheduleMetrics } from "./metrics.js";
import { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/metrics/thread-usage.js";
import { watchQueue } from "../../shared/metrics/threads.js";
import { QueueWriter } from "../../shared/queue/queue-writer.js";
import { RingProducer } from "../../shared/queue/ring.js";
import { runWorker } from "../../shared/thread/worker.js";
import { ExecProbes } from "./exec.js";
import { Prober } from "./logic.js";
import { actionRunner } from "./run-action.js";

runWorker<ProberControl, ProberInit, object>("prober", ({ init, outbox, log, clock, board }) => {
  const registry = new ThreadRegistry("prober");
  watchThreadUsage(registry);
  const perContainer = new ThreadRegistry("prober");
  const queue = new QueueWriter(
    new RingProducer(outbox),
    probeRecordCodec,
    // Main is behind: of each probe only the newest run matters, and that the verdict changed.
    {
      kind: "coalesce",
      key: ({ containerId, kind }) => `${containerId}/${kind}`,
      merge: (older, newer) => ({ ...older, ...newer }),
    },
    { name: "probe records", clock },
  );
  watchQueue(registry, "prober→main", () => ({ ...queue.stats(), depth: queue.stats().pending }));
  board.followQueue(() => queue.stats().pending);
  const exec = new ExecProbes({ ...init, clock, registry });
  const prober = new Prober({
    clock,
    log,
    userAgent: init.userAgent,
    runAction: actionRunner(exec),
    records: queue,
    probes: probeMetrics(perContainer),
    schedule: scheduleMetrics(registry),
    random: () => Math.random(),
  });
  return Promise.resolve({
    control: {
      setPods(pods) {
        prober.setPods(pods);
      },
      applyPods(delta) {
        prober.apply(delta);
      },
      metrics: () => registry.exportSnapshot(),
      probeMetrics: () => perContainer.exportSnapshot(),
    },
    async drain() {
      await prober.stop();
      queue.close();
      await exec.close();
    },
  });
});
