// The cost of a pod's start and end in counts that do not depend on the machine's speed: calls of the runtime, requests
// to the API server, calls on files, messages and records between threads, bytes of the log. API server and runtime are
// in memory. Each count is the median of several pods, which start and end one by one.
// @promise Speed: A pod's start and end cost no more calls, messages, file calls and log bytes than the table allows.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { before, describe, it } from "node:test";
import { withMemoryCluster, type MemoryCluster } from "../../bench/lib/memory-cluster.js";
import { waitFor } from "../harness/node.js";
import { ALLOWED_COSTS, AT_INTERVALS } from "../support/allowed-costs.js";

type Counts = ReadonlyMap<string, number>;

const PODS = 7;
const NODE = "system:node:bench";
/** Nothing more comes after a pod when so many looks found the same counts. */
const EQUAL_LOOKS = 6;
const LOOK_MS = 250;
const PRELOAD = new URL("../support/count-calls.js", import.meta.url).href;
const PHASES = ["start", "end"] as const;

describe("the cost of one pod", () => {
  const medians = { start: new Map<string, number>(), end: new Map<string, number>() };

  before(async () => {
    const dir = await mkdtemp(join(tmpdir(), "counts-"));
    const socket = join(dir, "socket");
    const env = { NODE_OPTIONS: `--import ${PRELOAD}`, NODELET_COUNTS: socket };
    const config = { logging: { format: "text" } };
    const found = { start: [] as Counts[], end: [] as Counts[] };
    await withMemoryCluster({ base: "/run/nodelet-pod-cost", port: 21_270, config, env }, async (cluster) => {
      // The first pods load code.
      await cluster.end(await cluster.start(2));
      let at = await quiet(cluster, socket);
      for (let pod = 0; pod < PODS; pod++) {
        const names = await cluster.start(1);
        const started = await quiet(cluster, socket);
        await cluster.end(names);
        const ended = await quiet(cluster, socket);
        found.start.push(difference(at, started));
        found.end.push(difference(started, ended));
        at = ended;
      }
    });
    await rm(dir, { recursive: true });
    for (const phase of PHASES) medians[phase] = mediansOf(found[phase]);
  });

  for (const phase of PHASES) {
    it(`the ${phase} of a pod needs no more than the table allows`, (t) => {
      t.diagnostic([...medians[phase]].map(([label, count]) => `${label} ${count}`).join(", "));
      const over = [...medians[phase]]
        .filter(([label, count]) => count > (ALLOWED_COSTS[label]?.[phase] ?? 0))
        .map(([label, count]) => `${label}: ${count}, allowed ${ALLOWED_COSTS[label]?.[phase] ?? 0}`);
      assert.deepEqual(over, []);
    });

    it(`the table of a pod's ${phase} allows no call that is not made`, () => {
      const stale = Object.entries(ALLOWED_COSTS)
        .filter(([label]) => /^(?:API|CRI) /.test(label))
        .map(([label, allowed]) => ({ label, allowed: allowed[phase], count: medians[phase].get(label) ?? 0 }))
        .filter(({ allowed, count }) => allowed > count)
        .map(({ label, allowed, count }) => `${label}: ${count}, allowed ${allowed}`);
      assert.deepEqual(stale, []);
    });
  }
});

/** The counts when nothing of a pod goes on. */
async function quiet(cluster: MemoryCluster, socket: string): Promise<Counts> {
  let last = await countsOf(cluster, socket);
  let equal = 0;
  await waitFor(
    async () => {
      const now = await countsOf(cluster, socket);
      equal = [...difference(last, now).values()].every((count) => count === 0) ? equal + 1 : 0;
      last = now;
      return equal >= EQUAL_LOOKS;
    },
    { what: "the counts to stay the same", timeoutMs: 60_000, intervalMs: LOOK_MS },
  );
  return last;
}

async function countsOf({ api, cri, kubelet }: MemoryCluster, socket: string): Promise<Counts> {
  const counts = new Map<string, number>();
  const add = (label: string, count: number): void => {
    if (!AT_INTERVALS.has(label)) counts.set(label, (counts.get(label) ?? 0) + count);
  };
  for (const { verb } of cri.calls) add(`CRI ${verb}`, 1);
  for (const { verb, resource, subresource } of api.calls.matching({ user: NODE })) {
    add(`API ${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`, 1);
  }
  for (const [label, count] of Object.entries(await callsOf(socket))) {
    add(label === "messages" ? "messages of main" : "file calls of main", count);
  }
  add("log bytes", (await stat(kubelet.log)).size);
  return counts;
}

async function callsOf(socket: string): Promise<Record<string, number>> {
  const connection = createConnection(socket);
  await once(connection, "connect");
  return JSON.parse(await text(connection)) as Record<string, number>;
}

function difference(before: Counts, after: Counts): Counts {
  return new Map([...after].map(([label, count]) => [label, count - (before.get(label) ?? 0)]));
}

function mediansOf(pods: readonly Counts[]): Map<string, number> {
  const labels = new Set(pods.flatMap((counts) => [...counts.keys()]));
  const median = (label: string): number =>
    pods.map((counts) => counts.get(label) ?? 0).toSorted((a, b) => a - b)[Math.floor(pods.length / 2)] ?? 0;
  return new Map([...labels].map((label) => [label, median(label)]));
}
