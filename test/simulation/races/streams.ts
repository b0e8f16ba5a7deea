// Streams of exec, attach and port-forward that meet ends of their container, the runtime, the kubelet and its thread.

import { PLAIN_NODE } from "../world/node-shape.js";
import { CHANNEL, type StreamAction, type StreamSession } from "../world/stream-session.js";
import { withStreams } from "../world/stream-settings.js";
import type { World } from "../world/world.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";
const node = withStreams(PLAIN_NODE, 60);
const QUIET = { echoes: false, lines: 0, length: 0, everyMs: 0, endsMs: 0, exitCode: 0 };
const SILENT = { sends: 0, length: 1, everyMs: 0, closesStdin: false, paceMs: 0 };
/** It echoes its input, and ends with its container only. */
const ECHO = { ...QUIET, echoes: true, endsMs: Infinity };
/** 200 messages in 40 seconds. */
const TALKER = { ...SILENT, sends: 200_000, length: 1000, everyMs: 200 };

function client({ kind = "exec", script, use }: Partial<StreamAction>): StreamAction {
  return { do: "stream-opened", kind, pick: 0, as: "reader", script: script ?? QUIET, use: use ?? SILENT };
}

/** Sessions whose client has ended, in that order. */
function endedOf({ streams }: World): StreamSession[] {
  const ended: StreamSession[] = [];
  streams?.onEnd.add((session) => ended.push(session));
  return ended;
}

/** What the client got is as many bytes as the runtime wrote. */
function isWhole({ runtime, got }: StreamSession): boolean {
  return Object.entries(runtime?.wrote ?? {}).every(([channel, wrote]) => got[Number(channel)] === wrote);
}

const outputOfAnEndedCommand: Race = {
  name: "output-of-an-ended-command",
  promise: "A slow client gets the whole output of a command that ends while the client still sends",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "talker" }) }],
    ...Array.from({ length: 10 }, (_, index) => {
      const script = { ...QUIET, lines: 20, length: 2000, everyMs: index, exitCode: 3 };
      const use = { ...TALKER, paceMs: 300 + index * 40, everyMs: 20 + index };
      return [(40 + index) * SECOND, client({ script, use })] as const;
    }),
  ],
  watch(world, broken) {
    const ended = endedOf(world);
    return () => {
      if (ended.length !== 10) broken(`${ended.length} streams have ended`, "talker");
      for (const session of ended) {
        const { number, got, statuses, sent } = session;
        if (got[CHANNEL.STDOUT] !== 40_000 || statuses.length !== 1)
          broken(`stream ${number} gets ${got[CHANNEL.STDOUT]} bytes and ${statuses.length} statuses`, "talker");
        if (sent >= TALKER.sends) broken(`the client of stream ${number} has sent all before the end`, "talker");
      }
    };
  },
};

const containerEndsUnderStreams: Race = {
  name: "container-ends-under-streams",
  promise: "Streams end with their container: a command with its exit code, and none before its last output",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "short", script: { runsMs: 60_000 } }) }],
    [40 * SECOND, client({ script: ECHO, use: TALKER })],
    [45 * SECOND, client({ kind: "attach", script: ECHO, use: { ...TALKER, paceMs: 20 } })],
    [50 * SECOND, client({ kind: "portForward", script: ECHO, use: TALKER })],
    [60 * SECOND, { do: "delete", name: "short", graceSeconds: 5 }],
  ],
  watch(world, broken) {
    const ended = endedOf(world);
    return () => {
      const told = ended.map(({ kind, runtime }) => `${kind} ${runtime?.exitCode ?? "none"}`).sort();
      if (told.join() !== "attach 0,exec 137,portForward none") broken(`streams end: ${told.join()}`, "short");
      for (const session of ended) if (!isWhole(session)) broken(`stream ${session.number} is cut`, "short");
    };
  },
};

const runtimeRestartsUnderStreams: Race = {
  name: "runtime-restarts-under-streams",
  promise: "A command whose runtime goes away is a failure, and the next one reaches the new runtime",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "steady" }) }],
    [40 * SECOND, client({ script: ECHO, use: TALKER })],
    [41 * SECOND, client({ kind: "attach", script: { ...ECHO, lines: 1000, length: 500, everyMs: 50 } })],
    [42 * SECOND, { do: "aim", verb: "Exec", fault: { do: "runtime-restart", ms: 2000 } }],
    [45 * SECOND, client({ script: { ...QUIET, lines: 3, length: 10 } })],
    [60 * SECOND, client({ script: { ...QUIET, lines: 3, length: 10 } })],
  ],
  watch(world, broken) {
    const ended = endedOf(world);
    return () => {
      const told = ended.map(({ status, statuses }) => `${status} ${statuses.join().includes("Success")}`).sort();
      if (told.join() !== "101 false,101 false,101 true,500 false") broken(`streams end: ${told.join()}`, "steady");
    };
  },
};

/** Streams over an end of the kubelet or its thread. */
function overAnEnd(name: string, promise: string, fault: Race["events"][number][1], downMs: number): Race {
  return {
    name,
    promise,
    issue: HERE,
    node,
    events: [
      [20 * SECOND, { do: "create", shape: podOf({ name: "steady" }) }],
      [40 * SECOND, client({ script: ECHO, use: TALKER })],
      [41 * SECOND, client({ kind: "attach", script: { ...ECHO, lines: 1000, length: 500, everyMs: 50 } })],
      [42 * SECOND, client({ kind: "portForward", script: ECHO, use: TALKER })],
      [50 * SECOND, fault],
      [50 * SECOND + downMs, client({ script: { ...QUIET, lines: 3, length: 10 } })],
    ],
    watch(world, broken) {
      const ended = endedOf(world);
      return () => {
        const cut = ended.filter(({ runtime, statuses }) => runtime?.leftAt !== undefined && statuses.length === 0);
        const last = ended.at(-1);
        if (cut.length !== 3) broken(`${cut.length} streams are cut`, "steady");
        if (cut.some(({ endedAt = 0 }) => endedAt > 55 * SECOND)) broken("a stream goes on", "steady");
        if (last?.statuses.join().includes("Success") !== true)
          broken(`the stream after that is answered with ${last?.status}: ${last?.text ?? ""}`, "steady");
      };
    },
  };
}

const idleStreams: Race = {
  name: "idle-streams",
  promise: "A stream without bytes ends after the idle timeout, a client that does not close is cut, and no other",
  issue: HERE,
  node,
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "steady" }) }],
    [40 * SECOND, client({ script: ECHO })],
    [40 * SECOND, client({ kind: "portForward", script: ECHO })],
    [40 * SECOND, client({ script: { ...QUIET, lines: 1, length: 10 }, use: { ...SILENT, lingers: true } })],
    [41 * SECOND, client({ script: { ...QUIET, lines: 5, length: 10, everyMs: 50_000 } })],
  ],
  watch(world, broken) {
    const ended = endedOf(world);
    return () => {
      const told = ended.map(({ statuses, endedAt = 0 }) => `${statuses.length} ${Math.round(endedAt / SECOND)}`);
      const [cut = "", first = "", second = "", last = ""] = told;
      if (cut !== "1 70" || !first.startsWith("0 1") || !second.startsWith("0 1") || last !== "1 291")
        broken(`streams end: ${told.join()}`, "steady");
    };
  },
};

export const STREAM_RACES: readonly Race[] = [
  outputOfAnEndedCommand,
  containerEndsUnderStreams,
  runtimeRestartsUnderStreams,
  overAnEnd(
    "kubelet-killed-under-streams",
    "Streams end with their kubelet, and the next one serves new ones",
    { do: "kill", downMs: 1000 },
    60 * SECOND,
  ),
  overAnEnd(
    "thread-dies-under-streams",
    "Streams end with the thread of port 10250, and the next thread serves new ones",
    { do: "thread-crash", name: "secure-server" },
    30 * SECOND,
  ),
  idleStreams,
];
