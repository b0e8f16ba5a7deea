// The prober and peers threads with 600 probes per second while every processor is busy. Shows the delay of their
// start, and failures although the server is healthy.
// @headline Speed | 600 probes per second on busy cores are punctual. | p99 ≤ 50 ms, none fails

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpus, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { AGENT_NICENESS } from "../../src/main/process/unix/process-limits.js";
import { PeersThread } from "../../src/main/threads/peers-thread.js";
import { ProbeThreads } from "../../src/main/threads/probe-threads.js";
import { ProberThread } from "../../src/main/threads/prober-thread.js";
import { spawnWorkerThread } from "../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../src/main/threads/thread-context.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { ProbedPod, ProbeRecord, ProbeSpec } from "../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../src/shared/kubernetes/identifiers.js";
import type { MetricSample, MetricSnapshot } from "../../src/shared/telemetry/metrics/snapshot.js";
import { ThreadRegistry } from "../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../src/shared/telemetry/metrics/threads.js";
import type { Section } from "../lib/section.js";

interface ProbesRow {
  load: string;
  runs: number;
  perSecond: number;
  /** Upper bounds, out of the thread's own histogram. */
  lateMs: { p50: number; p99: number };
  skipped: number;
  falseFailures: number;
  /** Processor time of this process for one probe run, ms. */
  cpuMsPerRun: number;
}

const PODS = 100;
const PROBES_PER_POD = 6;

export const probesSection: Section<ProbesRow[]> = {
  name: "probes",
  run: () => benchProbes(),
  report: (rows) => [
    {
      title: "600 probes per second, HTTP and TCP, for a minute (how late they begin, upper bounds, ms)",
      head: ["load", "runs", "per second", "p50", "p99", "skipped", "false failures", "CPU ms per run"],
      rows: rows.map((row) => [
        row.load,
        row.runs,
        row.perSecond,
        row.lateMs.p50,
        row.lateMs.p99,
        row.skipped,
        row.falseFailures,
        row.cpuMsPerRun,
      ]),
    },
  ],
};

async function benchProbes(seconds = 60): Promise<ProbesRow[]> {
  // As the kubelet has it; threads inherit it.
  setPriority(AGENT_NICENESS);
  return [await measure("none", 0, seconds), await measure("every processor taken", cpus().length, seconds)];
}

async function measure(load: string, burners: number, seconds: number): Promise<ProbesRow> {
  const target = fork(fileURLToPath(new URL("../lib/probe-target.js", import.meta.url)));
  const [port] = (await once(target, "message")) as [number];
  const failures: ProbeRecord[] = [];
  const log = pino({ level: "error" });
  const context = new ThreadContext({
    clock: systemClock,
    log,
    metrics: threadMetrics(new ThreadRegistry("main")),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  const pods = Array.from({ length: PODS }, (_, index) => probedPod(index, port));
  const onProbeRecord = (record: ProbeRecord): void => {
    if (record.outcome !== "success") failures.push(record);
  };
  const common = {
    ...{ context, clock: systemClock, log },
    owner: Promise.resolve({ onProbeRecord, probedPods: () => pods }),
  };
  const init = {
    endpoint: "unix:///nowhere",
    runtimeRequestTimeoutMs: 1000,
    criChannel: "own",
    userAgent: "kube-probe/1.36",
  } as const;
  const prober = new ProberThread({ ...common, init });
  const peers = new PeersThread({ ...common, init });
  const both = new ProbeThreads({ prober, peers });
  const metrics = async (): Promise<MetricSnapshot[]> =>
    (await Promise.all([prober.metrics(), peers.metrics()])).flat();
  const busy: ChildProcess[] = [];
  try {
    for (const pod of pods) both.setPod(pod);
    await Promise.all([prober.thread.start(), peers.thread.start()]);
    const burner = fileURLToPath(new URL("../lib/burner.js", import.meta.url));
    for (let count = 0; count < burners; count++) busy.push(fork(burner));
    // Everything is loaded and every probe has run before anything counts.
    await systemClock.sleep(3000);
    const before = await metrics();
    const failedBefore = failures.length;
    const startedAt = systemClock.monotonic();
    const cpuBefore = process.cpuUsage();
    await systemClock.sleep(seconds * 1000);
    const after = await metrics();
    const cpu = process.cpuUsage(cpuBefore);
    const elapsed = (systemClock.monotonic() - startedAt) / 1000;
    const lateness = grown(before, after, "nodelet_probe_lateness_seconds_bucket");
    const runs = Math.max(0, ...lateness.map(({ value }) => value));
    return {
      load,
      runs,
      perSecond: Math.round(runs / elapsed),
      lateMs: { p50: quantile(lateness, runs, 0.5), p99: quantile(lateness, runs, 0.99) },
      skipped: grown(before, after, "nodelet_probe_skipped_total").reduce((sum, { value }) => sum + value, 0),
      falseFailures: failures.length - failedBefore,
      cpuMsPerRun: Math.round((cpu.user + cpu.system) / 10 / runs) / 100,
    };
  } finally {
    for (const child of busy) child.kill("SIGKILL");
    await Promise.all([prober.stop(), peers.stop()]);
    target.disconnect();
  }
}

/** Once a second each: three by HTTP, three by TCP. */
function probedPod(index: number, port: number): ProbedPod {
  const probes = Array.from({ length: PROBES_PER_POD }, (_, number): ProbeSpec => ({
    containerId: containerIdOf(`c${index}-${number}`),
    kind: "readiness",
    container: `c${number}`,
    generation: 1,
    action:
      number % 2 === 0
        ? { type: "http", scheme: "http", host: "127.0.0.1", port, path: "/", headers: [] }
        : { type: "tcp", host: "127.0.0.1", port },
    startedAt: 0,
    initialDelayMs: 0,
    periodMs: 1000,
    timeoutMs: 1000,
    successThreshold: 1,
    failureThreshold: 3,
    // Known: the schedule is spread over the whole period, as that of a node is.
    verdict: "Success",
  }));
  return { uid: podUid(`u${index}`), namespace: "bench", name: `p${index}`, probes };
}

/** Increase of the samples of one name between two collections, all threads together. */
function grown(before: readonly MetricSnapshot[], after: readonly MetricSnapshot[], name: string): MetricSample[] {
  const old = samplesOf(before, name);
  return [...samplesOf(after, name)].map(([labels, sample]) => ({
    ...sample,
    value: sample.value - (old.get(labels)?.value ?? 0),
  }));
}

/** By their labels, added up. */
function samplesOf(snapshots: readonly MetricSnapshot[], name: string): Map<string, MetricSample> {
  const found = new Map<string, MetricSample>();
  for (const family of snapshots.flatMap(({ families }) => families)) {
    for (const sample of family.samples.filter(({ metricName = family.name }) => metricName === name)) {
      const key = JSON.stringify(sample.labels);
      found.set(key, { ...sample, value: sample.value + (found.get(key)?.value ?? 0) });
    }
  }
  return found;
}

/** Upper bound of the bucket that holds the quantile, ms. */
function quantile(buckets: readonly MetricSample[], total: number, q: number): number {
  const bounds = buckets
    .map(({ labels, value }) => ({ bound: labels["le"] === "+Inf" ? Infinity : Number(labels["le"]), value }))
    .sort((a, b) => a.bound - b.bound);
  return (bounds.find(({ value }) => value >= total * q)?.bound ?? NaN) * 1000;
}
