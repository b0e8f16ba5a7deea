// A shutdown of the machine, and what meets it while a group of pods ends.

import { kernel } from "../kernel/kernel.js";
import { NODE_NAME } from "../world/api.js";
import { PLAIN_NODE, withShutdownPeriods } from "../world/node-shape.js";
import type { World } from "../world/world.js";
import { mirrorOf, objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const TOTAL_SECONDS = 40;
const CRITICAL_SECONDS = 10;
const USUAL_SECONDS = TOTAL_SECONDS - CRITICAL_SECONDS;
const node = withShutdownPeriods(PLAIN_NODE, TOTAL_SECONDS, CRITICAL_SECONDS);
const BEGINS_MS = 120 * SECOND;
const SLACK_MS = 4 * SECOND;

/** It ignores SIGTERM. */
const usual = podOf({ name: "usual", script: { stopsMs: Infinity }, graceSeconds: 60 });
const critical = podOf({ name: "critical", static: {} });

function isReady({ api }: World): boolean {
  const { conditions = [] } = (api.store.get("nodes", "", NODE_NAME)?.status ?? {}) as {
    conditions?: { type: string; status: string }[];
  };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** Moment at which a container of the pod of that name ended first. */
function endOf(world: World, name: string): () => number {
  const runs = runsOf(world, name);
  return () => runs.find(({ did }) => did === "end")?.atMs ?? Infinity;
}

export const killedWhileShuttingDown: Race = {
  name: "killed-while-shutting-down",
  promise: "A kubelet goes on with a shutdown in which the one before was killed, and no pod gets its time twice",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: usual }],
    [20 * SECOND, { do: "create", shape: critical }],
    [BEGINS_MS, { do: "shutdown", downMs: 20 * SECOND, otherMs: 60 * SECOND }],
    [BEGINS_MS + 5 * SECOND, { do: "kill", downMs: 5 * SECOND }],
    [BEGINS_MS + 20 * SECOND, { do: "create", shape: podOf({ name: "late" }) }],
  ],
  watch(world, broken) {
    const usualEnd = endOf(world, "usual");
    const criticalEnd = endOf(world, "critical");
    const late = objectsOf(world, "late");
    const mirror = objectsOf(world, mirrorOf("critical"));
    return () => {
      const [first, second] = [usualEnd() - BEGINS_MS, criticalEnd() - BEGINS_MS];
      if (Math.abs(first - USUAL_SECONDS * SECOND) > SLACK_MS)
        broken(`the pod ended ${first} ms after the shutdown began, with ${USUAL_SECONDS} s of grace`, "usual");
      if (second < first || second > TOTAL_SECONDS * SECOND - SECOND)
        broken(`the critical pod ended ${second} ms after the shutdown began`, "critical");
      if (late.at(-1)?.phase !== "Failed") broken("a pod was admitted during the shutdown", "late");
      if (mirror.at(-1)?.phase !== "Running") broken("the static pod does not run after the boot", "critical");
      if (!isReady(world)) broken("the node is not ready after the boot");
    };
  },
};

export const cancelledWhileEnding: Race = {
  name: "cancelled-while-ending",
  promise: "After a shutdown that is cancelled while a group ends, that group stays ended and the others run on",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: usual }],
    [20 * SECOND, { do: "create", shape: critical }],
    [BEGINS_MS, { do: "shutdown", downMs: 20 * SECOND, otherMs: 0, cancelMs: 10 * SECOND }],
    [BEGINS_MS + 20 * SECOND, { do: "create", shape: podOf({ name: "late" }) }],
  ],
  watch(world, broken) {
    const usualEnd = endOf(world, "usual");
    const criticalRuns = runsOf(world, "critical");
    const seen = objectsOf(world, "usual");
    const late = objectsOf(world, "late");
    const readiness: boolean[] = [];
    for (const atMs of [BEGINS_MS + 5 * SECOND, BEGINS_MS + 15 * SECOND])
      kernel.after(kernel.world, atMs, () => readiness.push(isReady(world)));
    return () => {
      const first = usualEnd() - BEGINS_MS;
      if (first < 10 * SECOND || first > USUAL_SECONDS * SECOND + SLACK_MS)
        broken(`the pod ended ${first} ms after the shutdown began`, "usual");
      if (seen.at(-1)?.phase !== "Failed") broken(`the pod is ${seen.at(-1)?.phase}`, "usual");
      if (criticalRuns.length !== 1) broken("the static pod did not run on", "critical");
      if (late.at(-1)?.phase !== "Running") broken("a pod that came after the cancellation does not run", "late");
      if (readiness.join() !== "false,true") broken(`the node was ready: ${readiness.join()}`);
    };
  },
};

/** Locks of the kubelet at that moment. */
function locksAt({ shutdowns }: World, atMs: number): () => number | undefined {
  let locks: number | undefined;
  kernel.after(kernel.world, atMs, () => {
    locks = shutdowns?.logind.locks.size;
  });
  return () => locks;
}

export const cancelledAfterTheEnd: Race = {
  name: "cancelled-after-the-end",
  promise: "A lock that was given back as all pods had ended is taken again when the shutdown is cancelled",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "usual" }) }],
    [BEGINS_MS, { do: "shutdown", downMs: 20 * SECOND, otherMs: 60 * SECOND, cancelMs: 20 * SECOND }],
    [BEGINS_MS + 30 * SECOND, { do: "create", shape: podOf({ name: "late" }) }],
  ],
  watch(world, broken) {
    const before = locksAt(world, BEGINS_MS + 15 * SECOND);
    const after = locksAt(world, BEGINS_MS + 25 * SECOND);
    const late = objectsOf(world, "late");
    return () => {
      if (before() !== 0) broken(`the race did not come about: ${before()} locks`);
      if (after() !== 1) broken(`the kubelet holds ${after()} locks after the cancellation`);
      if (late.at(-1)?.phase !== "Running") broken("a pod that came after the cancellation does not run", "late");
    };
  },
};

const NAMES = ["one", "two", "three", "four"];

export const endsBeforeTheMachine: Race = {
  name: "ends-before-the-machine",
  promise: "The API server has the ends of all pods before the machine is off, though its answers take a while",
  issue: HERE,
  node,
  events: [
    ...NAMES.map((name) => [20 * SECOND, { do: "create", shape: podOf({ name }) }] as const),
    [BEGINS_MS - SECOND, { do: "api-slow", delayMs: 400, ms: 60 * SECOND }],
    [BEGINS_MS, { do: "shutdown", downMs: 30 * SECOND, otherMs: 0 }],
  ],
  watch(world, broken) {
    const seen = NAMES.map((name) => objectsOf(world, name));
    let phases = "";
    world.shutdowns?.onOff.add(() => {
      phases = seen.map((objects) => objects.at(-1)?.phase).join();
    });
    return () => {
      if (phases !== "Failed,Failed,Failed,Failed") broken(`the pods were ${phases} as the machine went off`);
    };
  },
};

export const lockRefusedAfterLoss: Race = {
  name: "lock-refused-after-loss",
  promise: "A lock that is lost while no lock is given is taken when one is given again",
  issue: HERE,
  node,
  events: [
    [60 * SECOND, { do: "locks-refused", ms: 20 * SECOND }],
    [61 * SECOND, { do: "lock-lost" }],
    [100 * SECOND, { do: "create", shape: usual }],
    [220 * SECOND, { do: "shutdown", downMs: 20 * SECOND, otherMs: 0 }],
  ],
  watch(world, broken) {
    const locks = locksAt(world, 70 * SECOND);
    const end = endOf(world, "usual");
    return () => {
      if (locks() !== 0) broken(`the race did not come about: ${locks()} locks`);
      const first = end() - 220 * SECOND;
      if (Math.abs(first - USUAL_SECONDS * SECOND) > SLACK_MS)
        broken(`the pod ended ${first} ms after the shutdown began, with ${USUAL_SECONDS} s of grace`, "usual");
    };
  },
};
