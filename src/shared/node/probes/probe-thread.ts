// The wiring that the prober and peers threads have in common: schedule, queue to main, metrics.

import { QueueWriter } from "../../base/queue/queue-writer.js";
import { RingProducer } from "../../base/queue/ring.js";
import { probeRecordCodec } from "../../contracts/prober-codec.js";
import type { ProberControl } from "../../contracts/prober.js";
import { ThreadRegistry } from "../../telemetry/metrics/thread-registry.js";
import { watchQueue } from "../../telemetry/metrics/threads.js";
import type { RunningWorker, WorkerContext } from "../../thread/worker-life.js";
import { probeMetrics, scheduleMetrics } from "./metrics.js";
import { Prober } from "./prober.js";
import type { RunAction } from "./run.js";

interface ProbeThreadOptions {
  /** Name of the thread. */
  name: string;
  context: Pick<WorkerContext<{ userAgent: string }, object>, "init" | "outbox" | "log" | "clock" | "board">;
  registry: ThreadRegistry;
  runAction: RunAction;
}

export function runProbes({ name, context, registry, runAction }: ProbeThreadOptions): RunningWorker<ProberControl> {
  const { init, outbox, log, clock, board } = context;
  const perContainer = new ThreadRegistry(name);
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
  watchQueue(registry, `${name}→main`, () => queue.stats());
  board.followQueue(() => queue.stats().pending);
  const prober = new Prober({
    clock,
    log,
    userAgent: init.userAgent,
    runAction,
    records: queue,
    probes: probeMetrics(perContainer),
    schedule: scheduleMetrics(registry),
    random: () => Math.random(),
  });
  return {
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
    },
  };
}
