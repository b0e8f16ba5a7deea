// kill -9 of the kubelet and loss of its prober, at random moments while 30 pods of all shapes come and go. Pods
// without a change keep their containers and stay Ready. No exit is lost, every status is right and no object is
// orphaned. CHURN_KILLS sets how often it is killed, NODELET_FAULT_SEED repeats a run.
// @headline Failures | kill -9 of the kubelet restarts no container and loses no exit. | 20 random points
// @promise Failures: kill -9 of the kubelet at 20 random points while 30 pods of all shapes come and go. Also a lost
//   prober. Untouched pods are unchanged and always Ready, no exit is lost, every status is right. No pod, open file or
//   thread is left over.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { usageOf } from "../../bench/lib/process-usage.js";
import { connectCri, type CriConnection } from "../../tools/standalone/cri.js";
import { podTable } from "../../tools/standalone/pods.js";
import { PATIENCE, sleep } from "../../tools/standalone/wait.js";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { aliases, Churn, identityOf, statusesOf } from "../support/churn.js";
import { agentLog, metric } from "../support/fault-node.js";
import { ReadinessWatch } from "../support/readiness-watch.js";
import { chosenSeed, randomFrom } from "../support/seeded-random.js";
import { conditionsOf, NODE_NAME } from "../support/static-pods.js";
import { strayTraces } from "../support/traces.js";

/** 30 pods at once on a machine that is busy with other things. */
const PATIENCE_MS = 90_000;
const KILLS = Number(process.env["CHURN_KILLS"] ?? 20);
const SLOTS = 30;
/** Steps of one round, and the longest pause after one, milliseconds. */
const STEPS = 8;
const PAUSE_MS = 400;
const seed = chosenSeed();

describe(`churn of ${SLOTS} pods, seed ${seed}`, () => {
  const random = randomFrom(seed);
  let node: TestNode;
  let cri: CriConnection;
  let churn: Churn;
  let compared = 0;
  /** Leftovers of a failed round must not affect the next one. */
  let failed = false;

  before(async () => {
    node = await startNode({
      env: { NODELET_FAULTS: "1" },
      config: { crashLoopBackOff: { maxContainerRestartPeriod: "1s" } },
    });
    cri = connectCri(node.endpoint);
    const ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    churn = new Churn({
      put: (name, pod) => node.writeManifest(name, pod),
      remove: (name) => node.removeManifest(name),
      images: await aliases(node.endpoint, testImage()),
      ...{ ctl, nodeName: NODE_NAME, random, slots: SLOTS },
    });
    for (const name of churn.names) await churn.put(name);
    await settled();
    churn.settled();
  });
  after(async () => {
    cri.close();
    await node.stop();
  });

  for (let kill = 1; kill <= KILLS; kill++) {
    test(`kill ${kill}`, { timeout: 3 * PATIENCE_MS * PATIENCE }, async () => {
      await undisturbed(async () => {
        const last = Math.floor(random() * STEPS);
        for (let step = 0; step < STEPS; step++) {
          await churn.step();
          if (step < last) await sleep(random() * PAUSE_MS);
          if (step !== last) continue;
          await sleep(random() ** 2 * 3 * PAUSE_MS);
          await node.kill9();
        }
        await node.kubelet.start();
        await node.kubelet.waitHealthy(PATIENCE_MS);
      });
    });
    if (kill === Math.ceil(KILLS / 2)) {
      test("the prober is lost", { timeout: 3 * PATIENCE_MS * PATIENCE }, async () => {
        await undisturbed(async () => {
          for (let step = 0; step < STEPS; step++) {
            await churn.step();
            if (step === STEPS / 2) await breakProber();
          }
          await waitFor(() => metric(node, "nodelet_thread_restarts_total", { thread: "prober" }), {
            what: "the prober's restart",
            timeoutMs: PATIENCE_MS,
          });
        });
      });
    }
  }

  test(
    "all pods are removed in the end, with everything they left",
    { timeout: 2 * PATIENCE_MS * PATIENCE },
    async () => {
      assert.ok(compared > 0, "there were pods that a kill could have harmed");
      for (const name of churn.names) await churn.remove(name);
      await sleep(random() * PAUSE_MS);
      await node.kill9();
      await node.restart();
      await settled();
      assert.deepEqual(await readdir(node.kubelet.podLogs), []);
    },
  );

  test(
    "pods that come and go leave neither open files nor threads in the kubelet",
    { timeout: 4 * PATIENCE_MS * PATIENCE },
    async () => {
      const { pid } = node.kubelet;
      assert.ok(pid !== undefined, "the agent runs");
      await comeAndGo();
      const before = await usageOf(pid);
      for (let cycle = 0; cycle < 2; cycle++) await comeAndGo();
      let now = before;
      await waitFor(
        async () => {
          now = await usageOf(pid);
          return now.openFiles <= before.openFiles && now.threads <= before.threads;
        },
        {
          what: "open files and threads to be as many as before",
          timeoutMs: PATIENCE_MS,
          lastSeen: () => JSON.stringify({ before, now }),
        },
      );
    },
  );

  async function comeAndGo(): Promise<void> {
    for (const name of churn.names.slice(0, SLOTS / 2)) await churn.put(name);
    await settled();
    for (const name of churn.names) await churn.remove(name);
    await settled();
  }

  /** Runs one round; what it did not touch must be as before, and was Ready whenever it was seen. */
  async function undisturbed(round: () => Promise<void>): Promise<void> {
    assert.ok(!failed, "the rounds before went well");
    failed = true;
    const before = await node.pods();
    const watch = new ReadinessWatch(node);
    try {
      await round();
      await settled();
    } finally {
      await watch.end();
    }
    const now = await node.pods();
    for (const { name } of [...churn.instances.values()].filter(({ calm }) => calm)) {
      const [old, view] = [churn.view(before, name), churn.view(now, name)];
      assert.ok(old !== undefined && view !== undefined, `${name} is there before and after`);
      assert.deepEqual(identityOf(view), identityOf(old), `${name} was not touched`);
      const wasReady = conditionsOf(old)["Ready"] ?? "";
      assert.deepEqual([...watch.seen(old.metadata.uid)], [wasReady], `Ready of ${name}, all the time`);
      compared++;
    }
    churn.settled();
    failed = false;
  }

  async function settled(): Promise<void> {
    let [problem, pods]: [string, PodView[]] = ["", []];
    await waitFor(
      async () => {
        pods = await node.pods();
        problem = churn.problem(pods) || (await strayTraces(node, cri, expected(pods)));
        return problem === "";
      },
      {
        what: "the pods to be as ordered",
        timeoutMs: PATIENCE_MS,
        intervalMs: 100,
        lastSeen: async () => [problem, podTable(pods), ...(await lastLines(150))].join("\n"),
      },
    );
  }

  function expected(pods: readonly PodView[]): Parameters<typeof strayTraces>[2] {
    const uid = ({ metadata }: PodView): string => metadata.uid;
    const alive = pods.filter(({ status }) => status?.phase === "Running");
    const containers = alive.flatMap((pod) =>
      statusesOf(pod).flatMap(({ state }) => (state.running === undefined ? [] : [pod.metadata.uid])),
    );
    return { pods: pods.map(uid), alive: alive.map(uid), containers };
  }

  async function breakProber(): Promise<void> {
    const { pid } = node.kubelet;
    assert.ok(pid !== undefined, "the agent runs");
    await writeFile(join(node.kubelet.rootDir, "nodelet", "fault"), "terminate prober");
    process.kill(pid, "SIGUSR2");
    await waitFor(
      async () =>
        (await agentLog(node)).some(({ msg, thread }) => thread === "prober" && msg.startsWith("thread exited")),
      { what: "the prober to end", timeoutMs: PATIENCE_MS },
    );
  }

  async function lastLines(count: number): Promise<string[]> {
    return (await readFile(node.kubelet.log, "utf8")).trim().split("\n").slice(-count);
  }
});
