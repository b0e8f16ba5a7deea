// UpdateContainerResources on the fake runtime: the order, the values, and rejected changes.
// @promise Resources of the node: During a resize the pod's cgroup never has less than its containers; no memory limit
//   goes below the current usage.
// @with test/integration/resize.test.ts

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Doer } from "../../../../src/main/containers/runtime/doer.js";
import { resizeContainers } from "../../../../src/main/containers/runtime/update-container.js";
import type { PodResources } from "../../../../src/main/model/pod-resources.js";
import { ResizeError } from "../../../../src/main/model/resize-error.js";
import { podCgroupLimits } from "../../../../src/main/resources/cgroups/cgroup-limits.js";
import type { Container, Pod, ResourceRequirements } from "../../../../src/shared/kubernetes/api/pod.js";
import { CriUnavailableError } from "../../../../src/shared/kubernetes/cri/errors.js";
import type {
  UpdateContainerResourcesRequest,
  UpdatePodSandboxResourcesRequest,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, sandboxIdOf, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { app, never, podOf, runtimeOn, startStep } from "./runtime-kit.js";

const MI = 1024n * 1024n;
const both = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});
const SMALL = both("100m", "64Mi");
const podWith = (...containers: Container[]): Pod => podOf(app(), { containers });

/**
 * Containers run; a line for each change of the sandbox ("sandbox MEMORY"), of the pod's cgroup ("cgroup QUOTA MEMORY")
 * and of a container.
 */
async function build(t: TestContext, ...containers: Container[]) {
  const world = await runtimeOn(t);
  const order: string[] = [];
  const ensurePod = world.runtime.cgroups.ensurePod.bind(world.runtime.cgroups);
  const options = { cpuCFSQuota: true, podPidsLimit: 0n, hugePageSizes: [] };
  world.runtime.cgroups.ensurePod = (pod, sized) => {
    const { cpuQuotaUs, memoryBytes } = podCgroupLimits(sized ?? pod, options);
    order.push(`cgroup ${cpuQuotaUs} ${memoryBytes === undefined ? undefined : memoryBytes / MI}`);
    return ensurePod(pod, sized);
  };
  const doer = new Doer(world.runtime, podUid("uid-web"), () => undefined);
  const pod = podWith(...containers);
  const [sandbox] = await doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "" }, never);
  const ids: Record<string, string> = {};
  for (const container of containers) {
    const [hint] = await doer.execute(pod, startStep(container, String(sandbox?.id)), never);
    ids[container.name] = String(hint?.id);
  }
  order.length = 0;
  const { updateContainerResources, updatePodSandboxResources } = world.runtime.cri;
  const cri = {
    ...world.runtime.cri,
    updateContainerResources: (...args: Parameters<typeof updateContainerResources>) => {
      const id = args[0].containerId ?? "";
      order.push(Object.keys(ids).find((name) => ids[name] === id) ?? id);
      return updateContainerResources(...args);
    },
    updatePodSandboxResources: (...args: Parameters<typeof updatePodSandboxResources>) => {
      order.push(`sandbox ${BigInt(args[0].resources?.memoryLimitInBytes ?? 0n) / MI}`);
      return updatePodSandboxResources(...args);
    },
  };
  const runtime = { ...world.runtime, cri };
  const resize = (to: Pod, actuated: PodResources | undefined) =>
    resizeContainers(
      runtime,
      to,
      {
        kind: "resize-containers",
        sandboxId: sandboxIdOf(String(sandbox?.id)),
        containers: to.spec.containers.map((container) => ({
          container,
          containerId: containerIdOf(ids[container.name] ?? "gone"),
        })),
        actuated,
        reason: "",
      },
      never,
    );
  const sent = () => world.calls("UpdateContainerResources") as UpdateContainerResourcesRequest[];
  return { ...world, order, ids, resize, sent };
}

test("growing: first the pod's cgroup, then the container; then the cgroup as it is to be", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  const hints = await world.resize(podOf(app({ resources: both("300m", "128Mi") })), { containers: { app: SMALL } });
  assert.deepEqual(world.order, ["sandbox 128", "cgroup 30000 128", "app", "cgroup 30000 128"]);
  assert.deepEqual(hints, [{ kind: "container", id: world.ids["app"] }]);
  const [sandboxUpdate] = world.calls("UpdatePodSandboxResources") as UpdatePodSandboxResourcesRequest[];
  assert.equal(sandboxUpdate?.resources?.memoryLimitInBytes, 128n * MI);
  const linux = world.sent()[0]?.linux;
  assert.deepEqual(
    [
      linux?.cpuShares,
      linux?.cpuQuota,
      linux?.cpuPeriod,
      linux?.memoryLimitInBytes,
      linux?.oomScoreAdj,
      linux?.unified,
    ],
    [307n, 30_000n, 100_000n, 128n * MI, 0n, {}],
  );
});

test("shrinking: first the container, then the pod's cgroup", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  await world.resize(podOf(app({ resources: both("50m", "32Mi") })), { containers: { app: SMALL } });
  assert.deepEqual(world.order, ["cgroup 10000 64", "app", "sandbox 32", "cgroup 5000 32"]);
});

test("one shrinks, another grows: meanwhile the pod has room for both", async (t) => {
  const containers = [app({ resources: SMALL }), { ...app({ resources: SMALL }), name: "b" }];
  const world = await build(t, ...containers);
  const to = podWith(app({ resources: both("50m", "32Mi") }), {
    ...app({ resources: both("200m", "128Mi") }),
    name: "b",
  });
  await world.resize(to, { containers: { app: SMALL, b: SMALL } });
  assert.deepEqual([world.order[1], world.order.at(-1)], ["cgroup 30000 192", "cgroup 25000 160"]);
  assert.deepEqual(new Set(world.order.slice(2, -2)), new Set(["app", "b"]));
});

test("limits that are taken away are lifted; those that never were are left alone", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  await world.resize(podOf(app({ resources: { requests: SMALL.requests ?? {} } })), { containers: { app: SMALL } });
  await world.resize(podOf(app()), { containers: { app: {} } });
  await world.resize(podOf(app()), undefined);
  const limits = world.sent().map(({ linux }) => [linux?.cpuQuota, linux?.memoryLimitInBytes]);
  assert.deepEqual(limits, [
    [-1n, -1n],
    [0n, 0n],
    [0n, 0n],
  ]);
});

test("a memory limit below the usage is refused before any change", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  const { containerStats } = world.runtime.cri;
  const { stats } = await containerStats({ containerId: world.ids["app"] ?? "" });
  const used = stats?.memory?.workingSetBytes?.value ?? 0n;
  assert.ok(used > 0n);
  const to = podOf(app({ resources: both("100m", String(used - 1n)) }));
  await assert.rejects(world.resize(to, { containers: { app: SMALL } }), (error) => {
    assert.ok(error instanceof ResizeError);
    assert.match(error.message, /memory limit \(\d+\) below current usage \(\d+\)/);
    return true;
  });
  assert.deepEqual(world.order, []);
  await world.resize(podOf(app({ resources: both("100m", String(used)) })), { containers: { app: SMALL } });
});

test("a runtime's error is the resize's failure; an unavailable runtime is not", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  const to = podOf(app({ resources: both("200m", "64Mi") }));
  world.fake.failpoint("UpdateContainerResources", "1*error(INTERNAL: no such thing)");
  await assert.rejects(world.resize(to, { containers: { app: SMALL } }), ResizeError);
  await world.fake.stop();
  await assert.rejects(world.resize(to, { containers: { app: SMALL } }), CriUnavailableError);
});

test("the runtime hears of the pod's size before its cgroup changes: before growing, after shrinking", async (t) => {
  const containers = [app({ resources: SMALL }), { ...app({ resources: SMALL }), name: "b" }];
  const world = await build(t, ...containers);
  const to = podWith(app({ resources: both("50m", "32Mi") }), {
    ...app({ resources: both("200m", "128Mi") }),
    name: "b",
  });
  await world.resize(to, { containers: { app: SMALL, b: SMALL } });
  assert.deepEqual([world.order[0], world.order[1]], ["sandbox 192", "cgroup 30000 192"]);
  assert.deepEqual(world.order.slice(-2), ["sandbox 160", "cgroup 25000 160"]);
});

test("a runtime that refuses the pod's new size refuses the resize: nothing has changed", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  world.fake.failpoint("UpdatePodSandboxResources", "1*error(RESOURCE_EXHAUSTED: the machine is full)");
  const to = podOf(app({ resources: both("200m", "128Mi") }));
  await assert.rejects(world.resize(to, { containers: { app: SMALL } }), (error) => {
    assert.ok(error instanceof ResizeError);
    assert.match(error.message, /UpdatePodSandboxResources; resize rejected: the machine is full/);
    return true;
  });
  assert.deepEqual(world.order, ["sandbox 128"]);
});

test("a runtime without UpdatePodSandboxResources does not keep pods from being resized", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  const to = podOf(app({ resources: both("200m", "64Mi") }));
  for (const answer of ["UNIMPLEMENTED: what", "UNKNOWN: not implemented yet"]) {
    world.order.length = 0;
    world.fake.failpoint("UpdatePodSandboxResources", `1*error(${answer})`);
    await world.resize(to, { containers: { app: SMALL } });
    assert.deepEqual(world.order, ["sandbox 64", "cgroup 20000 64", "app", "cgroup 20000 64"]);
  }
});

test("when the pod's cgroup cannot change, the runtime gets the size before back", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  world.failures.cgroup = new Error("cgroup is read-only");
  const to = podOf(app({ resources: both("200m", "128Mi") }));
  await assert.rejects(world.resize(to, { containers: { app: SMALL } }), ResizeError);
  assert.deepEqual(world.order, ["sandbox 128", "cgroup 20000 128", "sandbox 64"]);
});

test("a removed container gets its values at its next start; the pod's cgroup does not wait", async (t) => {
  const world = await build(t, app({ resources: SMALL }));
  world.ids["app"] = "gone";
  await world.resize(podOf(app({ resources: both("50m", "32Mi") })), { containers: { app: SMALL } });
  assert.equal(world.order.at(-1), "cgroup 5000 32");
});
