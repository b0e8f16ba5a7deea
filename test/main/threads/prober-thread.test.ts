// The prober thread as main runs it, in a real thread. Tests its start with the first pod with probes, its records,
// and its snapshot after a restart.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { ProberThread } from "../../../src/main/threads/prober-thread.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { ProbeAction, ProbedPod, ProbeRecord } from "../../../src/shared/contracts/prober.js";
import { podUid, containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { startFakeCri, type FakeCri } from "../../fake-cri/fake-cri.js";
import { podConfig, socketPath, clientOf, IMAGE } from "../../shared/kubernetes/cri/support.js";
import { listen } from "../../support/probe-kit.js";
import { keptLog, until } from "../../support/sources-kit.js";

const PATIENCE_MS = 60_000;

function proberOn(t: TestContext, endpoint = "unix:///nowhere") {
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
  const records: ProbeRecord[] = [];
  let pods: ProbedPod[] = [];
  const prober = new ProberThread({
    context,
    init: { endpoint, runtimeRequestTimeoutMs: 10_000, criChannel: "own", userAgent: "kube-probe/1.36" },
    clock: systemClock,
    log,
    owner: Promise.resolve({ onProbeRecord: (record) => records.push(record), probedPods: () => pods }),
  });
  t.after(() => prober.stop());
  const set = (pod: ProbedPod): void => {
    pods = [pod];
    prober.setPod(pod);
  };
  return { prober, records, set };
}

function probedPod(probe: Partial<ProbedPod["probes"][number]>): ProbedPod {
  const spec: ProbedPod["probes"][number] = {
    containerId: containerIdOf("c1"),
    kind: "readiness",
    container: "app",
    generation: 1,
    action: { type: "impossible", reason: "no port" },
    startedAt: 0,
    initialDelayMs: 0,
    periodMs: 1000,
    timeoutMs: 10_000,
    successThreshold: 1,
    failureThreshold: 1,
    ...probe,
  };
  return { uid: podUid("u1"), namespace: "default", name: "web", probes: [spec] };
}

test("no pod has probes: no thread", async (t) => {
  const { prober } = proberOn(t);
  prober.setPod({ uid: podUid("u1"), namespace: "default", name: "web", probes: [] });
  prober.podRemoved(podUid("u1"));
  assert.deepEqual(await prober.metrics(), []);
  assert.equal(prober.thread.generation, 0);
});

test("a verdict arrives; a restarted thread receives the full set and continues from it", async (t) => {
  const { prober, records, set } = proberOn(t);
  const port = await listen(t, createServer());
  const action = { type: "tcp", host: "127.0.0.1", port } as const;
  set(probedPod({ action }));
  await until("the first verdict", () => records.length > 0, PATIENCE_MS);
  const first = records.splice(0)[0]!;
  assert.deepEqual(
    [first.uid, first.containerId, first.kind, first.generation, first.outcome, first.verdict],
    ["u1", "c1", "readiness", 1, "success", "Success"],
  );
  set(probedPod({ action: { type: "impossible", reason: "gone" }, verdict: "Success" }));
  await prober.thread.terminate();
  await until("a run of the new thread", () => records.length > 0, PATIENCE_MS);
  assert.deepEqual([records[0]?.outcome, records[0]?.output, records[0]?.verdict], ["error", "gone", undefined]);
  assert.equal(prober.thread.generation, 2);
  const [snapshot] = await prober.probeMetrics();
  const total = snapshot?.families.find(({ name }) => name === "prober_probe_total")?.samples[0];
  assert.equal(total?.labels["result"], "unknown");
});

test("commands go through the runtime: success, failure, time-out, and a runtime that has lost the container", async (t) => {
  const fake: FakeCri = await startFakeCri({
    socketPath: await socketPath(t),
    exec: (_id, [word = ""]) => ({
      exitCode: word === "bad" ? 1 : 0,
      stdout: `out of ${word} `,
      stderr: "err",
      runMs: word === "slow" ? 60_000 : 0,
    }),
  });
  t.after(() => fake.stop());
  const { client } = clientOf(t, fake.endpoint);
  const { podSandboxId } = await client.runPodSandbox({ config: podConfig("web") });
  const config = { metadata: { name: "app", attempt: 0 }, image: { image: IMAGE } };
  const { containerId } = await client.createContainer({ podSandboxId, config, sandboxConfig: podConfig("web") });
  await client.startContainer({ containerId });
  const { records, set } = proberOn(t, fake.endpoint);
  const seen = async (word: string, generation: number, id = containerId): Promise<ProbeRecord> => {
    const action: ProbeAction = { type: "exec", command: [word, "-x"] };
    const timeoutMs = word === "slow" ? 1000 : 60_000;
    set(probedPod({ containerId: containerIdOf(id), generation, action, timeoutMs, periodMs: 100 }));
    await until(`a record of ${word}`, () => records.some((record) => record.generation === generation), PATIENCE_MS);
    return records.find((record) => record.generation === generation)!;
  };
  const good = await seen("good", 1);
  assert.deepEqual([good.outcome, good.verdict], ["success", "Success"]);
  const bad = await seen("bad", 2);
  assert.deepEqual([bad.outcome, bad.output], ["failure", "out of bad err"]);
  const slow = await seen("slow", 3);
  assert.deepEqual([slow.outcome, slow.output], ["failure", 'command timed out: "slow -x" timed out after 1s']);
  const lost = await seen("good", 4, "nobody");
  assert.equal(lost.outcome, "error");
  assert.equal(lost.verdict, undefined);
});
