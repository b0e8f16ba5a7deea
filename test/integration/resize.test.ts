// In-place resize of static pods: an edited manifest of the same UID with other CPU and memory values only.
// @headline Resources of the node | A resize survives a kill. | any point
// @promise Resources of the node: CPU and memory of a running container change without a restart, in the kernel too;
//   with a restart only if its policy requires one.
// @with test/main/pods/planner/plan-resize.test.ts
// @promise Resources of the node: A resize survives a kill of the kubelet at any point; state files are upstream's.
// @with test/main/resources/allocation/allocations.test.ts

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { PodCondition } from "../../src/shared/kubernetes/api/pod-status.js";
import type { Container, ResourceRequirements } from "../../src/shared/kubernetes/api/pod.js";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { waitFor, type PodView } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

const MI = 1024 * 1024;
const { node, runtime } = await nodeForTests();

/** Shares are v1's and not looked at on v2; quota is of a period of 100 ms, -1: none; memory in bytes. */
interface Values {
  shares: number;
  quota: number;
  memory: number;
}

/** The kernel's value for the one cgroup whose path has this suffix. */
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
  // A container's values and its pod's are set one after the other.
  await waitFor(
    async () => {
      const found = await kernelValues(ending);
      assert.deepEqual(found, { ...expected, ...(found.shares === undefined && { shares: undefined }) }, ending);
      return true;
    },
    { what: `the kernel's values of ${ending}`, timeoutMs: PATIENCE_MS },
  );
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

/** Milli-CPU that the node has. */
const NODE_MILLI = cpus().length * 1000;
const SMALL = same("50m", "32Mi");

describe("in-place resize", { concurrency: 8 }, () => {
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

  test("a container that takes memory only at a start is restarted for memory, and only for it", async () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const resizedPod = (resources: ResourceRequirements) => pod("restarts", [app(resources, { resizePolicy })]);
    await node.writeManifest("restarts", resizedPod(SMALL));
    const id = idOf(statusOf(await ready("restarts"), "app"));
    await node.writeManifest("restarts", resizedPod(same("60m", "32Mi")));
    const quicker = await resized("restarts", same("60m", "32Mi"));
    assert.equal(idOf(statusOf(quicker, "app")), id, "more CPU restarts nothing");
    await node.writeManifest("restarts", resizedPod(same("60m", "48Mi")));
    const larger = await resized("restarts", same("60m", "48Mi"));
    assert.notEqual(idOf(statusOf(larger, "app")), id);
    assert.equal(statusOf(larger, "app")?.restartCount, 1);
    const values = { shares: 61, quota: 6000, memory: 48 * MI };
    await assertKernel(idOf(statusOf(larger, "app")), values);
    await assertKernel(`/kubepods/pod${larger.metadata.uid}`, values);
  });

  test("more than the node has is infeasible; taken back, nothing is left of it", async () => {
    await node.writeManifest("giant", pod("giant", [app(SMALL)]));
    const id = idOf(statusOf(await ready("giant"), "app"));
    const desired = same(NODE_MILLI % 1000 === 0 ? `${NODE_MILLI / 1000 + 1}` : `${NODE_MILLI + 1000}m`, "32Mi");
    await node.writeManifest("giant", pod("giant", [app(desired)]));
    const refused = await waitForPod(node, "giant", (view) => resizeConditions(view).length > 0, "refused");
    assert.deepEqual(resizeConditions(refused), [{ type: "PodResizePending", reason: "Infeasible" }]);
    assert.match(JSON.stringify(refused.status?.conditions), /Node didn't have enough capacity: cpu/);
    assert.deepEqual(refused.spec.containers[0]?.resources, desired, "the spec shows the desired resources");
    assert.deepEqual(statusOf(refused, "app")?.resources, SMALL);
    await assertKernel(id, { shares: 51, quota: 5000, memory: 32 * MI });
    await node.writeManifest("giant", pod("giant", [app(SMALL)]));
    assert.equal(idOf(statusOf(await resized("giant", SMALL), "app")), id);
  });

  test("a resize that does not fit waits, and is granted when another pod leaves", async () => {
    const hog = shell("app", IDLE, { resources: { requests: { cpu: `${NODE_MILLI - 700}m` } } });
    await node.writeManifest("hog", pod("hog", [hog]));
    await node.writeManifest("later", pod("later", [app(same("50m", "32Mi"))]));
    await ready("hog");
    const id = idOf(statusOf(await ready("later"), "app"));
    await node.writeManifest("later", pod("later", [app(same("750m", "32Mi"))]));
    const deferred = await waitForPod(node, "later", (view) => resizeConditions(view).length > 0, "deferred");
    assert.deepEqual(resizeConditions(deferred), [{ type: "PodResizePending", reason: "Deferred" }]);
    assert.deepEqual(statusOf(deferred, "app")?.allocatedResources, { cpu: "50m", memory: "32Mi" });
    await node.removeManifest("hog");
    const granted = await resized("later", same("750m", "32Mi"));
    assert.equal(idOf(statusOf(granted, "app")), id);
    await assertKernel(id, { shares: 768, quota: 75_000, memory: 32 * MI });
  });

  test("pod-level resources bound the pod; a container without a limit of its own follows them, by a restart if it says so", async () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const containers = [
      shell("app", IDLE),
      shell("own", IDLE, { resources: { limits: { memory: "32Mi" } }, resizePolicy }),
      shell("renewed", IDLE, { resizePolicy }),
    ];
    const resources = (cpu: string, memory: string): ResourceRequirements => ({
      requests: { cpu: "100m", memory: "64Mi" },
      limits: { cpu, memory },
    });
    await node.writeManifest("level", pod("level", containers, { resources: resources("200m", "128Mi") }));
    const first = await ready("level");
    assert.equal(first.status?.qosClass, "Burstable");
    assert.deepEqual(first.status.resources, resources("200m", "128Mi"));
    const own = `/kubepods/burstable/pod${first.metadata.uid}`;
    const id = idOf(statusOf(first, "app"));
    await assertKernel(own, { shares: 102, quota: 20_000, memory: 128 * MI });
    await assertKernel(id, { shares: 204, quota: 20_000, memory: 128 * MI });
    await assertKernel(idOf(statusOf(first, "own")), { shares: 204, quota: 20_000, memory: 32 * MI });
    await node.writeManifest("level", pod("level", containers, { resources: resources("300m", "256Mi") }));
    await waitFor(
      async () => (await kernelValues(own)).memory === 256 * MI && (await kernelValues(own)).quota === 30_000,
      {
        what: "the pod's new limits",
        timeoutMs: PATIENCE_MS,
      },
    );
    const shown = resources("300m", "256Mi");
    const grown = await waitForPod(
      node,
      "level",
      (view) =>
        resizeConditions(view).length === 0 &&
        isDeepStrictEqual(view.status?.resources, shown) &&
        statusOf(view, "renewed")?.restartCount === 1,
      "resized, and its resources in its status",
    );
    assert.deepEqual(grown.status?.allocatedResources, shown.requests);
    assert.deepEqual(statusOf(grown, "app")?.resources?.limits, undefined, "the pod's limits are not its own");
    assert.equal(idOf(statusOf(grown, "app")), id);
    for (const resizedId of [id, idOf(statusOf(grown, "renewed"))]) {
      await assertKernel(resizedId, { shares: 307, quota: 30_000, memory: 256 * MI });
    }
    assert.equal(statusOf(grown, "own")?.restartCount, 0);
    await assertKernel(idOf(statusOf(grown, "own")), { shares: 307, quota: 30_000, memory: 32 * MI });
  });
});

describe("a resize that can't be done at once", () => {
  test("a memory limit below the usage is refused; a kubelet killed meanwhile finishes it later", async () => {
    const control = join(node.kubelet.dir, "control");
    await mkdir(control);
    // dd fills its buffer, then waits for a reader of the FIFO. So it needs little of its small share of the CPU.
    const holder = `mkfifo /unread; exec 3<>/unread
(dd if=/dev/zero bs=40000000 count=1 >&3 2>/dev/null & holds=$!
head -c 1 <&3 >/dev/null; touch /control/held
until [ -e /control/free ]; do sleep 0.2; done; kill $holds) &
${IDLE}`;
    const spec = { volumes: [{ name: "control", hostPath: { path: control } }] };
    const volumeMounts = [{ name: "control", mountPath: "/control" }];
    const holding = (memory: string) =>
      pod("holding", [shell("app", holder, { resources: same("50m", memory), volumeMounts })], spec);
    await node.writeManifest("holding", holding("192Mi"));
    const first = await ready("holding");
    const { uid } = first.metadata;
    const id = idOf(statusOf(first, "app"));
    await waitFor(() => readFile(join(control, "held")).catch(() => undefined), {
      what: "memory in use",
      timeoutMs: PATIENCE_MS,
    });

    await node.writeManifest("holding", holding("24Mi"));
    const refused = await waitForPod(
      node,
      "holding",
      (view) => resizeConditions(view).some(({ reason }) => reason === "Error"),
      "refused",
    );
    assert.deepEqual(resizeConditions(refused), [{ type: "PodResizeInProgress", reason: "Error" }]);
    assert.match(JSON.stringify(refused.status?.conditions), /below current usage/);
    await assertKernel(id, { shares: 51, quota: 5000, memory: 192 * MI });

    await node.kill9();
    const memoryIn = async (state: string): Promise<unknown> => {
      const file = JSON.parse(await readFile(join(node.kubelet.rootDir, `${state}_pods_state`), "utf8")) as {
        data: string;
      };
      const { entries } = JSON.parse(file.data) as {
        entries: Record<string, { ContainerResources: Record<string, ResourceRequirements> }>;
      };
      return entries[uid]?.ContainerResources["app"]?.limits?.["memory"];
    };
    assert.deepEqual([await memoryIn("allocated"), await memoryIn("actuated")], ["24Mi", "192Mi"]);
    await writeFile(join(control, "free"), "");
    await node.restart();
    const done = await resized("holding", same("50m", "24Mi"));
    assert.equal(idOf(statusOf(done, "app")), id, "the container was not restarted");
    await assertKernel(id, { shares: 51, quota: 5000, memory: 24 * MI });
    await assertKernel(`/kubepods/pod${uid}`, { shares: 51, quota: 5000, memory: 24 * MI });
  });
});
