// Cost of the start and the end of one pod: calls, requests, system calls, log lines, processor time and allocated
// memory. Beside each it shows the minimum, and the floor of both: the bare CRI calls. Counts come from outside the
// kubelet if possible, so that --against compares equal things.

import { join } from "node:path";
import { FakeApi } from "../../test/fake-api/fake-api.js";
import { ApiKit } from "../../test/support/api-kit.js";
import { sleep } from "../../tools/standalone/wait.js";
import { NAMESPACE, NODE_NAME, nodeReady, PodWatch } from "../lib/cluster-under-test.js";
import { CountingRuntime } from "../lib/counting-runtime.js";
import { InspectedProcess } from "../lib/inspected-process.js";
import { LEAST } from "../lib/least.js";
import { markingPod } from "../lib/manifests.js";
import { memoryMeter, outsideMeter, systemCallMeter, type Counts, type Meter } from "../lib/meters.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Report } from "../lib/page.js";
import { benchFolder } from "../lib/places.js";
import type { Nodes, Section } from "../lib/section.js";
import { round, summarize, type Summary } from "../lib/stats.js";
import { hasStrace } from "../lib/system-calls.js";

/** Figures for one pod: of pods that start and end one by one, and of a burst. */
interface CostRow {
  what: string;
  start: number;
  startOfBurst: number;
  end: number;
  endOfBurst: number;
}

interface CostResult {
  rows: CostRow[];
  /** The bare CRI calls, one pod at a time, ms. */
  floor: { start: Summary; end: Summary };
}

interface Parts {
  node: NodeUnderTest;
  client: ApiKit;
  watch: PodWatch;
}

const ALONE = 10;
const BURST = 30;
const FLOOR_ROUNDS = 15;
/** Work after the pod is Ready or removed, such as a relist, counts too. */
const SETTLE_MS = 2_000;

export const costSection: Section<CostResult> = {
  name: "cost",
  run: benchCost,
  report: ({ rows, floor }) => [costReport(rows), floorReport(floor)],
};

async function benchCost(nodes: Nodes): Promise<CostResult> {
  const base = benchFolder("cost");
  const user = `system:node:${NODE_NAME}`;
  await using api = await FakeApi.start({ controllers: true, nodeRestriction: true });
  const client = await ApiKit.fromKubeconfig(await api.kubeconfig({ name: "admin", groups: ["system:masters"] }));
  const kubeconfig = await api.kubeconfig({ name: user, groups: ["system:nodes"] });
  let runtime: CountingRuntime | undefined;
  const through = async (endpoint: string): Promise<string> => {
    const path = join(base, "cri.sock");
    runtime = await CountingRuntime.start(path, endpoint);
    return `unix://${path}`;
  };
  const options = { flags: ["--kubeconfig", kubeconfig], port: 21_250, through };
  try {
    // Other kubelets have not been tried with the protobuf of the API server in test/.
    return await nodes.withOwn("cost", { contentType: "application/json" }, options, async (node) => {
      if (runtime === undefined) throw new Error("the kubelet's runtime is not counted");
      await nodeReady(client, NODE_NAME);
      using watch = new PodWatch(client);
      await watch.start();
      const parts = { node, client, watch };
      await startAndEnd(parts, 2, () => Promise.resolve(() => Promise.resolve(new Map()))); // warm-up
      const rows = await costOf(parts, outsideMeter(node, { api, user, runtime }));
      if (hasStrace()) rows.push(...(await costOf(parts, systemCallMeter(node, base))));
      const { entry = ".js" } = nodes.subject;
      if (entry.endsWith(".js")) {
        using inspected = await InspectedProcess.open(node.kubelet.pid ?? 0);
        rows.push(...(await costOf(parts, memoryMeter(inspected))));
      }
      return { rows: withLeast(rows), floor: await floorOf(node) };
    });
  } finally {
    client.close();
    runtime?.stop();
  }
}

async function costOf(parts: Parts, meter: Meter): Promise<CostRow[]> {
  const alone = { start: new Map<string, number>(), end: new Map<string, number>() };
  for (let pod = 0; pod < ALONE; pod++) {
    const { start, end } = await startAndEnd(parts, 1, meter);
    add(alone.start, start);
    add(alone.end, end);
  }
  const burst = await startAndEnd(parts, BURST, meter);
  const labels = new Set([alone.start, alone.end, burst.start, burst.end].flatMap((counts) => [...counts.keys()]));
  const each = (counts: Counts, what: string, pods: number): number => round((counts.get(what) ?? 0) / pods);
  return [...labels]
    .map((what) => ({
      what,
      start: each(alone.start, what, ALONE),
      startOfBurst: each(burst.start, what, BURST),
      end: each(alone.end, what, ALONE),
      endOfBurst: each(burst.end, what, BURST),
    }))
    .filter(({ start, startOfBurst, end, endOfBurst }) => start + startOfBurst + end + endOfBurst > 0);
}

function add(sum: Map<string, number>, counts: Counts): void {
  for (const [what, count] of counts) sum.set(what, (sum.get(what) ?? 0) + count);
}

let serial = 0;

async function startAndEnd(
  { node, client, watch }: Parts,
  size: number,
  meter: Meter,
): Promise<{ start: Counts; end: Counts }> {
  const names = Array.from({ length: size }, () => `cost-${++serial}`);
  const endOfStart = await meter();
  await Promise.all(
    names.map(async (name) => {
      const { metadata, spec } = markingPod(name, node.marks.directory) as { metadata: object; spec: object };
      await client.create("pods", {
        metadata: { ...metadata, namespace: NAMESPACE },
        spec: { ...spec, nodeName: NODE_NAME },
      });
    }),
  );
  await Promise.all(names.map((name) => watch.at(name, "ready")));
  await sleep(SETTLE_MS);
  const start = await endOfStart();
  const endOfEnd = await meter();
  await Promise.all(names.map((name) => client.delete("pods", NAMESPACE, name)));
  await Promise.all(names.map((name) => watch.at(name, "gone")));
  await sleep(SETTLE_MS);
  return { start, end: await endOfEnd() };
}

/** Rows of {@link LEAST} that cost nothing are shown too. */
function withLeast(rows: readonly CostRow[]): CostRow[] {
  const missing = [...LEAST.keys()].filter((what) => rows.every((row) => row.what !== what));
  return [...rows, ...missing.map((what) => ({ what, start: 0, startOfBurst: 0, end: 0, endOfBurst: 0 }))].toSorted(
    (a, b) => kindOf(a).localeCompare(kindOf(b)),
  );
}

/** Rows of one kind stand together: "CRI", "API", … */
function kindOf({ what }: CostRow): string {
  return what.split(" ")[0] ?? "";
}

async function floorOf({ floor }: NodeUnderTest): Promise<CostResult["floor"]> {
  const starts: number[] = [];
  const ends: number[] = [];
  for (let turn = 0; turn < FLOOR_ROUNDS; turn++) {
    starts.push(...(await floor.start([`floor-${++serial}`])));
    ends.push(...(await floor.end()));
  }
  return { start: summarize(starts), end: summarize(ends) };
}

function costReport(rows: readonly CostRow[]): Report {
  return {
    title: `The cost of one pod of one container: ${ALONE} one by one, and of a burst of ${BURST}`,
    head: ["what", "start", "of burst", "least", "end", "of burst", "least", "reason"],
    rows: rows.map(({ what, start, startOfBurst, end, endOfBurst }) => {
      // As text: the least is the same for every kubelet, so that --against needs no ratio for it.
      const { reason = "", ...least } = LEAST.get(what) ?? { start: "–", end: "–" };
      return [what, start, startOfBurst, String(least.start), end, endOfBurst, String(least.end), reason];
    }),
  };
}

function floorReport({ start, end }: CostResult["floor"]): Report {
  const row = (name: string, { p50, p90, max }: Summary): [string, number, number, number] => [name, p50, p90, max];
  return {
    title: "The floor: the bare CRI calls of one pod (ms)",
    head: ["calls", "p50", "p90", "max"],
    rows: [
      row("RunPodSandbox, CreateContainer, StartContainer, until the process runs", start),
      row("StopContainer, StopPodSandbox, RemoveContainer, RemovePodSandbox", end),
    ],
  };
}
