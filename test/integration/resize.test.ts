// In-place resize of static pods: an edited manifest of the same UID with other CPU and memory values only.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { cgroupFolders } from "../../packaging/standalone/cgroups.js";
import type { Container, ResourceRequirements } from "../../src/shared/api/pod.js";
import type { PodCondition } from "../../src/shared/api/pod-status.js";
import { startNode, type PodView, type TestNode } from "../harness/node.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  RuntimeView,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

const MI = 1024 * 1024;
let node: TestNode;
let runtime: RuntimeView;

before(async () => {
  node = await startNode();
  runtime = new RuntimeView(node.endpoint);
});
after(async () => {
  runtime.close();
  await node.stop();
});

/** Shares are v1's and not looked at on v2; quota is of a period of 100 ms, -1: none; memory in bytes. */
interface Values {
  shares: number;
  quota: number;
  memory: number;
}

/** What the kernel has for the one cgroup whose path ends so. */
async function kernelValues(ending: string): Promise<Partial<Values>> {
  const folders = (await cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? "")).filter((path) =>
    path.endsWith(ending),
  );
  const read = async (file: string): Promise<string | undefined> => {
    const texts = await Promise.all(folders.map((at) => readFile(join(at, file), "utf8").catch(() => undefined)));
    return texts.find((text) => text !== undefined)?.trim();
  };
  const shares = await read("cpu.shares");
  if (shares !== undefined) {
    const memory = Number(await read("memory.limit_in_bytes"));
    return {
      shares: Number(shares),
      quota: Number(await read("cpu.cfs_quota_us")),
      memory: memory > 2 ** 60 ? -1 : memory,
    };
  }
  const [quota, memory] = [(await read("cpu.max"))?.split(" ")[0], await read("memory.max")];
  return { quota: quota === "max" ? -1 : Number(quota), memory: memory === "max" ? -1 : Number(memory) };
}

async function assertKernel(ending: string, expected: Values): Promise<void> {
  const found = await kernelValues(ending);
  assert.deepEqual(found, { ...expected, ...(found.shares === undefined && { shares: undefined }) }, ending);
}

const app = (resources: ResourceRequirements, fields: Partial<Container> = {}): Container =>
  shell("app", IDLE, { resources, ...fields });
const pod = (name: string, containers: Container[], spec = {}) =>
  manifest(name, containers, { metadata: { uid: `resize-${name}` }, spec });
const same = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});

async function ready(name: string): Promise<PodView> {
  return await waitForPod(node, name, (view) => conditionsOf(view)["Ready"] === "True", "Ready");
}

function resizeConditions(view: PodView): Pick<PodCondition, "type" | "reason">[] {
  return (view.status?.conditions ?? [])
    .filter(({ type }) => type.startsWith("PodResize"))
    .map(({ type, reason }) => ({ type, ...(reason !== undefined && { reason }) }));
}

/** The pod runs with these resources and nothing of a resize is left to do. */
async function resized(name: string, resources: ResourceRequirements): Promise<PodView> {
  return await waitForPod(
    node,
    name,
    (view) =>
      JSON.stringify(statusOf(view, "app")?.resources?.limits) === JSON.stringify(resources.limits) &&
      JSON.stringify(statusOf(view, "app")?.resources?.requests) === JSON.stringify(resources.requests) &&
      resizeConditions(view).length === 0,
    `resized to ${JSON.stringify(resources)}`,
  );
}

describe("in-place resize", { concurrency: 4 }, () => {
  test("CPU and memory grow and shrink while the container runs on", async () => {
    await node.writeManifest("grow", pod("grow", [app(same("100m", "64Mi"))]));
    const first = await ready("grow");
    const id = idOf(statusOf(first, "app"));
    const own = `/kubepods/pod${first.metadata.uid}`;
    await assertKernel(own, { shares: 102, quota: 10_000, memory: 64 * MI });
    for (const [cpu, memory, values] of [
      ["300m", "128Mi", { shares: 307, quota: 30_000, memory: 128 * MI }],
      ["200m", "32Mi", { shares: 204, quota: 20_000, memory: 32 * MI }],
    ] as const) {
      await node.writeManifest("grow", pod("grow", [app(same(cpu, memory))]));
      const view = await resized("grow", same(cpu, memory));
      assert.deepEqual(statusOf(view, "app")?.allocatedResources, { cpu, memory });
      assert.equal(idOf(statusOf(view, "app")), id, "the container was not restarted");
      assert.equal(statusOf(view, "app")?.restartCount, 0);
      await assertKernel(own, values);
      await assertKernel(id, values);
    }
    assert.equal((await runtime.containers(first.metadata.uid)).length, 1);
  });
});
