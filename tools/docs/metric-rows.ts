// Lists the metrics of the kubelet. The functions that make them are called with a registry that records name, type,
// labels and help. A new function belongs in this list; test/tools/docs/reference.test.ts names the source files whose
// metrics are missing.

import { watchPodCertificates } from "../../src/main/cluster/pod-certificates/metrics.js";
import { credentialProviderMetrics } from "../../src/main/containers/images/credential-providers/metrics.js";
import { imageMetrics } from "../../src/main/containers/images/metrics.js";
import { pullRecordMetrics } from "../../src/main/containers/images/pull-records/metrics.js";
import { containerLogMetrics } from "../../src/main/containers/logs/metrics.js";
import { watchLoopDelay } from "../../src/main/kubelet/loop-delay.js";
import { watchNode } from "../../src/main/kubelet/node-metrics.js";
import { countingMetrics, recordLosingSupport } from "../../src/main/kubelet/runtime-metrics.js";
import { certificateMetrics } from "../../src/main/node/certificates/metrics.js";
import { recordBuild, recordNode } from "../../src/main/node/metrics.js";
import { pluginMetrics } from "../../src/main/node/plugins/plugin-manager.js";
import { podResourcesMetrics } from "../../src/main/node/pod-resources/metrics.js";
import { podWatchMetrics } from "../../src/main/node/pods-api/server.js";
import { shutdownMetrics } from "../../src/main/node/shutdown/start-shutdown.js";
import { admissionMetrics } from "../../src/main/pods/admission/metrics.js";
import { logLinkMetrics } from "../../src/main/pods/collection/log-links.js";
import { eventMetrics } from "../../src/main/pods/events/metrics.js";
import { eventSinkMetrics } from "../../src/main/pods/events/sink/metrics.js";
import { manifestMetrics } from "../../src/main/pods/sources/metrics.js";
import { podStatusMetrics } from "../../src/main/pods/status/manager/metrics.js";
import { podMetrics } from "../../src/main/pods/sync/metrics.js";
import { configMetrics } from "../../src/main/process/dynamic-config/metrics.js";
import { watchGates } from "../../src/main/process/gate-metrics.js";
import { resizeMetrics } from "../../src/main/resources/allocation/metrics.js";
import { podLevelMetrics } from "../../src/main/resources/assignment/pod-level.js";
import { cgroupMetrics, reservedMemoryMetrics } from "../../src/main/resources/cgroups/metrics.js";
import { cpuManagerMetrics } from "../../src/main/resources/cpu-manager/metrics.js";
import { deviceMetrics } from "../../src/main/resources/devices/metrics.js";
import { draMetrics } from "../../src/main/resources/dra/metrics.js";
import { evictionMetrics } from "../../src/main/resources/eviction/metrics.js";
import { memoryManagerMetrics } from "../../src/main/resources/memory-manager/metrics.js";
import { topologyMetrics } from "../../src/main/resources/topology/metrics.js";
import { csiMetrics } from "../../src/main/volumes/csi/metrics.js";
import { volumeMetrics } from "../../src/main/volumes/metrics.js";
import { volumeStatsMetrics } from "../../src/main/volumes/persistent/metrics.js";
import { seLinuxMountMetrics } from "../../src/main/volumes/se-linux-metrics.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { wallTime } from "../../src/shared/base/clock/moments.js";
import { probeMetrics, scheduleMetrics } from "../../src/shared/node/probes/metrics.js";
import { criChannelMetrics } from "../../src/shared/telemetry/metrics/cri-channel.js";
import type { Counter, Gauge, Histogram } from "../../src/shared/telemetry/metrics/prom.js";
import { restClientMetrics } from "../../src/shared/telemetry/metrics/rest-client.js";
import { runtimeOperationsMetrics } from "../../src/shared/telemetry/metrics/runtime-operations.js";
import { ThreadRegistry, type Summary } from "../../src/shared/telemetry/metrics/thread-registry.js";
import { watchThreadUsage } from "../../src/shared/telemetry/metrics/thread-usage.js";
import { threadMetrics, watchQueue } from "../../src/shared/telemetry/metrics/threads.js";
import { dockershimMetrics } from "../../src/workers/dockershim/metrics.js";
import { imageGcMetrics } from "../../src/workers/image-gc/metrics.js";
import { nodeStatusMetrics } from "../../src/workers/node-status/metrics.js";
import { plegMetrics } from "../../src/workers/pleg/metrics.js";
import { serverAuthMetrics } from "../../src/workers/server/auth/metrics.js";
import { sliMetrics } from "../../src/workers/server/health/slis.js";
import { boardMetrics } from "../../src/workers/server/metrics/board-metrics.js";
import { httpMetrics } from "../../src/workers/server/metrics/http-metrics.js";
import { processMetrics, processStartTime } from "../../src/workers/server/metrics/process-metrics.js";
import { registeredFamily } from "../../src/workers/server/metrics/registered-metrics.js";
import { lateScrapes } from "../../src/workers/server/metrics/scrape.js";
import { registerZeroMetrics, statsProvider } from "../../src/workers/server/metrics/zero-metrics.js";
import { streamMetrics } from "../../src/workers/server/streams/metrics.js";

export interface MetricRow {
  name: string;
  type: "counter" | "gauge" | "histogram" | "summary";
  help: string;
  labels: readonly string[];
}

/** Notes each metric that is made, and where. */
export class NotingRegistry extends ThreadRegistry {
  readonly rows = new Map<string, MetricRow>();
  /** "file:line:column" below dist of each call that made a metric. */
  readonly callers = new Set<string>();

  override counter<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
    this.note({ name, type: "counter", help, labels });
    return super.counter(name, help, labels);
  }

  override gauge<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Gauge<L> {
    this.note({ name, type: "gauge", help, labels });
    return super.gauge(name, help, labels);
  }

  override histogram<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    buckets?: readonly number[],
  ): Histogram<L> {
    this.note({ name, type: "histogram", help, labels });
    return super.histogram(name, help, labels, buckets);
  }

  override summary<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => readonly Summary<L>[],
  ): void {
    this.note({ name, type: "summary", help, labels: [...labels, "quantile"] });
    super.summary(name, help, labels, read);
  }

  private note(row: MetricRow): void {
    if (!this.rows.has(row.name)) this.rows.set(row.name, row);
    // Line 0 is the error, 1 this method, 2 the method of the registry, 3 its caller.
    const place = /\/dist\/(src\/[^)]*)/.exec(new Error("caller").stack?.split("\n")[3] ?? "")?.[1];
    if (place !== undefined) this.callers.add(place);
  }
}

/** The pages that the registries of the threads make. */
export type MetricPage = "/metrics" | "/metrics/probes" | "/metrics/slis";

export async function metricRegistries(): Promise<Record<MetricPage, NotingRegistry>> {
  const metrics = new NotingRegistry("docs");
  mainThread(metrics);
  workerThreads(metrics);
  // The gates are made by the first scrape.
  watchGates(metrics, () => false);
  configMetrics(metrics);
  await metrics.exportSnapshot();
  const { name, help } = registeredFamily([]);
  metrics.rows.set(name, { name, type: "counter", help, labels: ["stability_level", "deprecated_version"] });
  const probes = new NotingRegistry("docs");
  probeMetrics(probes);
  processStartTime(probes);
  const slis = new NotingRegistry("docs");
  sliMetrics(slis);
  processStartTime(slis);
  return { "/metrics": metrics, "/metrics/probes": probes, "/metrics/slis": slis };
}

function mainThread(registry: NotingRegistry): void {
  manifestMetrics(registry);
  const pods = podMetrics(registry);
  const nothing = { all: () => new Map<string, never>().values(), staleRecords: 0 };
  watchNode(registry, pods, { cache: nothing, pods: nothing, records: { usage: { bytes: 0, unsaved: 0 } } });
  countingMetrics(pods, registry);
  watchLoopDelay(registry)();
  recordLosingSupport(registry);
  recordBuild(registry, { gitVersion: "v1.36.0", platform: "linux/amd64" });
  recordNode(registry, { nodeName: "node", cgroupVersion: 2 });
  watchPodCertificates(registry, () => []);
  const certificates = certificateMetrics(registry, systemClock);
  certificates.watchClient(() => undefined);
  certificates.watchServing(() => undefined);
  draMetrics(registry, () => []);
  volumeStatsMetrics(registry, () => []);
  reservedMemoryMetrics(registry)(0n, 0n);
  for (const make of [
    ...[admissionMetrics, eventMetrics, eventSinkMetrics, evictionMetrics, credentialProviderMetrics, imageMetrics],
    ...[
      pullRecordMetrics,
      containerLogMetrics,
      logLinkMetrics,
      pluginMetrics,
      podResourcesMetrics,
      podWatchMetrics,
      shutdownMetrics,
    ],
    ...[resizeMetrics, cgroupMetrics, cpuManagerMetrics, deviceMetrics, memoryManagerMetrics, topologyMetrics],
    ...[
      podStatusMetrics,
      csiMetrics,
      volumeMetrics,
      seLinuxMountMetrics,
      runtimeOperationsMetrics,
      criChannelMetrics,
      watchThreadUsage,
    ],
  ]) {
    make(registry);
  }
  for (const resource of ["cpu", "memory"] as const) {
    podLevelMetrics(registry, resource, { podLevelResourceManagers: true });
  }
  restClientMetrics(registry, systemClock);
  watchQueue(registry, "queue", () => ({ pushed: 0, coalesced: 0, dropped: 0, pending: 0 }));
  const threads = threadMetrics(registry);
  threads.watchDroppedLines(() => new Map());
  threads.watchPodsBehind(() => []);
}

function workerThreads(registry: NotingRegistry): void {
  const at = wallTime(0);
  const times = { machineStartedAt: at, agentStartedAt: at, firstRegistrationAt: at, registeredAt: at, readyAt: at };
  nodeStatusMetrics(registry).startedUp(times);
  serverAuthMetrics(registry, systemClock);
  boardMetrics(registry, () => []);
  httpMetrics(registry, systemClock, "readwrite");
  statsProvider(registry, "cri");
  for (const make of [
    ...[dockershimMetrics, imageGcMetrics, plegMetrics, scheduleMetrics, processMetrics, lateScrapes],
    ...[registerZeroMetrics, streamMetrics],
  ]) {
    make(registry);
  }
}
