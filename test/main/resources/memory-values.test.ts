// MemoryQoS and swap, as tables: what a container and its pod are given by class, request and limit.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { podCgroupLimits } from "../../../src/main/resources/cgroups/cgroup-limits.js";
import { linuxContainerResources } from "../../../src/main/resources/container-resources.js";
import { memoryHigh, swapLimit, type MemoryQos } from "../../../src/main/resources/memory-values.js";
import type { Container, Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "./pods.js";

const MIB = 1024n ** 2n;
const GIB = 1024n * MIB;
const qos: MemoryQos = { throttlingFactor: 0.9, reserve: true, allocatableBytes: GIB, pageSize: 4096n };

test("memory.high lies between request and limit, in whole pages", () => {
  for (const [request, limit, factor, high] of [
    [100n * MIB, 200n * MIB, 0.9, 190n * MIB],
    [0n, 100n * MIB, 0.9, 94_371_840n],
    [0n, 1000n, 0.9, undefined],
    [100n * MIB, 200n * MIB, 1, 200n * MIB],
    [100n * MIB, 100n * MIB, 0.9, undefined],
    [100n * MIB, 0n, 0.5, 562n * MIB],
    [0n, 0n, 0.9, undefined],
    [2n * GIB, 0n, 0.9, undefined],
  ] as const) {
    assert.equal(
      memoryHigh(request, limit, { ...qos, throttlingFactor: factor }),
      high,
      `${request} ${limit} ${factor}`,
    );
  }
  const large = { ...qos, pageSize: 65_536n };
  assert.equal(memoryHigh(0n, 100n * MIB, large), 94_371_840n - (94_371_840n % 65_536n), "pages of 64 KiB");
  assert.equal(memoryHigh(MIB, 0n, { ...qos, allocatableBytes: 0n }), undefined, "nothing is known of the node");
});

test("memory.high never falls as the factor rises, and is never below the request", () => {
  const bytes = fc.bigInt(0n, 4n * GIB);
  const factor = fc.double({ min: 0.01, max: 1, noNaN: true });
  fc.assert(
    fc.property(bytes, bytes, factor, factor, (request, more, a, b) => {
      const limit = request + more;
      const [low, high] = [Math.min(a, b), Math.max(a, b)].map(
        (throttlingFactor) => memoryHigh(request, limit, { ...qos, throttlingFactor }) ?? request,
      );
      assert.ok(low !== undefined && high !== undefined && request <= low && low <= high);
      assert.ok(limit === 0n || high <= limit);
    }),
  );
});

test("LimitedSwap is for burstable, non-critical pods and requests below their limit", () => {
  const limited = { behavior: "LimitedSwap", nodeBytes: 2n * GIB } as const;
  const burstable = pod([container("a", { memory: "64Mi" }, { memory: "128Mi" })]);
  const request = 64n * MIB;
  const of = (subject: Pod, limit = 128n * MIB, asked = request): bigint =>
    swapLimit(subject, asked, limit, limited, GIB);
  assert.equal(of(burstable), 128n * MIB);
  assert.equal(of(burstable, 0n), 128n * MIB, "no limit is not the request");
  assert.equal(of(burstable, request), 0n);
  assert.equal(of(burstable, 0n, 0n), 0n);
  assert.equal(of({ ...burstable, spec: { ...burstable.spec, priority: 2_000_000_000 } }), 0n);
  const guaranteed = { cpu: 1, memory: "64Mi" };
  assert.equal(of(pod([container("a", guaranteed, guaranteed)])), 0n);
  assert.equal(of(pod([container("a")])), 0n);
  assert.equal(swapLimit(burstable, request, 128n * MIB, { ...limited, behavior: "NoSwap" }, GIB), 0n);
  assert.equal(swapLimit(burstable, 1n, 2n, limited, GIB), 2n);
  assert.equal(swapLimit(burstable, 1n, 2n, { ...limited, nodeBytes: GIB - 1n }, GIB), 0n, "rounded down");
});

const unified = (one: Container, change: object = {}): Record<string, string> =>
  linuxContainerResources(pod([one]), one, {
    nodeMemoryBytes: GIB,
    cgroupVersion: 2,
    cpuCFSQuota: true,
    swapController: true,
    hugePageSizes: [],
    singleProcessOOMKill: false,
    ...change,
  }).unified;

test("a container's values on v2, by class", () => {
  const both = { cpu: "1", memory: "64Mi" };
  const high = { "memory.high": String(94n * MIB + 0n) };
  const common = { "memory.oom.group": "1", "memory.swap.max": "0" };
  const kept = (min: bigint, low: bigint) => ({ "memory.min": String(min), "memory.low": String(low) });
  const guaranteed = container("a", both, both);
  const burstable = container("a", { memory: "64Mi" }, { memory: "128Mi" });
  const factor = { ...qos, throttlingFactor: 0.46875 };
  assert.deepEqual(unified(guaranteed, { memoryQos: factor }), { ...common, ...kept(64n * MIB, 0n) });
  assert.deepEqual(unified(burstable, { memoryQos: factor }), { ...common, ...kept(0n, 64n * MIB), ...high });
  assert.deepEqual(unified(container("a"), { memoryQos: factor }), { ...common, ...kept(0n, 0n) });
  assert.deepEqual(unified(burstable, { memoryQos: { ...factor, reserve: false } }), {
    ...common,
    ...kept(0n, 0n),
    ...high,
  });
  assert.deepEqual(unified(burstable), common, "the gate is off");
  assert.deepEqual(unified(burstable, { memoryQos: factor, cgroupVersion: 1 }), {}, "v1 has none of it");
  const swap = { behavior: "LimitedSwap", nodeBytes: GIB };
  assert.equal(unified(burstable, { swap })["memory.swap.max"], String(64n * MIB));
  assert.deepEqual(unified(burstable, { swap, swapController: false, singleProcessOOMKill: true }), {});
});

test("the pod's own cgroup protects as much memory as its containers together", () => {
  const options = { cpuCFSQuota: true, podPidsLimit: 0n, hugePageSizes: [], reserveMemory: true };
  const both = { cpu: "1", memory: "64Mi" };
  const of = (...containers: Container[]): (bigint | undefined)[] => {
    const { memoryMinBytes, memoryLowBytes } = podCgroupLimits(pod(containers), options);
    return [memoryMinBytes, memoryLowBytes];
  };
  assert.deepEqual(of(container("a", both, both), container("b", both, both)), [128n * MIB, 0n]);
  assert.deepEqual(of(container("a", { memory: "64Mi" }), container("b")), [0n, 64n * MIB]);
  assert.deepEqual(of(container("a")), [0n, 0n]);
});
