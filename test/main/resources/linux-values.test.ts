// Formulas and CRI values: cpu, container, sandbox and pod cgroup.
// @promise Resources of the node: Huge pages at pod level limit containers that name none of the size, and back
//   emptyDir volumes of medium HugePages.
// @with test/main/volumes/huge-pages.test.ts, test/workers/tasks/pod-level-defaults.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { podCgroupLimits } from "../../../src/main/resources/cgroups/cgroup-limits.js";
import {
  linuxContainerResources,
  type ContainerResourceOptions,
} from "../../../src/main/resources/container-resources.js";
import * as cpu from "../../../src/main/resources/cpu.js";
import { hugePageSizeName } from "../../../src/main/resources/page-sizes.js";
import { sandboxResources } from "../../../src/main/resources/sandbox-resources.js";
import type { Container, ResourceList } from "../../../src/shared/kubernetes/api/pod.js";
import { container, pod, sidecar } from "./pods.js";

const MIB = 1024n ** 2n;

test("millicores become shares, quotas and weights", () => {
  for (const [milli, shares] of [
    [0n, 2n],
    [1n, 2n],
    [2n, 2n],
    [3n, 3n],
    [100n, 102n],
    [1000n, 1024n],
    [300_000n, 262_144n],
  ] as const)
    assert.equal(cpu.milliCpuToShares(milli), shares, `${milli}m`);
  for (const [milli, quota] of [
    [0n, 0n],
    [1n, 1000n],
    [10n, 1000n],
    [15n, 1500n],
    [1000n, 100_000n],
  ] as const)
    assert.equal(cpu.milliCpuToQuota(milli), quota, `${milli}m`);
  for (const [shares, weight] of [
    [0n, 1n],
    [2n, 1n],
    [102n, 4n],
    [1024n, 39n],
    [262_144n, 10_000n],
    [999_999n, 10_000n],
  ] as const)
    assert.equal(cpu.sharesToWeight(shares), weight, `${shares} shares`);
  assert.equal(cpu.sharesToMilliCpu(102n), 100n);
  assert.equal(cpu.sharesToMilliCpu(2n), 2n);
});

test("shares and weights never fall as cpu rises, and stay within the kernel's range", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 6n), (milli, more) => {
      const [a, b] = [cpu.milliCpuToShares(milli), cpu.milliCpuToShares(milli + more)];
      assert.ok(a <= b && a >= 2n && b <= 262_144n);
      assert.ok(cpu.sharesToWeight(a) <= cpu.sharesToWeight(b));
      assert.ok(cpu.sharesToWeight(a) >= 1n && cpu.sharesToWeight(b) <= 10_000n);
    }),
  );
});

test("huge page sizes are named as the runtime expects", () => {
  assert.equal(hugePageSizeName(2n * MIB), "2MB");
  assert.equal(hugePageSizeName(1024n * MIB), "1GB");
  assert.equal(hugePageSizeName(64n * 1024n), "64KB");
});

test("huge pages at pod level limit the cgroup of the pod, with any requests of its containers", () => {
  const options = { cpuCFSQuota: true, podPidsLimit: 0n, hugePageSizes: [2n * MIB, 1024n * MIB] };
  const pages = { "hugepages-2Mi": "4Mi" };
  const whole = pod([container("a", pages, pages), container("b")]);
  whole.spec.resources = { requests: { "hugepages-2Mi": "10Mi" }, limits: { "hugepages-2Mi": "10Mi" } };
  assert.deepEqual(
    podCgroupLimits(whole, options).hugePages,
    new Map([
      ["2MB", 10n * MIB],
      ["1GB", 0n],
    ]),
  );
});

test("huge page limits of a container: its own, or those of the pod, or 0", () => {
  const rows: [own: ResourceList | undefined, pod: ResourceList | undefined, limits: bigint[]][] = [
    [{ "hugepages-2Mi": "4Mi" }, undefined, [4n, 0n]],
    [undefined, { "hugepages-2Mi": "6Mi" }, [6n, 0n]],
    [{ "hugepages-2Mi": "4Mi" }, { "hugepages-2Mi": "6Mi", "hugepages-1Gi": "1Gi" }, [4n, 1024n]],
    [undefined, { cpu: "1" }, [0n, 0n]],
  ];
  for (const [own, ofPod, [small = 0n, large = 0n]] of rows) {
    const shown = of(container("a", {}, own ?? {}), { hugePageSizes: [2n * MIB, 1024n * MIB] }, ofPod).hugepageLimits;
    assert.deepEqual(shown, [
      { pageSize: "2MB", limit: small * MIB },
      { pageSize: "1GB", limit: large * MIB },
    ]);
  }
});

const options: ContainerResourceOptions = {
  nodeMemoryBytes: 1024n * MIB,
  cgroupVersion: 1,
  cpuCFSQuota: true,
  swapController: false,
  hugePageSizes: [],
  singleProcessOOMKill: false,
};
const of = (
  one: Container,
  change: Partial<ContainerResourceOptions> = {},
  podLimits?: ResourceList,
): ReturnType<typeof linuxContainerResources> => {
  const whole = pod([one]);
  if (podLimits !== undefined) whole.spec.resources = { limits: podLimits };
  return linuxContainerResources(whole, one, { ...options, ...change });
};

test("container values on v1", () => {
  const full = of(container("a", { cpu: "500m", memory: "64Mi" }, { cpu: "1", memory: "128Mi" }));
  assert.equal(full.cpuShares, 512n);
  assert.equal(full.cpuQuota, 100_000n);
  assert.equal(full.cpuPeriod, 100_000n);
  assert.equal(full.memoryLimitInBytes, 128n * MIB);
  assert.equal(full.oomScoreAdj, 938n);
  assert.equal(full.memorySwapLimitInBytes, 0n);
  assert.deepEqual(full.unified, {});
});

test("container values: absent values and disabled ones", () => {
  assert.equal(of(container("a", undefined, { cpu: "1" })).cpuShares, 1024n, "shares from the limit");
  assert.equal(of(container("a", { cpu: "0" }, { cpu: "1" })).cpuShares, 2n, "a request of zero is a request");
  const bare = of(container("a"));
  assert.deepEqual([bare.cpuShares, bare.cpuQuota, bare.memoryLimitInBytes, bare.oomScoreAdj], [2n, 0n, 0n, 1000n]);
  assert.equal(of(container("a", undefined, { cpu: "1" }), { cpuCFSQuota: false }).cpuQuota, 0n);
  assert.equal(of(container("a", {}, { memory: "8Mi" }), { swapController: true }).memorySwapLimitInBytes, 8n * MIB);
});

test("container values on v2", () => {
  const two = { cgroupVersion: 2, swapController: true } as const;
  assert.deepEqual(of(container("a", {}, { memory: "8Mi" }), two).unified, {
    "memory.oom.group": "1",
    "memory.swap.max": "0",
  });
  assert.equal(of(container("a", {}, { memory: "8Mi" }), two).memorySwapLimitInBytes, 0n);
  assert.deepEqual(of(container("a"), { cgroupVersion: 2, singleProcessOOMKill: true }).unified, {});
});

test("the pod-level memory limit stands in for a container's own", () => {
  const one = container("a");
  const subject = pod([one], { resources: { limits: { memory: "32Mi" } } });
  assert.equal(linuxContainerResources(subject, one, options).memoryLimitInBytes, 32n * MIB);
});

test("the pod-level CPU limit stands in for a container's own, and for a request it lacks", () => {
  const [bare, own] = [container("a"), container("b", { cpu: "100m" }, { cpu: "200m" })];
  const subject = pod([bare, own], { resources: { requests: { cpu: 1 }, limits: { cpu: 2 } } });
  const values = [bare, own].map((one) => linuxContainerResources(subject, one, options));
  assert.deepEqual(
    values.map(({ cpuShares, cpuQuota }) => [cpuShares, cpuQuota]),
    [
      [2048n, 200_000n],
      [102n, 20_000n],
    ],
  );
});

test("sandbox values: sums without overhead, overhead apart", () => {
  const subject = pod([container("a", { cpu: "500m" }, { cpu: 1, memory: "8Mi" }), container("b", { cpu: "500m" })], {
    overhead: { cpu: "250m", memory: "4Mi" },
  });
  const { resources, overhead } = sandboxResources(subject, { cpuCFSQuota: true });
  assert.deepEqual(
    [resources.cpuShares, resources.cpuQuota, resources.memoryLimitInBytes],
    [1024n, 100_000n, 8n * MIB],
  );
  assert.deepEqual([overhead.cpuShares, overhead.cpuQuota, overhead.memoryLimitInBytes], [256n, 25_000n, 4n * MIB]);
  const none = sandboxResources(pod([container("a")]), { cpuCFSQuota: true });
  assert.deepEqual([none.overhead.cpuShares, none.overhead.cpuPeriod, none.resources.cpuShares], [0n, 0n, 2n]);
});

test("pod cgroup values by class", () => {
  const plain = { cpuCFSQuota: true, podPidsLimit: -1n, hugePageSizes: [] };
  const both = { cpu: "1", memory: "8Mi" };
  assert.deepEqual(podCgroupLimits(pod([container("a")]), plain), { cpuShares: 2n });
  assert.deepEqual(podCgroupLimits(pod([container("a", both, both)]), plain), {
    cpuShares: 1024n,
    cpuPeriodUs: 100_000n,
    cpuQuotaUs: 100_000n,
    memoryBytes: 8n * MIB,
  });
  assert.equal(podCgroupLimits(pod([container("a", both, both)]), { ...plain, cpuCFSQuota: false }).cpuQuotaUs, -1n);
  const partial = pod([container("a", { cpu: "500m" }, both), container("b", undefined, { cpu: "1" })]);
  assert.deepEqual(podCgroupLimits(partial, plain), { cpuShares: 512n, cpuPeriodUs: 100_000n, cpuQuotaUs: 200_000n });
  const unlimitedInit = pod([container("a", { cpu: 1 }, both)], { initContainers: [sidecar("s")] });
  assert.deepEqual(podCgroupLimits(unlimitedInit, plain), { cpuShares: 1024n });
  const podLevel = pod([container("a")], { resources: { requests: { cpu: 1 }, limits: { memory: "16Mi" } } });
  assert.deepEqual(podCgroupLimits(podLevel, plain), { cpuShares: 1024n, memoryBytes: 16n * MIB });
  const extra = podCgroupLimits(pod([container("a", { "hugepages-2Mi": "4Mi", cpu: 1 })]), {
    ...plain,
    podPidsLimit: 50n,
    hugePageSizes: [2n * MIB, 1024n * MIB],
  });
  assert.equal(extra.pids, 50n);
  assert.deepEqual(
    [...(extra.hugePages ?? [])],
    [
      ["2MB", 4n * MIB],
      ["1GB", 0n],
    ],
  );
});

test("another CFS period: container, pod and sandbox", () => {
  const cpuPeriodUs = 20_000n;
  const limited = container("a", { cpu: "100m" }, { cpu: "500m", memory: "8Mi" });
  const values = of(limited, { cpuPeriodUs });
  assert.deepEqual([values.cpuQuota, values.cpuPeriod], [10_000n, 20_000n]);
  const subject = pod([limited]);
  const limits = podCgroupLimits(subject, { cpuCFSQuota: true, podPidsLimit: 0n, hugePageSizes: [], cpuPeriodUs });
  assert.deepEqual([limits.cpuQuotaUs, limits.cpuPeriodUs], [10_000n, 20_000n]);
  const { resources } = sandboxResources(subject, { cpuCFSQuota: true, cpuPeriodUs });
  assert.deepEqual([resources.cpuQuota, resources.cpuPeriod], [10_000n, 20_000n]);
  assert.equal(of(container("a", {}, { cpu: "1m" }), { cpuPeriodUs: 1000n }).cpuQuota, 1000n, "the kernel's least");
});
