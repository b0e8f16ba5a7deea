// kill -9 of the kubelet at random moments of bursts of starts and removals. Afterwards all wanted pods run, no
// healthy container was restarted, and no object exists twice or is orphaned. NODELET_FAULT_SEED repeats a run.
// @promise Failures: kill -9 of the kubelet at random points, ten rounds: no healthy container restarts, nothing
//   leaks.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";
import { connectCri, type CriConnection } from "../../tools/standalone/cri.js";
import { podTable } from "../../tools/standalone/pods.js";
import { PATIENCE, sleep } from "../../tools/standalone/wait.js";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { PATIENCE_MS, podOf, runs } from "../support/fault-node.js";
import { chosenSeed, randomFrom } from "../support/seeded-random.js";
import { runtimeTraces, strayTraces } from "../support/traces.js";

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 10);
const NAMES = Array.from({ length: 8 }, (_, index) => `p${index}`);
/** Runs before the first kill and stays until the end: each kill could harm at least this pod. */
const STEADY = "steady";
/** A kill comes at most this long after the burst began, milliseconds; most come much sooner. */
const KILL_WITHIN_MS = 1500;
const seed = chosenSeed();

describe(`the kubelet killed at random, seed ${seed}`, () => {
  const random = randomFrom(seed);
  let node: TestNode;
  let cri: CriConnection;
  const wanted = new Set<string>();
  let checked = 0;

  before(async () => {
    node = await startNode();
    cri = connectCri(node.endpoint);
    await toggle(STEADY);
    await settled(wanted);
  });
  after(async () => {
    cri.close();
    await node.stop();
  });

  for (let round = 1; round <= ROUNDS; round++) {
    test(`round ${round}`, { timeout: 4 * PATIENCE_MS * PATIENCE }, async () => {
      for (const name of NAMES) if (random() < 0.5) await toggle(name);
      await sleep(random() ** 2 * KILL_WITHIN_MS);
      // Wanted pods that run now were healthy: they must be unchanged at the end.
      const healthy = await runningOf(wanted);
      await node.kill9();
      await node.kubelet.start();
      if (random() < 0.5) {
        await sleep(random() ** 2 * KILL_WITHIN_MS);
        await node.kill9();
        await node.kubelet.start();
      }
      await node.kubelet.waitHealthy(PATIENCE_MS);
      await settled(wanted);
      const now = await runningOf(wanted);
      checked += healthy.size;
      for (const [uid, ids] of healthy) assert.deepEqual(now.get(uid), ids, `pod ${uid} kept its container`);
    });
  }

  test(
    "all pods are removed in the end, with everything they left",
    { timeout: 2 * PATIENCE_MS * PATIENCE },
    async () => {
      assert.ok(checked >= ROUNDS, "in each round there was a container that a kill could have harmed");
      for (const name of [...wanted]) await toggle(name);
      await sleep(random() * KILL_WITHIN_MS);
      await node.kill9();
      await node.restart();
      await settled(wanted);
      assert.deepEqual(await readdir(node.kubelet.podLogs), []);
    },
  );

  async function toggle(name: string): Promise<void> {
    if (wanted.delete(name)) await node.removeManifest(name);
    else {
      await node.writeManifest(name, pod(name));
      wanted.add(name);
    }
  }

  /** Waits until exactly the wanted pods run, and this machine has exactly their directories, cgroups and logs. */
  async function settled(names: ReadonlySet<string>): Promise<void> {
    let problem = "";
    let pods: PodView[] = [];
    await waitFor(
      async () => {
        pods = await node.pods();
        problem = await difference(names, pods);
        return problem === "";
      },
      {
        what: "the pods to be as wanted",
        timeoutMs: PATIENCE_MS,
        intervalMs: 100,
        lastSeen: async () =>
          [problem, `wanted: ${[...names].join(" ")}`, podTable(pods), ...(await lastLines(80))].join("\n"),
      },
    );
  }

  async function lastLines(count: number): Promise<string[]> {
    return (await readFile(node.kubelet.log, "utf8")).trim().split("\n").slice(-count);
  }

  /** "" or the first thing that is not as wanted. */
  async function difference(names: ReadonlySet<string>, pods: readonly PodView[]): Promise<string> {
    const missing = [...names].find((name) => !runs(pods, name));
    if (missing !== undefined) return `${missing} does not run`;
    if (pods.length !== names.size) return "there are pods that nobody wants";
    const uids = pods.map(({ metadata }) => metadata.uid);
    return strayTraces(node, cri, { pods: uids, alive: uids, containers: uids });
  }

  /** Running containers of the pods of these names, by UID. */
  async function runningOf(names: ReadonlySet<string>): Promise<Map<string, string[]>> {
    const pods = await node.pods();
    const uids = [...names].map((name) => podOf(pods, name)?.metadata.uid);
    const { running } = await runtimeTraces(cri);
    return new Map([...running].filter(([uid]) => uids.includes(podUid(uid))));
  }
});

/** With a volume that is a mount, so that leaked ones show. */
function pod(name: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 2,
      volumes: [{ name: "memory", emptyDir: { medium: "Memory" } }],
      containers: [
        {
          name: "c0",
          image: testImage(),
          imagePullPolicy: "Never",
          command: ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 3600 & wait; done"],
          volumeMounts: [{ name: "memory", mountPath: "/memory" }],
        },
      ],
    },
  };
}
