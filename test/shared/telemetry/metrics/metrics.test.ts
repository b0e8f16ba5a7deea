import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { recordBuild, recordNode } from "../../../../src/main/node/metrics.js";
import { podMetrics } from "../../../../src/main/pods/sync/metrics.js";
import { cpuManagerMetrics } from "../../../../src/main/resources/cpu-manager/metrics.js";
import { goPlatform } from "../../../../src/shared/base/text/go-platform.js";
import { runtimeOperationsMetrics } from "../../../../src/shared/telemetry/metrics/runtime-operations.js";
import type { MetricSnapshot } from "../../../../src/shared/telemetry/metrics/snapshot.js";
import { exponentialBuckets, ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics, watchQueue } from "../../../../src/shared/telemetry/metrics/threads.js";
import { plegMetrics } from "../../../../src/workers/pleg/metrics.js";
import { renderExposition } from "../../../../src/workers/server/metrics/merge-metrics.js";
import { networkBytes, parseStat, processMetrics } from "../../../../src/workers/server/metrics/process-metrics.js";
import { registerZeroMetrics } from "../../../../src/workers/server/metrics/zero-metrics.js";

const expose = async (...registries: ThreadRegistry[]): Promise<string[]> => {
  // As between threads: nothing but data comes out.
  const snapshots = await Promise.all(registries.map(async (r) => structuredClone(await r.exportSnapshot())));
  return renderExposition(snapshots).split("\n");
};

test("a summary has the quantiles that its owner measures, with sum and count", async () => {
  const registry = new ThreadRegistry("main");
  let count = 0;
  const read = () => [
    { labels: { thread: "main" }, quantiles: [[0.5, 0.1] as const, [1, 3] as const], sum: 7, count: ++count },
  ];
  registry.summary("s", "a summary", ["thread"], read);
  registry.summary("s", "made again", ["thread"], read);
  await registry.exportSnapshot();
  deepEqual(await expose(registry), [
    "# HELP s a summary",
    "# TYPE s summary",
    's{quantile="0.5",thread="main"} 0.1',
    's{quantile="1",thread="main"} 3',
    's_sum{thread="main"} 7',
    's_count{thread="main"} 2',
    "",
  ]);
});

describe("merging threads", () => {
  test("same counters, gauges and histograms add up", async () => {
    const registries = ["main", "pleg"].map((thread) => new ThreadRegistry(thread));
    for (const [i, registry] of registries.entries()) {
      registry.counter("c_total", "a counter", ["x"]).inc({ x: "1" }, i + 1);
      registry.gauge("g", "a gauge").set(i + 10);
      registry.histogram("h", "a histogram", [], [1, 5]).observe(i * 4);
    }
    deepEqual(await expose(...registries), [
      "# HELP c_total a counter",
      "# TYPE c_total counter",
      'c_total{x="1"} 3',
      "# HELP g a gauge",
      "# TYPE g gauge",
      "g 21",
      "# HELP h a histogram",
      "# TYPE h histogram",
      'h_bucket{le="1"} 1',
      'h_bucket{le="5"} 2',
      'h_bucket{le="+Inf"} 2',
      "h_sum 4",
      "h_count 2",
      "",
    ]);
  });
  test("different labels stay apart", async () => {
    const a = new ThreadRegistry("main");
    const b = new ThreadRegistry("pleg");
    threadMetrics(a).stale.inc({ thread: "main", kind: "event" });
    threadMetrics(b).stale.inc({ thread: "pleg", kind: "event" }, 2);
    const lines = await expose(a, b);
    ok(lines.includes('nodelet_stale_messages_total{kind="event",thread="main"} 1'));
    ok(lines.includes('nodelet_stale_messages_total{kind="event",thread="pleg"} 2'));
  });
  test("merging leaves the snapshots as they were", async () => {
    const registry = new ThreadRegistry("main");
    registry.counter("c_total", "a counter").inc(2);
    const snapshot = await registry.exportSnapshot();
    renderExposition([snapshot, snapshot]);
    equal(snapshot.families[0]?.samples[0]?.value, 2);
  });
  test("a family of two types keeps the first and logs that", async () => {
    const a = new ThreadRegistry("a");
    const b = new ThreadRegistry("b");
    a.counter("same", "a").inc(1);
    b.gauge("same", "b").set(5);
    const lines = await expose(a, b);
    ok(lines.includes("same 1"));
    ok(lines.includes("nodelet_metrics_conflicts 1"));
  });
  test("text is escaped, numbers are Prometheus'", () => {
    const snapshot: MetricSnapshot = {
      thread: "t",
      families: [
        {
          name: "n",
          help: "one\ntwo \\",
          type: "gauge",
          samples: [
            { value: Infinity, labels: { l: 'a"b\\c\nd' } },
            { value: NaN, labels: {} },
          ],
        },
      ],
    };
    equal(renderExposition([snapshot]), '# HELP n one\\ntwo \\\\\n# TYPE n gauge\nn{l="a\\"b\\\\c\\nd"} +Inf\nn NaN\n');
  });
});

test("a metric made twice is one", async () => {
  const registry = new ThreadRegistry("main");
  runtimeOperationsMetrics(registry).recordCall({ operation: "version", durationMs: 3 });
  runtimeOperationsMetrics(registry).recordCall({ operation: "version", durationMs: 20_000, error: new Error("late") });
  const lines = await expose(registry);
  ok(lines.includes('kubelet_runtime_operations_total{operation_type="version"} 2'));
  ok(lines.includes('kubelet_runtime_operations_errors_total{operation_type="version"} 1'));
  ok(lines.includes('kubelet_runtime_operations_duration_seconds_bucket{operation_type="version",le="0.005"} 1'));
  ok(lines.includes('kubelet_runtime_operations_duration_seconds_sum{operation_type="version"} 20.003'));
});

test("exponential buckets grow by their factor", () => {
  deepEqual(exponentialBuckets(0.005, 2.5, 4), [0.005, 0.0125, 0.03125, 0.078125]);
  deepEqual(exponentialBuckets(0.005, 2.5, 14).slice(9), [
    ...[19.073486328125, 47.6837158203125, 119.20928955078125, 298.0232238769531, 745.0580596923828],
  ]);
});

test("bounds of buckets are texts as Go's client writes them, for queries by le", async () => {
  const registry = new ThreadRegistry("t");
  registry.histogram("size_bytes", "Size", [], [0.5, 512, 1_048_576, 1.5e-5 * 1e12]).observe(1);
  const lines = await expose(registry);
  const bounds = lines.flatMap((line) => /le="([^"]+)"/.exec(line)?.[1] ?? []);
  deepEqual(bounds, ["0.5", "512", "1.048576e+06", "1.5e+07", "+Inf"]);
});

test("the pleg thread exposes relists and inspections", async () => {
  const registry = new ThreadRegistry("pleg");
  const pleg = plegMetrics(registry);
  pleg.relisted({ atMs: 1_700_000_000_900, durationMs: 7 });
  pleg.relisted({ atMs: 1_700_000_001_900, durationMs: 7, intervalMs: 1000 });
  pleg.inspected(2);
  pleg.discarded(0);
  pleg.discarded(3);
  const lines = await expose(registry);
  ok(lines.includes("kubelet_pleg_last_seen_seconds 1700000001"));
  ok(lines.includes("kubelet_pleg_relist_duration_seconds_count 2"));
  ok(lines.includes("kubelet_pleg_relist_interval_seconds_count 1"));
  ok(lines.includes("kubelet_pleg_pod_relist_duration_seconds_count 1"));
  ok(lines.includes("kubelet_pleg_discard_events 3"));
});

test("pods and node carry upstream's names", async () => {
  const registry = new ThreadRegistry("main");
  const pods = podMetrics(registry);
  pods.runningContainers.set({ container_state: "running" }, 4);
  pods.podStartDuration.observe(0.4);
  recordNode(registry, { nodeName: "n1", cgroupVersion: 1 });
  recordBuild(registry, { gitVersion: "v1.36.0", platform: goPlatform("x64") });
  const text = (await expose(registry)).join("\n");
  match(text, /^kubelet_running_containers\{container_state="running"\} 4$/m);
  match(text, /^kubelet_pod_start_duration_seconds_bucket\{le="0\.5"\} 1$/m);
  match(text, /^kubelet_cgroup_version 1$/m);
  match(text, /^kubelet_node_name\{node="n1"\} 1$/m);
  match(text, /^kubernetes_build_info\{.*git_version="v1\.36\.0".*major="1",minor="36",platform="linux\/amd64"\} 1$/m);
});

test("queue totals become counters, depth a gauge", async () => {
  const registry = new ThreadRegistry("main");
  const totals = { pushed: 5, coalesced: 1, dropped: 0, pending: 2 };
  watchQueue(registry, "pleg", () => totals);
  await expose(registry);
  totals.pushed = 8;
  totals.pending = 0;
  const lines = await expose(registry);
  ok(lines.includes('nodelet_queue_pushed_total{queue="pleg"} 8'));
  ok(lines.includes('nodelet_queue_coalesced_total{queue="pleg"} 1'));
  ok(lines.includes('nodelet_queue_dropped_total{queue="pleg"} 0'));
  ok(lines.includes('nodelet_queue_depth{queue="pleg"} 0'));
});

test("constant zero metrics are added to those of another thread", async () => {
  const [server, main] = [new ThreadRegistry("server"), new ThreadRegistry("main")];
  registerZeroMetrics(server);
  cpuManagerMetrics(main).setAllocation(3, 5, new Map());
  cpuManagerMetrics(main).requested();
  main.counter("kubelet_restarted_pods_total", "as in pods.ts", ["static"]).inc({ static: "true" });
  const text = renderExposition([await server.exportSnapshot(), await main.exportSnapshot()]);
  for (const line of [
    "kubelet_cpu_manager_exclusive_cpu_allocation_count 3",
    "kubelet_cpu_manager_shared_pool_size_millicores 5000",
    "kubelet_cpu_manager_pinning_requests_total 1",
    "kubelet_memory_manager_pinning_requests_total 0",
    'kubelet_restarted_pods_total{static=""} 0',
    'kubelet_restarted_pods_total{static="true"} 1',
    "kubelet_graceful_shutdown_start_time_seconds 0",
  ]) {
    ok(text.split("\n").includes(line), line);
  }
  ok(!text.includes("nodelet_metrics_conflicts"));
});

test("registered metrics are counted by stability level, and a metric of several threads counts once", async () => {
  const [server, main] = [new ThreadRegistry("server"), new ThreadRegistry("main")];
  registerZeroMetrics(server);
  main.counter("hidden_metrics_total", "the same");
  main.counter("kubelet_started_pods_total", "no sample, no label", ["x"]);
  main.gauge("nodelet_mine", "ours");
  main.gauge("process_open_fds", "of the process");
  const lines = renderExposition([await server.exportSnapshot(), await main.exportSnapshot()], true).split("\n");
  const count = (level: string): number => {
    const name = `registered_metrics_total{deprecated_version="",stability_level="${level}"} `;
    return Number(lines.find((line) => line.startsWith(name))?.slice(name.length));
  };
  equal(count("BETA"), 3);
  equal(count("INTERNAL"), 1);
  equal(count("ALPHA"), (await server.exportSnapshot()).families.length - 2 + 1);
});

describe("process", () => {
  test("stat with parentheses in the command", () => {
    const fields = Array.from({ length: 50 }, (_, i) => String(i + 3));
    deepEqual(parseStat(`12 (a b) c) ${fields.join(" ")}`), { cpuTicks: 29, startTicks: 22, virtualBytes: 23 });
  });
  test("the bytes of each interface are read from any line of the table", () => {
    const text = "TcpExt: A B\nTcpExt: 1 2\nIpExt: InNoRoutes InOctets OutOctets\nIpExt: 0 352425 115044\n";
    deepEqual(networkBytes(text), { received: 352_425, sent: 115_044 });
    deepEqual(networkBytes(""), { received: 0, sent: 0 });
  });
  test("this process has CPU time, memory and files", async () => {
    const registry = new ThreadRegistry("server");
    processMetrics(registry);
    const lines = await expose(registry);
    const value = (name: string): number => Number(lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1]);
    ok(value("process_cpu_seconds_total") > 0);
    ok(value("process_resident_memory_bytes") > 10 << 20);
    ok(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
    ok(value("process_open_fds") > 3);
    ok(value("process_max_fds") >= value("process_open_fds"));
    ok(value("process_virtual_memory_max_bytes") > value("process_virtual_memory_bytes"));
    ok(value("process_network_receive_bytes_total") >= 0 && value("process_network_transmit_bytes_total") >= 0);
    const age = Date.now() / 1000 - value("process_start_time_seconds");
    ok(Math.abs(age - process.uptime()) < 2, `age ${age}, uptime ${process.uptime()}`);
  });
});
