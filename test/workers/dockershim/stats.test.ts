// docker's statistics as CRI shows them, for both versions of cgroups.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Container } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { criStats } from "../../../src/workers/dockershim/stats/samples.js";

const container = Container.fromPartial({ id: "c" });
const context = { now: 5n, mountpoint: "/docker", layerBytes: 7 };

test("the working set is the usage without inactive file pages, on cgroup v1 and v2", () => {
  for (const stats of [
    { total_inactive_file: 30, inactive_file: 1, total_rss: 60 },
    { inactive_file: 30, anon: 60 },
  ]) {
    const { memory, cpu, writableLayer } = criStats(
      container,
      { cpu_stats: { cpu_usage: { total_usage: 11 } }, memory_stats: { usage: 100, stats } },
      context,
    );
    assert.deepEqual(memory?.workingSetBytes, { value: 70n });
    assert.deepEqual(memory.rssBytes, { value: 60n });
    assert.deepEqual(cpu?.usageCoreNanoSeconds, { value: 11n });
    assert.deepEqual(writableLayer?.usedBytes, { value: 7n });
    assert.deepEqual(writableLayer.fsId, { mountpoint: "/docker" });
  }
});

test("a container that exits during the sample has no values instead of zeros", () => {
  const { memory, cpu } = criStats(container, {}, context);
  assert.equal(memory?.workingSetBytes, undefined);
  assert.equal(cpu?.usageCoreNanoSeconds, undefined);
});
