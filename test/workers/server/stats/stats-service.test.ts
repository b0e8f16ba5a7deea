// The pages with their two sources behind them: the runtime, and the cgroups when it does not say.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { statfs } from "node:fs/promises";
import { test } from "node:test";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { criError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { CgroupReaderV2 } from "../../../../src/shared/node/stats/cgroup/v2.js";
import { readMachineFacts } from "../../../../src/shared/node/stats/machine.js";
import { KeptFiles } from "../../../../src/workers/server/stats/kept-files.js";
import { SettledFiles } from "../../../../src/workers/server/stats/settled-files.js";
import { StatsService, type StatsServiceDeps } from "../../../../src/workers/server/stats/stats-service.js";
import type { Summary } from "../../../../src/workers/server/stats/summary/types.js";
import { KernelTree } from "../../../shared/node/stats/tree.js";
import { keptLog } from "../../../support/sources-kit.js";
import { STATS_INIT } from "../../../support/stats-init.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const ID = "b".repeat(64);
const PATH = `/kubepods/besteffort/podu`;
const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "n", uid: podUid("u") },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: {
    phase: "Running",
    qosClass: "BestEffort",
    startTime: "2026-11-21T19:03:45Z",
    containerStatuses: [
      {
        name: "c",
        image: "i",
        imageID: "",
        ready: true,
        restartCount: 0,
        containerID: `containerd://${ID}`,
        state: { running: { startedAt: "2026-11-21T19:03:46Z" } },
        lastState: {},
      },
    ],
  },
};

const value = (number: number): { value: bigint } => ({ value: BigInt(number) });
const memory = (workingSet: number) => ({ timestamp: 1n, workingSetBytes: value(workingSet) });
const POD_STATS = {
  attributes: { id: "s", metadata: { name: "p", uid: "u", namespace: "n", attempt: 0 } },
  linux: { memory: memory(777), containers: [{ attributes: { id: ID }, memory: memory(555) }] },
};

interface PodStatsReply {
  stats: boolean;
  metrics: boolean;
}

function service(reply: PodStatsReply, gate = true) {
  const clock = new SteppedClock();
  const files: Record<string, string> = {
    "/cg/cgroup.procs": "",
    "/cg/memory.stat": "",
    "/cg/cpu.stat": "usage_usec 1\n",
  };
  for (const path of ["/kubepods", "/kubepods/besteffort", PATH, `${PATH}/${ID}`]) {
    files[`/cg${path}/cgroup.procs`] = "";
    files[`/cg${path}/cpu.stat`] = "usage_usec 5\n";
    files[`/cg${path}/memory.stat`] = "anon 1\n";
    files[`/cg${path}/memory.current`] = "333\n";
  }
  files["/proc/meminfo"] = "MemTotal: 10 kB\nMemFree: 5 kB\n";
  const tree = new KernelTree(files);
  const asked: string[] = [];
  const refuse = (verb: string) =>
    Promise.reject(criError({ code: "UNIMPLEMENTED", verb, details: "", endpoint: "unix:///x" }));
  const runtime = {
    listPodSandboxStats: () => {
      asked.push("listPodSandboxStats");
      return reply.stats ? Promise.resolve({ stats: [POD_STATS] }) : refuse("ListPodSandboxStats");
    },
    listContainerStats: () => {
      asked.push("listContainerStats");
      return Promise.resolve({ stats: [] });
    },
    listMetricDescriptors: () =>
      Promise.resolve({ descriptors: [{ name: "container_memory_rss", help: "R.", labelKeys: ["id"] }] }),
    listPodSandboxMetrics: () => {
      const metrics = [
        { name: "container_memory_rss", timestamp: 0n, metricType: 1, labelValues: ["x"], value: value(9) },
      ];
      const podMetrics = [{ podSandboxId: "s", metrics, containerMetrics: [] }];
      return reply.metrics ? Promise.resolve({ podMetrics }) : refuse("ListPodSandboxMetrics");
    },
    status: () => Promise.resolve({ info: {} }),
  };
  const parts: StatsServiceDeps = {
    init: { ...STATS_INIT, cgroupRoot: "/", podAndContainerStatsFromCRI: gate },
    nodeName: "node",
    pods: () => [POD],
    runtime: () => Promise.resolve(runtime as never),
    images: () => Promise.reject(new Error("none")),
    collectMetrics: () => Promise.resolve([]),
    podDisks: () => Promise.resolve([]),
    disk: (path) => statfs(path),
    clock,
    log: keptLog().log,
  };
  const reader = new CgroupReaderV2("/cg", tree.read, tree.list);
  const kept = new KeptFiles(clock);
  const settled = new SettledFiles(tree.read, clock);
  return {
    clock,
    asked,
    service: new StatsService(parts, { reader, kept, settled }, readMachineFacts(tree.read, tree.list)),
  };
}

const textOf = (bytes: readonly Buffer[]): string => Buffer.concat(bytes).toString();
const summaryOf = async (of: StatsService): Promise<Summary> =>
  JSON.parse((await of.summary(true)).toString()) as Summary;
const RESOURCE = /^container_memory_working_set_bytes\{container="c",namespace="n",pod="p"\} (\d+) /m;

for (const [what, reply, gate, workingSets, rss] of [
  ["the gate is off", { stats: true, metrics: true }, false, [333, 333], 'container="c"'],
  ["the runtime tells all", { stats: true, metrics: true }, true, [777, 555], 'id="x"'],
  ["the runtime has no metrics", { stats: true, metrics: false }, true, [777, 555], 'container="c"'],
  ["the runtime tells nothing", { stats: false, metrics: false }, true, [333, 333], 'container="c"'],
] as const) {
  test(`${what}: figures of pods are ${workingSets[0] === 777 ? "the runtime's" : "the cgroups'"}`, async () => {
    const { service: built, asked, clock } = service(reply, gate);
    const [pod] = (await summaryOf(built)).pods;
    deepEqual([pod?.memory?.workingSetBytes, pod?.containers[0]?.memory?.workingSetBytes], workingSets);
    equal(RESOURCE.exec(textOf(await built.resource()))?.[1], String(workingSets[1]));
    const page = textOf(await built.cadvisor());
    ok(page.includes(`container_memory_rss{${rss}`), page);
    match(page, /^machine_memory_bytes\{/m);
    match(page, /^container_scrape_error 0$/m);
    // One call for all who ask.
    equal(asked.filter((verb) => verb === "listPodSandboxStats").length, gate ? 1 : 0);
    equal(asked.includes("listContainerStats"), workingSets[0] === 333);
    // The node's own figures are always cgroups'.
    equal((await summaryOf(built)).node.systemContainers?.at(-1)?.memory?.workingSetBytes, 333);
    await built.close();
    clock.step(60_000);
    equal(clock.pending, 0, "nothing is left behind");
  });
}
