import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelDefault, sameValue, v1Writes } from "../../../../src/main/resources/cgroups/cgroup-v1-writes.js";
import { isKernelDefaultV2, sameValueV2, v2Writes } from "../../../../src/main/resources/cgroups/cgroup-v2-writes.js";
import type { CgroupWrite } from "../../../../src/main/resources/cgroups/cgroup-values.js";

const PAGE = 4096n;
const limits = {
  cpuShares: 512n,
  cpuPeriodUs: 100_000n,
  cpuQuotaUs: 50_000n,
  memoryBytes: 10_000_000n,
  pids: 100n,
  hugePages: new Map([["2MB", 0n]]),
};
const shown = (writes: CgroupWrite[]): string[] =>
  writes.map(({ controller, file, value }) => `${controller} ${file} ${value}`);

test("limits become files of cgroup v1", () => {
  assert.deepEqual(shown(v1Writes(limits)), [
    "cpu cpu.shares 512",
    "cpu cpu.cfs_period_us 100000",
    "cpu cpu.cfs_quota_us 50000",
    "memory memory.limit_in_bytes 10000000",
    "pids pids.max 100",
    "hugetlb hugetlb.2MB.limit_in_bytes 0",
    "hugetlb hugetlb.2MB.rsvd.limit_in_bytes 0",
  ]);
  assert.deepEqual(shown(v1Writes({ cpuQuotaUs: 0n })), [], "0 is unset");
  assert.deepEqual(shown(v1Writes({ cpuQuotaUs: -1n, pids: -1n })), ["cpu cpu.cfs_quota_us -1", "pids pids.max max"]);
});

test("limits become files of cgroup v2", () => {
  assert.deepEqual(shown(v2Writes(limits)), [
    "cpu cpu.weight 20",
    "cpu cpu.max 50000 100000",
    "memory memory.max 10000000",
    "pids pids.max 100",
    "hugetlb hugetlb.2MB.max 0",
    "hugetlb hugetlb.2MB.rsvd.max 0",
  ]);
  assert.deepEqual(shown(v2Writes({ cpuQuotaUs: -1n })), ["cpu cpu.max max 100000"]);
});

test("values that need not be written", () => {
  const memory = { controller: "memory", file: "memory.limit_in_bytes", value: "10000000" };
  assert.ok(sameValue(memory, "9998336", PAGE), "kept in whole pages");
  assert.ok(!sameValue(memory, "9994240", PAGE));
  assert.ok(!sameValue(memory, "9223372036854771712", PAGE));
  assert.ok(!sameValue(memory, undefined, PAGE));
  assert.ok(sameValue({ controller: "cpu", file: "cpu.shares", value: "2" }, "2", PAGE));
  assert.ok(isKernelDefault({ controller: "cpu", file: "cpu.shares", value: "1024" }));
  assert.ok(!isKernelDefault(memory));
  assert.ok(sameValueV2({ controller: "memory", file: "memory.max", value: "10000000" }, "9998336", PAGE));
  assert.ok(!sameValueV2({ controller: "memory", file: "memory.max", value: "10000000" }, "max", PAGE));
  assert.ok(isKernelDefaultV2({ controller: "cpu", file: "cpu.weight", value: "100" }));
});

test("lifting a limit: the value of a fresh cgroup, and the kernel's text for it", () => {
  const lifted = v1Writes({ memoryBytes: -1n, hugePages: new Map([["2MB", -1n]]) });
  assert.deepEqual(shown(lifted), [
    "memory memory.limit_in_bytes -1",
    "hugetlb hugetlb.2MB.limit_in_bytes -1",
    "hugetlb hugetlb.2MB.rsvd.limit_in_bytes -1",
  ]);
  for (const write of lifted) {
    assert.ok(isKernelDefault(write));
    assert.ok(
      sameValue(write, "9223372036854771712", PAGE) && sameValue(write, "9223372036852678656", PAGE),
      "no limit, in pages",
    );
    assert.ok(!sameValue(write, "4096", PAGE));
  }
  const [huge] = v2Writes({ hugePages: new Map([["1GB", -1n]]) });
  assert.ok(
    huge !== undefined && isKernelDefaultV2(huge) && sameValueV2(huge, "max", PAGE) && !sameValueV2(huge, "0", PAGE),
  );
});

test("protection from reclaim is for v2 alone", () => {
  const kept = { memoryMinBytes: 10_000_000n, memoryLowBytes: 0n };
  assert.deepEqual(v1Writes(kept), []);
  const writes = v2Writes(kept);
  assert.deepEqual(shown(writes), ["memory memory.min 10000000", "memory memory.low 0"]);
  assert.deepEqual(writes.map(isKernelDefaultV2), [false, true]);
  const [min] = writes;
  assert.ok(min !== undefined && sameValueV2(min, "9998336", PAGE));
});

test("with pages of 64 KiB a value is rounded to whole pages of that size", () => {
  const v1 = { controller: "memory", file: "memory.limit_in_bytes", value: "10000000" };
  const v2 = { controller: "memory", file: "memory.max", value: "10000000" };
  const kept = "9961472";
  assert.ok(sameValue(v1, kept, 65_536n) && sameValueV2(v2, kept, 65_536n));
  assert.ok(!sameValue(v1, kept, PAGE) && !sameValueV2(v2, kept, PAGE));
});

test("limits of reservations are optional, those of pages in use are not", () => {
  const hugePages = new Map([["2MB", 4n << 20n]]);
  assert.deepEqual(
    [...v1Writes({ hugePages }), ...v2Writes({ hugePages })].map(({ optional }) => optional === true),
    [false, true, false, true],
  );
});
