// The pages' text, and the summary's shape against the contract's table.

import assert, { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { escapeLabel } from "../../../../src/shared/base/text/escape.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { DetailFigures, MemoryFigures } from "../../../../src/shared/node/stats/cgroup-figures.js";
import { NO_PRESSURES } from "../../../../src/shared/node/stats/cgroup/pressure.js";
import type { MachineFacts } from "../../../../src/shared/node/stats/machine.js";
import { parseNetDev } from "../../../../src/shared/node/stats/net-dev.js";
import { numberText } from "../../../../src/workers/server/metrics/number-text.js";
import { parseDiskstats } from "../../../../src/workers/server/stats/disk-counters.js";
import { CADVISOR_FAMILIES } from "../../../../src/workers/server/stats/exposition/cadvisor-families.js";
import { CadvisorPage } from "../../../../src/workers/server/stats/exposition/cadvisor.js";
import { resourcePage } from "../../../../src/workers/server/stats/exposition/resource.js";
import type { Page } from "../../../../src/workers/server/stats/exposition/text.js";
import type { NodeReadings, Reading } from "../../../../src/workers/server/stats/readings.js";
import { buildSummary, type CoreInputs, type WholeInputs } from "../../../../src/workers/server/stats/summary/build.js";
import { facts } from "../../../support/facts.js";

const AT = Date.parse("2026-11-21T19:04:39.123Z");
const MEMORY: MemoryFigures = {
  usage: 401408,
  workingSet: 393216,
  rss: 114688,
  cache: 20480,
  mapped: 0,
  activeFile: 12288,
  inactiveFile: 8192,
  pageFaults: 8735,
  majorPageFaults: 0,
  limit: 79998976,
  swapLimit: 1000,
  swap: 10,
};

function reading(path: string, fields: Partial<Reading> = {}): Reading {
  return { path, at: AT, cpu: { usage: 113486564, rate: 1712751 }, memory: MEMORY, ...fields };
}

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "n", uid: podUid("u") },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: { phase: "Running", startTime: "2026-11-21T19:03:45Z" },
};
const CONTAINER = {
  name: "c",
  id: "abc",
  image: 'i"1',
  path: "/k/u/abc",
  startedAt: Date.parse("2026-11-21T19:03:46Z"),
};
const READINGS: NodeReadings = {
  root: reading("/"),
  system: [{ cgroup: { name: "pods", path: "/k" }, reading: reading("/k") }],
  pods: [
    {
      place: { pod: POD, path: "/k/u", containers: [CONTAINER], sandbox: { id: "s", path: "/k/u/s" } },
      reading: reading("/k/u"),
      containers: [{ place: CONTAINER, reading: reading("/k/u/abc") }],
    },
  ],
};

const lines = (page: Page): string[] => Buffer.concat(page.chunks()).toString().split("\n");

test("numbers as Go's client writes them", () => {
  const table: [number, string][] = [
    [0, "0"],
    [0.113486564, "0.113486564"],
    [100000, "100000"],
    [999999.5, "999999.5"],
    [1e6, "1e+06"],
    [79998976, "7.9998976e+07"],
    [25276502016, "2.5276502016e+10"],
    [0.00001, "1e-05"],
    [-1, "-1"],
    [Infinity, "+Inf"],
    [-Infinity, "-Inf"],
    [NaN, "NaN"],
  ];
  for (const [value, text] of table) equal(numberText(value), text);
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (value) => Number(numberText(value).replace("Inf", "Infinity")) === value),
  );
});

test("label values cannot break out of their quotes", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const escaped = escapeLabel(text);
      ok(!escaped.includes("\n"));
      equal(
        escaped.replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char)),
        text,
      );
    }),
  );
});

describe("/metrics/resource", () => {
  test("node, pod and container, with the time of their reading", () => {
    const rows = lines(resourcePage(READINGS)).filter((line) => !line.startsWith("#"));
    deepEqual(rows, [
      'container_cpu_usage_seconds_total{container="c",namespace="n",pod="web"} 0.113486564 1795287879123',
      'container_memory_working_set_bytes{container="c",namespace="n",pod="web"} 393216 1795287879123',
      'container_start_time_seconds{container="c",namespace="n",pod="web"} 1.795287826e+09',
      'container_swap_limit_bytes{container="c",namespace="n",pod="web"} 1000 1795287879123',
      'container_swap_usage_bytes{container="c",namespace="n",pod="web"} 10 1795287879123',
      "node_cpu_usage_seconds_total 0.113486564 1795287879123",
      "node_memory_working_set_bytes 393216 1795287879123",
      "node_swap_usage_bytes 10 1795287879123",
      'pod_cpu_usage_seconds_total{namespace="n",pod="web"} 0.113486564 1795287879123',
      'pod_memory_working_set_bytes{namespace="n",pod="web"} 393216 1795287879123',
      'pod_swap_usage_bytes{namespace="n",pod="web"} 10 1795287879123',
      "resource_scrape_error 0",
      "",
    ]);
  });

  test("a node whose figures cannot be read reports an error", () => {
    deepEqual(
      lines(resourcePage(undefined)).filter((line) => !line.startsWith("#")),
      ["resource_scrape_error 1", ""],
    );
  });
});

const MACHINE: MachineFacts = {
  bootId: "b",
  machineId: "m",
  systemUuid: "s",
  cores: 2,
  physicalCores: 1,
  sockets: 1,
  memory: 1024,
  memoryModules: [{ type: "Unbuffered-DDR4", count: 2, capacity: 2048 }],
  swap: 0,
  kernelVersion: "6",
  osVersion: "os",
  bootedAt: AT,
};

const DETAILS: DetailFigures = {
  user: 2e7,
  system: 8e7,
  kernelMemory: 1,
  maxMemory: 2,
  memoryFailures: 3,
  oomEvents: 4,
  shares: 2,
  period: 100000,
  quota: 10000,
  periods: 5,
  throttledPeriods: 6,
  throttled: 7e9,
  burstPeriods: 8,
  burst: 9e9,
  threads: 2,
  block: [
    {
      device: "8:0",
      bytes: { Read: 1, Write: 2, Total: 3 },
      served: { Read: 3, Write: 4 },
      sectors: { Read: 5, Write: 6 },
      merged: { Read: 7, Write: 8 },
      serviceTime: { Read: 1e9, Write: 2e9, Total: 3e9 },
      queued: { Total: 9 },
      cost: { usage: 1e6, wait: 2e6, indebt: 3e6, indelay: 4e6 },
    },
  ],
};

const [DISK = assert.fail("no disk")] = parseDiskstats(
  "   8       0 vda 10 11 12 13000 14 15 16 17000 18 19000 20000 0 0 0 0 0 0\n",
);

function fullPage(): CadvisorPage {
  const page = new CadvisorPage([DISK]);
  page.machine(MACHINE, 0);
  page.errors(0, 0);
  page.cgroup({
    labels: { container: "c", image: 'i"1', name: "abc", namespace: "n", pod: "web" },
    reading: reading("/k/u/abc"),
    startedAt: AT,
    seenAt: AT + 1000,
    details: DETAILS,
    memoryLimit: 79998976,
    pressure: NO_PRESSURES,
    processes: { count: 1, files: 6, sockets: 2, openFilesLimit: Infinity },
    network: parseNetDev("  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"),
    fs: [{ device: "/dev/vdb", disk: { ...DISK, number: "8:16" }, used: 1, limit: 2, inodes: 3, inodesFree: 4 }],
  });
  return page;
}

describe("/metrics/cadvisor", () => {
  test("rows carry upstream's labels in the order of their names", () => {
    const rows = lines(fullPage().page);
    const own = 'id="/k/u/abc",image="i\\"1",';
    for (const row of [
      `container_cpu_usage_seconds_total{container="c",cpu="total",${own}name="abc",namespace="n",pod="web"} 0.113486564 ${AT}`,
      `container_last_seen{container="c",${own}name="abc",namespace="n",pod="web"} 1.79528788e+09 ${AT + 1000}`,
      `container_memory_failures_total{container="c",failure_type="pgfault",${own}name="abc",namespace="n",pod="web",scope="container"} 8735 ${AT}`,
      `container_network_transmit_packets_dropped_total{container="c",${own}interface="eth0",name="abc",namespace="n",pod="web"} 8 ${AT}`,
      `container_spec_cpu_shares{container="c",${own}name="abc",namespace="n",pod="web"} 2`,
      `container_ulimits_soft{container="c",${own}name="abc",namespace="n",pod="web",ulimit="max_open_files"} -1 ${AT}`,
      `container_blkio_device_usage_total{container="c",device="/dev/vda",${own}major="8",minor="0",name="abc",namespace="n",operation="Read",pod="web"} 1 ${AT}`,
      'machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} 2',
      'machine_dimm_capacity_bytes{boot_id="b",machine_id="m",system_uuid="s",type="Unbuffered-DDR4"} 2048',
      'machine_dimm_count{boot_id="b",machine_id="m",system_uuid="s",type="Unbuffered-DDR4"} 2',
    ]) {
      ok(
        rows.includes(row),
        `${row}\nis not among\n${rows.filter((line) => line.startsWith(row.split("{")[0] ?? "")).join("\n")}`,
      );
    }
  });

  test("every family has its row, its type and its words", () => {
    const rows = lines(fullPage().page);
    for (const [name, [type, help]] of Object.entries(CADVISOR_FAMILIES)) {
      ok(rows.includes(`# HELP ${name} ${help}`), name);
      ok(rows.includes(`# TYPE ${name} ${type}`), name);
      ok(
        rows.some((row) => new RegExp(`^${name}[{ ]`).test(row)),
        name,
      );
    }
  });

  test("without a quota there are no rows of throttling", () => {
    const page = new CadvisorPage();
    const { quota, ...free } = DETAILS;
    equal(quota, 10000);
    page.cgroup({
      labels: { container: "", image: "", name: "", namespace: "", pod: "" },
      reading: reading("/"),
      startedAt: AT,
      seenAt: AT,
      details: free,
      memoryLimit: 0,
    });
    const text = lines(page.page).join("\n");
    ok(!text.includes("cfs"), text);
    ok(!text.includes("container_spec_cpu_quota"), text);
    ok(!text.includes("container_processes"), text);
  });
});

/** By family: its type and the names of its labels. */
function shapeOf(page: Page): Map<string, { type: string; labels: string[] }> {
  const shape = new Map<string, { type: string; labels: string[] }>();
  for (const line of lines(page)) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type !== null) shape.set(type[1] ?? "", { type: type[2] ?? "", labels: [] });
    const row = /^([a-z0-9_]+)\{(.*)\} /.exec(line);
    const family = shape.get(row?.[1] ?? "");
    const names = [...(row?.[2] ?? "").matchAll(/(?:^|,)(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name = ""]) => name);
    if (family !== undefined) family.labels = names.sort();
  }
  return shape;
}

describe("the contract's table of metrics", () => {
  // Hidden upstream since 1.29.
  const NOT_SHOWN = ["scrape_error"];
  const pages = { "/metrics/resource": () => resourcePage(READINGS), "/metrics/cadvisor": () => fullPage().page };
  for (const [endpoint, make] of Object.entries(pages)) {
    test(`${endpoint} has its families, types and labels, and no others`, () => {
      const shape = shapeOf(make());
      const rows = facts("metrics").filter((row) => row["endpoint"] === endpoint);
      ok(rows.length > 10);
      const expected = rows
        .filter(({ name }) => !NOT_SHOWN.includes(name ?? ""))
        .map(({ name = "", type = "", labels = "" }) => [
          name,
          { type, labels: labels === "" ? [] : labels.split(",").sort() },
        ]);
      deepEqual(Object.fromEntries(shape), Object.fromEntries(expected));
    });
  }
});

const FS = { at: AT, availableBytes: 5, capacityBytes: 10, usedBytes: 4, inodesFree: 6, inodes: 9, inodesUsed: 3 };
const CORE: CoreInputs = {
  nodeName: "node",
  bootedAt: AT,
  machineMemory: 1e9,
  swapFree: 7,
  readings: READINGS,
  pressure: () => NO_PRESSURES,
  madeAt: () => undefined,
};
const WHOLE: WholeInputs = {
  network: () => ({
    at: AT,
    interfaces: parseNetDev("lo: 1\n eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\nveth1: 1\n"),
  }),
  fs: FS,
  imageFs: FS,
  containerFs: FS,
  limit: { at: AT, max: 100, current: 7 },
  rootfs: () => FS,
  disk: () => ({
    at: AT,
    logs: new Map([["c", { bytes: 4, inodes: 3 }]]),
    volumes: [{ ...FS, name: "v", pvcRef: { name: "claim", namespace: "n" }, abnormal: true }],
    local: { bytes: 100, inodes: 2 },
  }),
  processes: () => 2,
};

const members = (object: object | undefined): string[] => Object.keys(object ?? {});

describe("/stats/summary", () => {
  // Accelerators and user-defined metrics come from cAdvisor's plugins: never there.
  const CPU = ["time", "usageNanoCores", "usageCoreNanoSeconds", "psi"];
  const MEM = [
    "time",
    "availableBytes",
    "usageBytes",
    "workingSetBytes",
    "rssBytes",
    "pageFaults",
    "majorPageFaults",
    "psi",
  ];
  const FS_FIELDS = ["time", "availableBytes", "capacityBytes", "usedBytes", "inodesFree", "inodes", "inodesUsed"];

  test("every member of the contract is there", () => {
    const { node, pods } = buildSummary(CORE, WHOLE);
    const [pod] = pods;
    const [container] = pod?.containers ?? [];
    deepEqual(members(node), [
      "nodeName",
      "systemContainers",
      "startTime",
      "cpu",
      "memory",
      "io",
      "network",
      "fs",
      "runtime",
      "rlimit",
      "swap",
    ]);
    deepEqual(members(pod), [
      "podRef",
      "startTime",
      "containers",
      "cpu",
      "memory",
      "io",
      "network",
      "volume",
      "ephemeral-storage",
      "process_stats",
      "swap",
    ]);
    deepEqual(members(container), ["name", "startTime", "cpu", "memory", "io", "rootfs", "logs", "swap"]);
    deepEqual(members(node.runtime), ["imageFs", "containerFs"]);
    deepEqual(members(node.rlimit), ["time", "maxpid", "curproc"]);
    deepEqual(members(node.network), ["time", "name", "rxBytes", "rxErrors", "txBytes", "txErrors", "interfaces"]);
    for (const fs of [node.fs, container?.rootfs, container?.logs, pod?.["ephemeral-storage"]]) {
      deepEqual(members(fs), FS_FIELDS);
    }
    deepEqual(members(pod?.volume?.[0]), [...FS_FIELDS, "name", "pvcRef", "volumeHealthStats"]);
    for (const one of [node, pod, container, node.systemContainers?.[0]]) {
      deepEqual(members(one?.cpu), CPU);
      deepEqual(members(one?.memory), MEM);
      deepEqual(members(one?.io), ["time", "psi"]);
      deepEqual(members(one?.cpu?.psi?.full), ["total", "avg10", "avg60", "avg300"]);
      deepEqual(members(one?.swap), ["time", "swapAvailableBytes", "swapUsageBytes"]);
    }
  });

  test("a pod without a running container is on no page, unless the runtime reports it", () => {
    const [web] = READINGS.pods;
    if (web === undefined) throw new Error("no pod");
    const pods = [{ ...web, containers: [] }, { ...web, containers: [], fromRuntime: {} }, web];
    const readings = { ...READINGS, pods };
    equal(buildSummary({ ...CORE, readings }, WHOLE).pods.length, 2);
    equal(lines(resourcePage(readings)).filter((line) => line.startsWith("pod_cpu_usage_seconds_total{")).length, 2);
  });

  test("the summary has the values of cgroups and runtime", () => {
    const { node, pods } = buildSummary(CORE, WHOLE);
    equal(node.memory?.availableBytes, 1e9 - 393216);
    equal(node.cpu?.time, "2026-11-21T19:04:39Z");
    deepEqual(
      node.network?.interfaces.map(({ name }) => name),
      ["eth0"],
    );
    const [pod] = pods;
    deepEqual(pod?.podRef, { name: "web", namespace: "n", uid: "u" });
    deepEqual(pod.process_stats, { process_count: 2 });
    // The container's written bytes, its logs, and the local volumes.
    equal(pod["ephemeral-storage"]?.usedBytes, 4 + 4 + 100);
    equal(pod["ephemeral-storage"].inodesUsed, 3 + 3 + 2);
    equal(pod.memory?.availableBytes, 79998976 - 393216);
    deepEqual(pod.volume?.[0]?.volumeHealthStats, { abnormal: true });
  });

  test("CPU and memory alone", () => {
    const { node, pods } = buildSummary(CORE);
    deepEqual(members(node), ["nodeName", "systemContainers", "startTime", "cpu", "memory", "swap"]);
    deepEqual(members(pods[0]), ["podRef", "startTime", "containers", "cpu", "memory", "swap"]);
    deepEqual(members(pods[0]?.containers[0]), ["name", "startTime", "cpu", "memory", "swap"]);
  });

  test("unknown values are absent", () => {
    const { limit, swapLimit, ...unlimited } = MEMORY;
    ok(limit !== undefined && swapLimit !== undefined);
    const bare = reading("/", { memory: unlimited, cpu: { usage: 1 } });
    const core = {
      ...CORE,
      readings: { ...READINGS, system: [{ cgroup: { name: "misc" as const, path: "/" }, reading: bare }] },
    };
    const { node, pods } = buildSummary(core, {
      ...WHOLE,
      network: () => undefined,
      fs: undefined,
      imageFs: undefined,
      containerFs: undefined,
      rootfs: () => undefined,
      disk: () => undefined,
    });
    const text = JSON.stringify([node.systemContainers, node, pods]);
    equal(node.systemContainers?.[0]?.memory?.availableBytes, undefined);
    deepEqual(members(node.systemContainers?.[0]?.cpu), ["time", "usageCoreNanoSeconds", "psi"]);
    for (const name of ["network", "fs", "runtime", "rootfs", "logs", "volume", "ephemeral-storage"]) {
      ok(!text.includes(`"${name}"`), name);
    }
    match(text, /"rlimit"/);
  });
});
