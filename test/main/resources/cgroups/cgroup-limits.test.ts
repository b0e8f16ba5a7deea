// Values of the QoS tiers from the pods that run.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { tierLimits } from "../../../../src/main/resources/cgroups/tier-limits.js";
import { container, pod } from "../pods.js";

const MIB = 1024n ** 2n;
const both = { cpu: "2", memory: "100Mi" };
const pods = [
  pod([container("a", both, both)]),
  pod([container("a", { cpu: "1500m", memory: "40Mi" })]),
  pod([container("a", { cpu: "500m", memory: "20Mi" })], { overhead: { cpu: "250m", memory: "4Mi" } }),
  pod([container("a")]),
];

test("burstable has the weight of its pods' requests, best effort the minimum; huge pages are unlimited", () => {
  const tiers = tierLimits(pods, { hugePageSizes: [2n * MIB] });
  const hugePages = new Map([["2MB", -1n]]);
  assert.deepEqual(tiers, {
    Guaranteed: {},
    Burstable: { cpuShares: 2304n, hugePages },
    BestEffort: { cpuShares: 2n, hugePages },
  });
  assert.equal(tierLimits([], { hugePageSizes: [] }).Burstable.cpuShares, 2n);
});

test("qosReserved: each class leaves the requests of those above it", () => {
  const of = (percent: number) => {
    const tiers = tierLimits(pods, { hugePageSizes: [], reserved: { percent, allocatableBytes: 1000n * MIB } });
    return [tiers.Guaranteed.memoryBytes, tiers.Burstable.memoryBytes, tiers.BestEffort.memoryBytes];
  };
  assert.deepEqual(of(100), [undefined, 900n * MIB, 836n * MIB]);
  assert.deepEqual(of(50), [undefined, 950n * MIB, 918n * MIB]);
  assert.deepEqual(of(0), [undefined, 1000n * MIB, 1000n * MIB]);
  const none = tierLimits(pods, { hugePageSizes: [], reserved: { percent: 100, allocatableBytes: 0n } });
  assert.equal(none.Burstable.memoryBytes, undefined, "nothing is known of the node");
});

test("qosReserved never has a negative value, and best effort has the least", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), fc.bigInt(1n, 300n * MIB), (percent, allocatableBytes) => {
      const tiers = tierLimits(pods, { hugePageSizes: [], reserved: { percent, allocatableBytes } });
      const [burstable = -1n, bestEffort = -1n] = [tiers.Burstable.memoryBytes, tiers.BestEffort.memoryBytes];
      assert.ok(0n <= bestEffort && bestEffort <= burstable && burstable <= allocatableBytes);
    }),
  );
});

test("the tiers protect as much memory as their pods together", () => {
  const tiers = tierLimits(pods, { hugePageSizes: [], reserveMemory: true });
  assert.deepEqual(tiers.Guaranteed, { memoryMinBytes: 100n * MIB, memoryLowBytes: 64n * MIB });
  assert.equal(tiers.Burstable.memoryLowBytes, 64n * MIB);
  assert.equal(tiers.Burstable.memoryMinBytes, undefined);
});
