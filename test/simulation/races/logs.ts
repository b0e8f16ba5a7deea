// Logs whose rotation meets ends of the kubelet and a runtime that fails, and their followers.

import { kernel } from "../kernel/kernel.js";
import type { LogScript, PodShape } from "../plan/pod-shapes.js";
import { folderOf } from "../world/container-logs.js";
import { logFilesOf } from "../world/log-files.js";
import { withLogLimits } from "../world/log-limits.js";
import type { Reading } from "../world/log-readers.js";
import type { LogRun } from "../world/log-run.js";
import { PLAIN_NODE } from "../world/node-shape.js";
import type { Script } from "../world/scripts.js";
import type { World } from "../world/world.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const VERB = "ReopenContainerLog";
const node = withLogLimits(PLAIN_NODE, { size: 4096, files: 5, intervalSeconds: 10, workers: 1 });
/** Full after some ten seconds. */
const STEADY: LogScript = { everyMs: 400, lines: 2, length: 60, longEvery: 0, writes: Infinity, silentMs: 0 };
const BURSTS: LogScript = { everyMs: 200, lines: 5, length: 120, longEvery: 0, writes: 20, silentMs: 25_000 };

function writer(name: string, log: LogScript = STEADY, script: Partial<Script> = {}, spec: object = {}): PodShape {
  return { ...podOf({ name, script, spec: { ...spec } }), logs: { main: log } };
}

/** Steady moments at which the runtime opened the pod's log anew. */
function rotationsOf({ logs }: World, pod: string): number[] {
  const moments: number[] = [];
  logs?.onReopened.add((run) => {
    if (run.pod === pod) moments.push(kernel.monotonic);
  });
  return moments;
}

function runOf({ logs }: World, pod: string): LogRun | undefined {
  return logs?.known().find((run) => run.pod === pod);
}

const killedWhileReopening: Race = {
  name: "killed-while-reopening",
  promise: "A log that has lost its name to a rotation is opened again by the next kubelet, and no line of it is lost",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: writer("writer") }],
    [60 * SECOND, { do: "runtime-error", verb: VERB, spec: "1*delay(3000)", when: "before" }],
    [60 * SECOND, { do: "aim", verb: VERB, fault: { do: "kill", downMs: 5000 } }],
  ],
  watch(world, broken) {
    const rotations = rotationsOf(world, "writer");
    let wasWithout = false;
    world.onFault.add((kind) => {
      if (kind !== "kill") return;
      kernel.after(kernel.world, 1 * SECOND, () => {
        const run = runOf(world, "writer");
        wasWithout = run !== undefined && !folderOf(run)?.entries.has("0.log");
      });
    });
    return () => {
      if (!wasWithout) broken("the kubelet was not killed between the rename and the new file", "writer");
      if (rotations.length < 10) broken(`the log was opened anew ${rotations.length} times only`, "writer");
    };
  },
};

const killedWhileCompressing: Race = {
  name: "killed-while-compressing",
  promise: "What a kubelet that was killed has left of a compression goes, and the lines of that file are there",
  issue: HERE,
  // The next rotation removes the file whose compression was cut.
  node: withLogLimits(PLAIN_NODE, { size: 4096, files: 3, intervalSeconds: 10, workers: 1 }),
  events: [
    [20 * SECOND, { do: "create", shape: writer("writer") }],
    // While it writes, and between the new name and the removal of the plain file.
    [90 * SECOND, { do: "compression-killed", calls: 10, downMs: 1000 }],
    [140 * SECOND, { do: "compression-killed", calls: 17, downMs: 1000 }],
  ],
  watch(world, broken) {
    const left: string[] = [];
    world.onFault.add((kind) => {
      if (kind !== "kill") return;
      kernel.after(kernel.world, 500, () => {
        const run = runOf(world, "writer");
        if (run === undefined) return;
        const own = new Set(logFilesOf(run).map(({ name }) => name));
        left.push(...[...(folderOf(run)?.entries.keys() ?? [])].filter((name) => !own.has(name)));
      });
    });
    return () => {
      const [first = "", second = ""] = left;
      if (!first.endsWith(".tmp") || !second.endsWith(".gz"))
        broken(`the kills have left [${left.join(" ")}]`, "writer");
    };
  },
};

const answerOfReopenIsLost: Race = {
  name: "answer-of-reopen-is-lost",
  promise: "A file that the runtime has opened stays, though the answer was lost, and so do its lines",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: writer("writer") }],
    [60 * SECOND, { do: "runtime-error", verb: VERB, spec: "3*delay(4000)", when: "after" }],
    [60 * SECOND, { do: "aim", verb: VERB, fault: { do: "runtime-restart", ms: 1000 } }],
    [100 * SECOND, { do: "runtime-error", verb: VERB, spec: "2*error(UNAVAILABLE: lost)", when: "after" }],
  ],
  watch(world, broken) {
    let failed = 0;
    world.onLog.add(({ msg }) => {
      if (msg.includes("the runtime created a new file nevertheless")) failed++;
    });
    return () => {
      if (failed === 0) broken("no answer was lost after a new file was there", "writer");
    };
  },
};

/** The first reading that has ended, or goes on. */
function readingOf({ readers }: World): () => Reading | undefined {
  const ended: Reading[] = [];
  readers?.onEnd.add((reading) => ended.push(reading));
  return () => ended[0] ?? [...(readers?.open ?? [])][0];
}

const followerOfARemovedPod: Race = {
  name: "follower-of-a-removed-pod",
  promise: "A follower of a log ends when the pod is removed, however soon after the end of its container",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: writer("quick") }],
    [40 * SECOND, { do: "log-read", pick: 0, query: { follow: true } }],
    [60 * SECOND, { do: "delete", name: "quick", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    const reading = readingOf(world);
    return () => {
      const { isWhole = false, endedAt = Infinity } = reading() ?? {};
      if (!isWhole || endedAt > 80 * SECOND) broken(`the follower ends after ${endedAt} ms`, "quick");
    };
  },
};

const followerOverRotations: Race = {
  name: "follower-over-rotations",
  promise: "A follower gets each line once and in its order over rotations, restarts of the runtime and late answers",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: writer("writer", BURSTS, { runsMs: 200_000, exitCode: 0 }) }],
    [30 * SECOND, { do: "log-read", pick: 0, query: { follow: true } }],
    [60 * SECOND, { do: "runtime-error", verb: VERB, spec: "2*delay(3000)", when: "before" }],
    [80 * SECOND, { do: "runtime-error", verb: VERB, spec: "2*error(UNAVAILABLE: lost)", when: "after" }],
    [110 * SECOND, { do: "aim", verb: VERB, fault: { do: "runtime-restart", ms: 1000 } }],
  ],
  watch(world, broken) {
    const reading = readingOf(world);
    const rotations = rotationsOf(world, "writer");
    return () => {
      if (rotations.length < 10) broken(`the log was opened anew ${rotations.length} times only`, "writer");
      if (reading()?.isWhole !== true) broken("the follower has not got the whole log", "writer");
    };
  },
};

const compressedWhileRemoved: Race = {
  name: "compressed-while-removed",
  promise: "A log has at most containerLogMaxFiles files, also where its oldest one is compressed at that moment",
  issue: HERE,
  node,
  // Such a moment is short: many writers meet it.
  events: Array.from({ length: 10 }, (_, index) => {
    const log = { ...BURSTS, everyMs: 1000, lines: 40, writes: 1, silentMs: 750 + index * 7 };
    const script = { runsMs: 180_000, exitCode: 0 };
    const shape = writer(`writer-${index}`, log, script, { restartPolicy: "Never" });
    return [20 * SECOND, { do: "create", shape }] as const;
  }),
  watch: () => undefined,
};

export const LOG_RACES: readonly Race[] = [
  killedWhileReopening,
  killedWhileCompressing,
  answerOfReopenIsLost,
  followerOfARemovedPod,
  followerOverRotations,
  compressedWhileRemoved,
];
