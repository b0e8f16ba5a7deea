// Starts the pleg logic with its CRI connection, its queues and its part of the board.

import { QueueReader } from "../../shared/base/queue/queue-reader.js";
import { QueueWriter } from "../../shared/base/queue/queue-writer.js";
import { RingConsumer, RingProducer } from "../../shared/base/queue/ring.js";
import { inspectRequestCodec, plegRecordCodec } from "../../shared/contracts/pleg-codec.js";
import type { PlegControl, PlegInit } from "../../shared/contracts/pleg.js";
import { clientReports } from "../../shared/kubernetes/cri/client-reports.js";
import { createCriClient, type CriClient } from "../../shared/kubernetes/cri/client.js";
import { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../shared/telemetry/metrics/thread-usage.js";
import { watchQueue } from "../../shared/telemetry/metrics/threads.js";
import type { StartWorker } from "../../shared/thread/worker-life.js";
import { biggestImages } from "./image-list.js";
import { ListReports, podUidsOf } from "./lists.js";
import { plegMetrics } from "./metrics.js";
import { Pleg } from "./pleg.js";

/** With more waiting records main is stuck for good. The thread fails and starts again with a full relist. */
const MAX_WAITING_RECORDS = 100_000;

export const startPleg: StartWorker<PlegControl, PlegInit, object> = (context) => {
  const { init, log, clock } = context;
  const registry = new ThreadRegistry("pleg");
  watchThreadUsage(registry);
  const reports = clientReports(registry, log);
  const lists = new ListReports(log);
  const common = {
    channel: init.criChannel,
    runtimeRequestTimeoutMs: init.runtimeRequestTimeoutMs,
    listStreaming: init.listStreaming,
    clock,
    ...reports,
  };
  const cri = createCriClient({
    ...common,
    endpoint: init.endpoint,
    podUids: () => podUidsOf(init.podsDir),
    onParts: lists.onParts,
  });
  const ownImages = init.imageEndpoint !== init.endpoint;
  const images = ownImages ? createCriClient({ ...common, endpoint: init.imageEndpoint }) : cri;
  const outbox = new QueueWriter(
    new RingProducer(context.outbox),
    plegRecordCodec,
    { kind: "backpressure", limit: MAX_WAITING_RECORDS },
    { name: "pleg records", clock },
  );
  watchQueue(registry, "pleg→main", () => outbox.stats());
  context.board.followQueue(() => outbox.stats().pending);
  const pleg = new Pleg(init, {
    cri,
    clock,
    log,
    records: outbox,
    metrics: plegMetrics(registry),
    board: context.board,
    leftOut: lists.leftOut,
  });
  const inbox = new QueueReader(
    new RingConsumer(context.inbox),
    inspectRequestCodec,
    (request) => pleg.request(request),
    (error) => {
      // The pod that waits for this inspection is inspected again after the restart of this thread.
      throw error;
    },
    { clock },
  );
  inbox.start();
  pleg.start();
  return Promise.resolve({
    control: plegControl(pleg, images, registry),
    async drain() {
      inbox.stop();
      await pleg.stop();
      outbox.close();
      cri.close();
      if (ownImages) images.close();
    },
  });
};

function plegControl(pleg: Pleg, images: CriClient, registry: ThreadRegistry): PlegControl {
  return {
    setWatches: (pods) => pleg.setWatches(pods),
    watch: (pod) => pleg.watch(pod),
    unwatch: (uid) => pleg.unwatch(uid),
    biggestImages: (max) => biggestImages(images, max),
    metrics: () => registry.exportSnapshot(),
  };
}
