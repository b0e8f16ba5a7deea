// Resources of static pods in the kernel and in CRI: cgroup values of pod and container, OOM scores, QoS classes.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { ResourceRequirements } from "../../src/shared/kubernetes/api/pod.js";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { type PodView } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  report,
  reporter,
  shell,
  statusOf,
  values,
  waitForPod,
} from "../support/static-pods.js";

const MI = 1024 * 1024;
const { node, runtime } = await nodeForTests({ config: { podPidsLimit: 100 } });

/** Controller files of the one cgroup (per tree) whose path ends in `ending`; undefined where there is no such file. */
async function cgroup(ending: string): Promise<(file: string) => Promise<string | undefined>> {
  const folders = (await cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? "")).filter((path) =>
    path.endsWith(ending),
  );
  assert.ok(folders.length > 0, `a cgroup that ends in ${ending}`);
  return async (file) => {
    for (const folder of folders) {
      const text = await readFile(join(folder, file), "utf8").catch(() => undefined);
      if (text !== undefined) return text.trim();
    }
    return undefined;
  };
}

interface Limits {
  /** v1 shares; v2 weight is only checked to be there. */
  shares: number;
  /** CPU quota of a period of 100 ms; -1: none. */
  quota: number;
  /** Bytes; undefined: none. */
  memory: number | undefined;
}

async function assertLimits(ending: string, { shares, quota, memory }: Limits): Promise<void> {
  const read = await cgroup(ending);
  if ((await read("cpu.shares")) !== undefined) {
    assert.equal(Number(await read("cpu.shares")), shares, `cpu.shares of ${ending}`);
    assert.equal(Number(await read("cpu.cfs_quota_us")), quota, `cpu.cfs_quota_us of ${ending}`);
    assert.equal(Number(await read("cpu.cfs_period_us")), 100_000);
    const limit = Number(await read("memory.limit_in_bytes"));
    if (memory === undefined) assert.ok(limit > 2 ** 60, `memory.limit_in_bytes of ${ending} is ${limit}`);
    else assert.equal(limit, memory, `memory.limit_in_bytes of ${ending}`);
    return;
  }
  assert.equal(await read("cpu.max"), quota < 0 ? "max 100000" : `${quota} 100000`, `cpu.max of ${ending}`);
  assert.equal(await read("memory.max"), memory === undefined ? "max" : String(memory), `memory.max of ${ending}`);
  assert.match((await read("cpu.weight")) ?? "", /^\d+$/);
}

async function ready(name: string): Promise<PodView> {
  return await waitForPod(node, name, (view) => conditionsOf(view)["Ready"] === "True", "Ready");
}

const SCORE = 'echo "SCORE=$(cat /proc/self/oom_score_adj)"';
const app = (name: string, resources: ResourceRequirements) => reporter(name, SCORE, { resources });

/** The lowest OOM score that the runtime can set: its own. */
async function lowestScore(): Promise<number> {
  return Number(await readFile("/proc/self/oom_score_adj", "utf8"));
}

async function assertScore(pod: string, container: string, expected: number): Promise<void> {
  const score = Number(values(await report(node, pod, container))["SCORE"]);
  // A runtime without the right to lower scores gives the lowest it may.
  assert.ok([expected, Math.max(expected, await lowestScore())].includes(score), `${pod}/${container}: ${score}`);
}

describe("resources", { concurrency: 4 }, () => {
  test("Guaranteed: limits of the pod are the sums", async () => {
    const limits = { cpu: "250m", memory: "64Mi" };
    const containers = [app("one", { limits }), app("two", { limits, requests: limits })];
    await node.writeManifest("guaranteed", manifest("guaranteed", containers));
    const pod = await ready("guaranteed");
    assert.equal(pod.status?.qosClass, "Guaranteed");
    await assertLimits(`/kubepods/pod${pod.metadata.uid}`, { shares: 512, quota: 50_000, memory: 128 * MI });
    for (const name of ["one", "two"]) {
      await assertLimits(idOf(statusOf(pod, name)), { shares: 256, quota: 25_000, memory: 64 * MI });
      await assertScore("guaranteed", name, -997);
    }
    assert.deepEqual(statusOf(pod, "one")?.resources, { limits, requests: limits });
    assert.deepEqual(statusOf(pod, "one")?.allocatedResources, limits);
    const read = await cgroup(`/kubepods/pod${pod.metadata.uid}`);
    assert.equal(await read("pids.max"), "100");
  });

  test("Burstable: requests give shares; the pod is limited only when all its containers are", async () => {
    const memory = totalmem();
    const request = 256 * MI;
    const containers = [
      app("one", { requests: { cpu: "100m", memory: String(request) }, limits: { cpu: "500m" } }),
      app("two", { requests: { cpu: "200m" }, limits: { memory: "512Mi" } }),
    ];
    await node.writeManifest("burstable", manifest("burstable", containers));
    const pod = await ready("burstable");
    assert.equal(pod.status?.qosClass, "Burstable");
    await assertLimits(`/kubepods/burstable/pod${pod.metadata.uid}`, { shares: 307, quota: -1, memory: undefined });
    await assertLimits(idOf(statusOf(pod, "one")), { shares: 102, quota: 50_000, memory: undefined });
    await assertLimits(idOf(statusOf(pod, "two")), { shares: 204, quota: -1, memory: 512 * MI });
    const score = (bytes: number): number => Math.min(Math.max(1000 - Math.floor((1000 * bytes) / memory), 3), 999);
    await assertScore("burstable", "one", score(request));
    await assertScore("burstable", "two", score(512 * MI));
  });

  test("BestEffort: next to nothing, and the first to go", async () => {
    await node.writeManifest("best-effort", manifest("best-effort", [reporter("app", SCORE)]));
    const pod = await ready("best-effort");
    assert.equal(pod.status?.qosClass, "BestEffort");
    await assertLimits(`/kubepods/besteffort/pod${pod.metadata.uid}`, { shares: 2, quota: -1, memory: undefined });
    await assertLimits(idOf(statusOf(pod, "app")), { shares: 2, quota: -1, memory: undefined });
    await assertScore("best-effort", "app", 1000);
  });

  test("the class' own cgroups follow their pods", async () => {
    const requests = { cpu: "1" };
    await node.writeManifest("shares", manifest("shares", [shell("app", IDLE, { resources: { requests } })]));
    const pod = await ready("shares");
    await assertLimits(`/kubepods/burstable/pod${pod.metadata.uid}`, { shares: 1024, quota: -1, memory: undefined });
    const bestEffort = await cgroup("/kubepods/besteffort");
    if ((await bestEffort("cpu.shares")) !== undefined) assert.equal(await bestEffort("cpu.shares"), "2");
  });

  test("a container above its memory limit is killed and reported as OOMKilled", async () => {
    const resources = { limits: { memory: "48Mi" } };
    // Process 1 outlives its child. The runtime may see an end before it sees the lack of memory that caused it.
    const greedy = shell("app", "tail /dev/zero; code=$?; sleep 1; exit $code", { resources });
    const spec = { restartPolicy: "Never" as const };
    await node.writeManifest("oom", manifest("oom", [greedy], { spec }));
    const pod = await waitForPod(node, "oom", ({ status }) => status?.phase === "Failed", "Failed");
    const terminated = statusOf(pod, "app")?.state.terminated;
    assert.equal(terminated?.reason, "OOMKilled");
    assert.notEqual(terminated.exitCode, 0);
    assert.equal((await runtime.containers(pod.metadata.uid)).length, 1);
  });
});
