// Figures of pods as the runtime tells them (gate PodAndContainerStatsFromCRI), and what happens when it does not.

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { criError } from "../../../../src/shared/kubernetes/cri/errors.js";
import {
  MetricType,
  type ContainerStats,
  type PodSandboxStats,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { NO_PRESSURES } from "../../../../src/shared/node/stats/cgroup/pressure.js";
import { CpuRates } from "../../../../src/workers/server/stats/cpu-rates.js";
import { criPodReadings } from "../../../../src/workers/server/stats/cri/pod-readings.js";
import { CriPodStats } from "../../../../src/workers/server/stats/cri/pod-stats.js";
import { criMetrics } from "../../../../src/workers/server/stats/exposition/cri-metrics.js";
import { Page } from "../../../../src/workers/server/stats/exposition/text.js";
import { buildSummary } from "../../../../src/workers/server/stats/summary/build.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const AT = Date.parse("2026-11-21T19:04:39Z");
const stamp = BigInt(AT) * 1_000_000n;
const value = (number: number): { value: bigint } => ({ value: BigInt(number) });

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: podUid("u") },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: {
    phase: "Running",
    startTime: "2026-11-21T19:03:45Z",
    containerStatuses: [
      {
        name: "c",
        image: "i",
        imageID: "",
        ready: true,
        restartCount: 0,
        containerID: "containerd://one",
        state: { running: { startedAt: "2026-11-21T19:03:46Z" } },
        lastState: {},
      },
    ],
  },
};

function containerStats(id: string, usage: number, fields: Partial<ContainerStats> = {}): ContainerStats {
  return {
    attributes: { id, metadata: { name: "c", attempt: 0 }, labels: {}, annotations: {} },
    cpu: { timestamp: stamp, usageCoreNanoSeconds: value(usage), usageNanoCores: undefined, psi: undefined },
    memory: {
      timestamp: stamp,
      workingSetBytes: value(60),
      availableBytes: value(40),
      usageBytes: value(70),
      rssBytes: value(50),
      pageFaults: value(3),
      majorPageFaults: value(1),
      psi: undefined,
    },
    writableLayer: undefined,
    swap: { timestamp: stamp, swapAvailableBytes: value(8), swapUsageBytes: value(2) },
    io: undefined,
    ...fields,
  };
}

function podStats(uid: string, containers: ContainerStats[], usage = 9e9): PodSandboxStats {
  return {
    attributes: {
      id: `s-${uid}`,
      metadata: { name: "p", uid, namespace: "n", attempt: 0 },
      labels: {},
      annotations: {},
    },
    linux: {
      cpu: {
        timestamp: stamp,
        usageCoreNanoSeconds: value(usage),
        usageNanoCores: value(123),
        psi: {
          Full: undefined,
          Some: { Total: 5n, Avg10: 1.5, Avg60: 1, Avg300: 0.5 },
        },
      },
      memory: undefined,
      network: {
        timestamp: stamp,
        defaultInterface: {
          name: "eth0",
          rxBytes: value(1),
          rxErrors: value(2),
          txBytes: value(3),
          txErrors: undefined,
        },
        interfaces: [],
      },
      process: { timestamp: stamp, processCount: value(7) },
      containers,
      io: undefined,
    },
    windows: undefined,
  };
}

describe("figures of the runtime", () => {
  const core = {
    nodeName: "node",
    bootedAt: AT,
    machineMemory: 1,
    swapFree: 0,
    pressure: (path: string) => {
      equal(path, "/", "no cgroup of a pod is read");
      return NO_PRESSURES;
    },
    madeAt: () => undefined,
  };
  const summaryOf = (stats: readonly PodSandboxStats[], rates = new CpuRates()) =>
    criPodReadings(stats, [POD], rates, AT).map((pod) => {
      const readings = { root: { path: "/", at: AT, pressure: {} }, system: [], pods: [pod] };
      const whole = {
        network: () => undefined,
        fs: undefined,
        imageFs: undefined,
        containerFs: undefined,
        limit: { at: AT, max: 1, current: 1 },
        rootfs: () => undefined,
        disk: () => undefined,
        processes: () => 99,
      };
      return buildSummary({ ...core, readings }, whole).pods[0];
    })[0];

  test("becomes the summary's, absent parts of a pod stay absent", () => {
    const pod = summaryOf([podStats("u", [containerStats("one", 5e9)]), podStats("other", [])]);
    const time = "2026-11-21T19:04:39Z";
    const none = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
    deepEqual(pod, {
      podRef: { name: "p", namespace: "n", uid: "u" },
      startTime: "2026-11-21T19:03:45Z",
      containers: [
        {
          name: "c",
          startTime: "2026-11-21T19:03:46Z",
          cpu: { time, usageCoreNanoSeconds: 5e9 },
          memory: {
            time,
            availableBytes: 40,
            usageBytes: 70,
            workingSetBytes: 60,
            rssBytes: 50,
            pageFaults: 3,
            majorPageFaults: 1,
          },
          io: { time },
          swap: { time, swapAvailableBytes: 8, swapUsageBytes: 2 },
        },
      ],
      cpu: {
        time,
        usageNanoCores: 123,
        usageCoreNanoSeconds: 9e9,
        psi: { full: none, some: { total: 5, avg10: 1.5, avg60: 1, avg300: 0.5 } },
      },
      io: { time },
      network: { time, name: "eth0", rxBytes: 1, rxErrors: 2, txBytes: 3, interfaces: [] },
      process_stats: { process_count: 7 },
    });
  });

  test("a container without figures has none of anything; one that does not run is not shown", () => {
    const bare = { cpu: undefined, memory: undefined, swap: undefined };
    const pod = summaryOf([podStats("u", [containerStats("ended", 1), containerStats("one", 1, bare)])]);
    equal(pod?.containers.length, 1);
    equal(pod.containers[0]?.cpu?.usageCoreNanoSeconds, 0);
    equal(pod.containers[0].memory?.workingSetBytes, 0);
    equal(summaryOf([podStats("other", [])]), undefined);
  });

  test("of two sandboxes the one in use; rates are counted where the runtime has none, never below 0", () => {
    const rates = new CpuRates();
    const at = (seconds: number, usage: number): number | undefined => {
      const cpu = {
        timestamp: stamp + BigInt(seconds) * 1_000_000_000n,
        usageCoreNanoSeconds: value(usage),
        usageNanoCores: undefined,
        psi: undefined,
      };
      return summaryOf([podStats("u", []), podStats("u", [containerStats("one", 0, { cpu })])], rates)?.containers[0]
        ?.cpu?.usageNanoCores;
    };
    equal(at(0, 1e9), undefined);
    equal(at(2, 2e9), 5e8);
    // Its clock was set back by an hour.
    equal(at(-3600, 3e9), undefined);
    equal(at(-3598, 4e9), 5e8);
  });
});

describe("asking the runtime", () => {
  const setUp = (answers: (() => Promise<{ stats: PodSandboxStats[] }>)[]) => {
    const clock = new SteppedClock();
    const warnings: string[] = [];
    let calls = 0;
    const stats = new CriPodStats({
      runtime: () =>
        Promise.resolve({
          listPodSandboxStats: () => (answers[calls++] ?? (() => Promise.reject(new Error("no more"))))(),
        }),
      clock,
      log: { debug: () => undefined, warn: (text: unknown) => void warnings.push(String(text)) } as never,
    });
    return { clock, stats, warnings, calls: () => calls };
  };
  const fail = (code: "UNIMPLEMENTED" | "DEADLINE_EXCEEDED") => () =>
    Promise.reject(criError({ code, verb: "ListPodSandboxStats", details: "", endpoint: "unix:///x" }));
  const tell = () => Promise.resolve({ stats: [podStats("u", [containerStats("one", 1)])] });

  test("a response serves two seconds; a runtime that does not respond is not called for ten", async () => {
    const { clock, stats, calls } = setUp([tell, fail("DEADLINE_EXCEEDED"), tell]);
    equal((await stats.now())?.length, 1);
    equal((await stats.containers())?.[0]?.attributes?.id, "one");
    equal(calls(), 1);
    clock.step(2000);
    equal(await stats.now(), undefined);
    clock.step(9999);
    equal(await stats.now(), undefined);
    equal(calls(), 2);
    clock.step(1);
    equal((await stats.now())?.length, 1);
  });

  test("one that does not know the call is called every five minutes, and logged once", async () => {
    const { clock, stats, calls, warnings } = setUp([fail("UNIMPLEMENTED"), fail("UNIMPLEMENTED"), tell]);
    for (const wait of [0, 299_999, 1, 300_000]) {
      clock.step(wait);
      const answer = await stats.now();
      equal(answer === undefined, calls() < 3);
    }
    equal(calls(), 3);
    equal(warnings.length, 1);
    match(warnings[0] ?? "", /PodAndContainerStatsFromCRI/);
  });
});

test("the runtime's own metrics, with the labels of their descriptors", async () => {
  const metric = (name: string, labelValues: string[], timestamp = 0n, metricType = MetricType.COUNTER) => ({
    name,
    labelValues,
    timestamp,
    metricType,
    value: value(3),
  });
  const runtime = {
    listMetricDescriptors: () =>
      Promise.resolve({ descriptors: [{ name: "container_x_total", help: "X.", labelKeys: ["pod", "id"] }] }),
    listPodSandboxMetrics: () =>
      Promise.resolve({
        podMetrics: [
          {
            podSandboxId: "s",
            metrics: [metric("container_x_total", ["p", 'a"b'], stamp), metric("unheard_of", [])],
            containerMetrics: [
              {
                containerId: "c",
                metrics: [metric("container_x_total", ["p", "c"]), metric("container_x_total", ["p"])],
              },
            ],
          },
        ],
      }),
  };
  const page = new Page();
  (await criMetrics(runtime))(page);
  deepEqual(Buffer.concat(page.chunks()).toString().split("\n"), [
    "# HELP container_x_total X.",
    "# TYPE container_x_total counter",
    `container_x_total{id="a\\"b",pod="p"} 3 ${AT}`,
    'container_x_total{id="c",pod="p"} 3',
    "",
  ]);
  await rejects(criMetrics({ ...runtime, listPodSandboxMetrics: () => Promise.reject(new Error("no")) }), /no/);
});
