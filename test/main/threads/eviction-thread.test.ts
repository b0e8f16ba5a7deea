// Main's side of the eviction thread, with a real thread that always measures too little memory. Tests its orders, the
// pods sent to it, and the full set after a restart.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evictionPodOf } from "../../../src/main/resources/eviction/eviction-pod.js";
import { EvictionThread } from "../../../src/main/threads/eviction-thread.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import type { EvictionOwner } from "../../../src/main/threads/thread-owner.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { EvictionPod, EvictionRecord } from "../../../src/shared/contracts/eviction.js";
import type { Pressure } from "../../../src/shared/contracts/node-status.js";
import { podUid, type PodUid } from "../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { pod } from "../../support/pods.js";
import { keptLog, temporaryFolder, until } from "../../support/sources-kit.js";

const PATIENCE_MS = 60_000;

function told(name: string, generation: number, critical = false): EvictionPod {
  const made = pod({}, name, name);
  if (!critical) made.metadata.annotations = {};
  return { ...evictionPodOf(made, "/r"), generation };
}

test("orders arrive; a restarted thread receives the pods, the open orders and the pressure conditions again", async (t) => {
  const { log } = keptLog();
  const context = new ThreadContext({
    clock: systemClock,
    log,
    metrics: threadMetrics(new ThreadRegistry("main")),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  const records: EvictionRecord[] = [];
  const world = {
    pods: [told("system", 1, true), told("web", 2)],
    underWay: [] as PodUid[],
    pressed: [] as Pressure[],
  };
  const owner: EvictionOwner = {
    pods: () => world.pods,
    ordersUnderWay: () => world.underWay,
    pressures: () => world.pressed,
    onRecord: (record) => records.push(record),
    upcalls: {
      removeDeadContainers: () => Promise.resolve(),
      removeUnusedImages: () => Promise.resolve({ images: 0, bytes: 0 }),
      podDisks: () => Promise.resolve([]),
      imageFileSystems: () => Promise.resolve({ images: "/" }),
      runningContainers: () => Promise.resolve([]),
    },
  };
  const folder = await temporaryFolder(t);
  let asked = 0;
  const eviction = new EvictionThread({
    context,
    init: {
      thresholds: [{ signal: "memory.available", value: { kind: "percent", percent: 99.99 }, graceMs: 0, hard: true }],
      evictionPressureTransitionPeriodMs: 300_000,
      evictionMaxPodGracePeriod: 0,
      kernelMemcgNotification: false,
      localStorageCapacityIsolation: false,
      enforcePods: false,
      rootDir: folder,
      podLogsDir: folder,
      cgroupRoot: "/",
      cgroupsPerQOS: true,
      containerRuntimeEndpoint: "unix:///nowhere",
      imageServiceEndpoint: "unix:///nowhere",
      runtimeRequestTimeoutMs: 10_000,
      listStreaming: false,
      criChannel: "own",
      samplePeriodMs: 50,
    },
    clock: systemClock,
    log,
    owner: Promise.resolve({
      eviction: () => {
        asked++;
        return Promise.resolve(owner);
      },
    }),
  });
  t.after(() => eviction.stop());
  assert.deepEqual(await eviction.metrics(), [], "no request to a thread that was never started");
  eviction.setPod(told("early", 9));
  assert.equal(asked, 0, "main's side is loaded with the thread");
  eviction.thread.startInBackground();

  const orders = () => records.filter((record) => record.kind === "evict");
  await until("the first order", () => orders().length > 0, PATIENCE_MS);
  const [first] = orders();
  assert.deepEqual(
    [first?.uid, first?.generation, first?.signal, first?.graceSeconds],
    ["web", 2, "memory.available", 1],
  );
  assert.deepEqual(
    records.find(({ kind }) => kind === "pressures"),
    { kind: "pressures", pressures: ["MemoryPressure"] },
  );

  world.pressed = ["MemoryPressure", "PIDPressure"];
  world.underWay = [podUid("web")];
  records.splice(0);
  await eviction.thread.terminate();
  await until("the thread to say how things are", () => records.length > 0, PATIENCE_MS);
  assert.deepEqual(records[0], { kind: "pressures", pressures: ["MemoryPressure", "PIDPressure"] });
  eviction.setPod(told("next", 3));
  assert.deepEqual(orders(), [], "one order at a time, also after a restart");
  eviction.podTerminated(podUid("web"));
  await until("the order after it", () => orders().length > 0, PATIENCE_MS);
  assert.deepEqual([orders()[0]?.uid, orders()[0]?.generation], ["next", 3]);
  assert.equal((await eviction.metrics())[0]?.thread, "eviction");
});
