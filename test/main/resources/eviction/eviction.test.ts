// Main's side of eviction: orders executed or dropped, pressures kept, and the messages to thread and users.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventInput, EventRecorder } from "../../../../src/main/model/event-recorder.js";
import { Eviction } from "../../../../src/main/resources/eviction/eviction.js";
import { evictionMetrics } from "../../../../src/main/resources/eviction/metrics.js";
import { NodePressures } from "../../../../src/main/resources/eviction/pressures.js";
import { reportOom } from "../../../../src/main/resources/eviction/report-oom.js";
import { wallTime } from "../../../../src/shared/base/clock/moments.js";
import { evictionRecordCodec } from "../../../../src/shared/contracts/eviction-codec.js";
import type { EvictionUpcalls } from "../../../../src/shared/contracts/eviction.js";
import type { Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerStatus } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { OomWatcher } from "../../../../src/workers/eviction/oom/watcher.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { emptyObservation } from "../../../support/sync-kit.js";
import { ModelKernelLog } from "../../../workers/eviction/oom/model-kernel-log.js";

const MESSAGE = "The node was low on resource: memory. ";

function apiPod(name: string, spec: Partial<PodSpec> = {}): Pod {
  const made = pod(spec, name, name);
  return { ...made, metadata: { ...made.metadata, annotations: {} } };
}

function build() {
  const kept = keptLog();
  const registry = new ThreadRegistry("main");
  const world = {
    failed: [] as unknown[],
    calls: [] as string[],
    events: [] as (EventInput & { about: string })[],
    fail: undefined as Error | undefined,
  };
  const pressures = new NodePressures({ now: () => wallTime(0) });
  const eviction = new Eviction({
    rootDir: "/r",
    thread: {
      setPod: ({ uid, generation }) => world.calls.push(`set ${uid} ${generation}`),
      podTerminated: (uid) => world.calls.push(`ended ${uid}`),
    },
    pressures,
    upcalls: {} as EvictionUpcalls,
    fail: (uid, failure, grace) => {
      world.failed.push([uid, failure, grace]);
      return world.fail === undefined ? Promise.resolve() : Promise.reject(world.fail);
    },
    observed: (uid) => ({
      ...emptyObservation(uid, 1),
      ...(uid === "over" && { name: "gone", namespace: "ns" }),
      containers: [observedContainer(ContainerStatus.fromPartial({ id: "c1", metadata: { name: "app" } }))],
    }),
    events: {
      pod: ({ metadata }, event) => world.events.push({ ...event, about: metadata.name }),
      node: (event) => world.events.push({ ...event, about: "node" }),
    },
    metrics: evictionMetrics(registry),
    log: kept.log,
  });
  const order = (uid: string, generation: number, fields: object = {}): void =>
    eviction.onRecord({
      ...{ kind: "evict", uid: podUid(uid), generation, signal: "memory.available", graceSeconds: 1, message: MESSAGE },
      ...{ annotations: { starved_resource: "memory" }, sampleAgeMs: 250 },
      ...fields,
    });
  const metrics = async (): Promise<string[]> => {
    const { families } = await registry.exportSnapshot();
    return families.flatMap(({ name, samples }) =>
      samples
        .filter(({ value, metricName = name }) => value !== 0 && !metricName.endsWith("_bucket"))
        .map(({ labels, value, metricName = name }) =>
          [metricName, labels["eviction_signal"], value].filter((part) => part !== undefined).join(" "),
        ),
    );
  };
  return { eviction, world, pressures, kept, order, metrics };
}

test("an order: the pod fails as ordered, with its event, and is counted", async () => {
  const { eviction, world, order, metrics } = build();
  eviction.runs(apiPod("greedy"));
  eviction.runs(apiPod("calm"));
  order("greedy", 1);
  assert.deepEqual(world.failed, [
    ["greedy", { reason: "Evicted", message: MESSAGE, disruption: MESSAGE }, { graceSeconds: 1 }],
  ]);
  assert.deepEqual(world.events, [
    {
      ...{ about: "greedy", type: "Warning", reason: "Evicted", message: MESSAGE },
      annotations: { starved_resource: "memory" },
    },
  ]);
  assert.deepEqual(eviction.ordersUnderWay(), ["greedy"]);
  assert.deepEqual(await metrics(), [
    "kubelet_evictions memory.available 1",
    "kubelet_eviction_stats_age_seconds_sum memory.available 0.25",
    "kubelet_eviction_stats_age_seconds_count memory.available 1",
  ]);
  eviction.podTerminated(podUid("greedy"));
  assert.deepEqual(eviction.ordersUnderWay(), []);
  assert.deepEqual(world.calls, ["set greedy 1", "set calm 2", "ended greedy"]);
  assert.deepEqual(
    eviction.pods().map(({ uid }) => uid),
    ["calm"],
  );
});

test("the same order again only shortens the end", async () => {
  const { eviction, world, order, metrics } = build();
  eviction.runs(apiPod("greedy"));
  order("greedy", 1, { graceSeconds: 20 });
  order("greedy", 1, { graceSeconds: 1 });
  assert.deepEqual(
    world.failed.map((one) => (one as unknown[])[2]),
    [{ graceSeconds: 20 }, { graceSeconds: 1 }],
  );
  assert.equal(world.events.length, 1);
  assert.equal((await metrics())[0], "kubelet_evictions memory.available 1");
});

test("a pod over a limit of its own is no disruption, and no sample's age is noted", async () => {
  const { eviction, world, order, metrics } = build();
  eviction.runs(apiPod("full"));
  order("full", 1, { signal: "emptydirfs.limit" });
  assert.deepEqual(world.failed, [["full", { reason: "Evicted", message: MESSAGE }, { graceSeconds: 1 }]]);
  assert.deepEqual(await metrics(), ["kubelet_evictions emptydirfs.limit 1"]);
});

test("outdated orders are dropped, counted, and the thread hears how things are", async () => {
  const { eviction, world, order, metrics } = build();
  eviction.runs(apiPod("grown"));
  eviction.runs(apiPod("grown", { priority: 5 }));
  eviction.runs(apiPod("gone"));
  eviction.podTerminated(podUid("gone"));
  world.calls.splice(0);
  order("grown", 1);
  order("gone", 3);
  order("stranger", 1);
  assert.deepEqual(world.failed, []);
  assert.deepEqual(world.calls, ["set grown 2", "ended gone", "ended stranger"]);
  assert.deepEqual(await metrics(), ["nodelet_eviction_orders_outdated_total 3"]);
});

test("a critical pod is not evicted by any order", () => {
  const { eviction, world, order, kept } = build();
  eviction.runs(pod({}, "static", "static"));
  eviction.runs(apiPod("system", { priority: 2_000_000_001 }));
  order("static", 1);
  order("system", 2);
  assert.deepEqual(world.failed, []);
  assert.equal(kept.errors().filter((text) => text.includes("is critical; cannot evict it")).length, 2);
});

test("a kubelet that stops before the pod has ended is no error", async () => {
  const { eviction, world, order, kept } = build();
  world.fail = new Error("the worker was stopped");
  eviction.runs(apiPod("greedy"));
  order("greedy", 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([...kept.errors(), ...kept.warnings().slice(1)], []);
});

test("pressures stay until the next report; subscribers are notified of changes only", () => {
  const { eviction, pressures } = build();
  const seen: string[] = [];
  const end = pressures.follow((now) => seen.push(now.join("+")));
  const say = (...now: ("MemoryPressure" | "DiskPressure")[]): void =>
    eviction.onRecord({ kind: "pressures", pressures: now });
  say();
  say("MemoryPressure");
  say("MemoryPressure");
  say("DiskPressure", "MemoryPressure");
  say("MemoryPressure", "DiskPressure");
  say();
  end();
  say("DiskPressure");
  assert.deepEqual(seen, ["", "MemoryPressure", "DiskPressure+MemoryPressure", ""]);
  assert.deepEqual(pressures.current, ["DiskPressure"]);
});

test("a threshold met is the node's event", () => {
  const { eviction, world } = build();
  eviction.onRecord({ kind: "threshold-met", resource: "inodes" });
  assert.deepEqual(world.events, [
    { about: "node", type: "Warning", reason: "EvictionThresholdMet", message: "Attempting to reclaim inodes" },
  ]);
});

test("out of memory: the machine's is the node's event, a container's names pod and container in the log", () => {
  const { eviction, world, kept } = build();
  eviction.runs(apiPod("web"));
  eviction.onRecord({ kind: "oom", pid: 7, process: "eater", cgroup: "/", at: wallTime(5) });
  assert.deepEqual(world.events, [
    {
      ...{ about: "node", type: "Warning", reason: "SystemOOM" },
      message: "System OOM encountered, victim process: eater, pid: 7",
    },
  ]);
  const cgroup = "/kubepods/podweb/c1";
  const limit = `cgroup ${cgroup} is at its memory limit`;
  const sh = { pid: 8, process: "sh", cgroup };
  const unknown = { pid: 0, process: "", cgroup: "" };
  for (const [fields, said] of [
    [
      { ...sh, podUid: podUid("web"), containerId: containerIdOf("c1") },
      `process sh (pid 8) of pod web_default(web), container app: ${limit}`,
    ],
    [
      { ...sh, podUid: podUid("web"), containerId: containerIdOf("sandbox") },
      `process sh (pid 8) of pod web_default(web): ${limit}`,
    ],
    [{ ...sh, podUid: podUid("other") }, `process sh (pid 8) of pod other: ${limit}`],
    [sh, `process sh (pid 8): ${limit}`],
    [{ ...sh, cgroup: "" }, "process sh (pid 8): it, or a cgroup above its own, was at its memory limit"],
    [
      { ...unknown, podUid: podUid("over"), containerId: containerIdOf("c1") },
      "a process of pod gone_ns(over), container app: it, or a cgroup above its own, was at its memory limit",
    ],
  ] as const) {
    eviction.onRecord({ kind: "oom", at: wallTime(6), ...fields });
    assert.equal(kept.warnings().at(-1), `the kernel killed ${said}`);
  }
  assert.equal(world.events.length, 1);
});

const RECORDED = [
  "4,1042,81530211,-;stress invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0\n",
  "6,1077,81530290,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/x\\x5cx2dy.service,task=stress,pid=833,uid=0\n",
  "3,1078,81530301,-;Out of memory: Killed process 833 (stress) total-vm:1052492kB, anon-rss:1012340kB, file-rss:256kB, shmem-rss:0kB, UID:0 pgtables:2052kB oom_score_adj:0\n",
];

test("a kill for the machine's memory, from the kernel's log to the node's event", () => {
  const kernelLog = new ModelKernelLog();
  const kept = keptLog();
  const events: unknown[] = [];
  const watcher = new OomWatcher({
    open: () => kernelLog,
    counters: { sample: () => [] },
    known: () => false,
    publish: (record): void => {
      const decoded = evictionRecordCodec.decode(evictionRecordCodec.encode(record));
      assert.equal(decoded.kind, "oom");
      const node: EventRecorder["node"] = (event) => void events.push(event);
      reportOom({ pod: () => undefined, observed: () => undefined, events: { node }, log: kept.log }, decoded);
    },
    clock: new SteppedClock(),
    log: kept.log,
  });
  watcher.reportKills();
  for (const record of RECORDED) kernelLog.put(record);
  watcher.reportKills();
  const message = "System OOM encountered, victim process: stress, pid: 833";
  assert.deepEqual(events, [{ type: "Warning", reason: "SystemOOM", message }]);
  assert.deepEqual(kept.warnings(), ["the kernel killed process stress (pid 833): the machine is out of memory"]);
});
