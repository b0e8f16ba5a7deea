// A CPU manager state that is damaged or cannot be written. No CPU is exclusive to two pods, and running containers are
// moved off the CPUs that others get.
// @promise Resources of the node: CPUs, memory, devices and user ids that cannot be written to disk (full, read-only)
//   are not allocated; a damaged or unreadable file never leads to allocating twice.
// @with test/main/resources/memory-manager/damaged-state.test.ts, test/integration/resource-managers.test.ts,
//   test/main/resources/devices/damaged-checkpoint.test.ts,
//   test/main/containers/user-namespaces/user-namespaces.test.ts

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { JoinedManagers } from "../../../../src/main/resources/managers/joined-managers.js";
import { topologyMetrics } from "../../../../src/main/resources/topology/metrics.js";
import { parseCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { content, UNREADABLE, UNUSABLE, type Damage } from "../../../support/damaged-file.js";
import { DISK_FAILURES, FailingDisk } from "../../../support/failing-disk.js";
import { until } from "../../../support/sources-kit.js";
import { allocateAll, cpuManagerKit, granted, guaranteed, observed } from "./kit.js";
import { machine } from "./machines.js";

const FILE = "cpu_manager_state";
const MACHINE = machine({ sockets: 1, numaNodes: 1, coresPerNode: 4, threads: 1 });
const never = new AbortController().signal;
const [a, b, newcomer] = ["a", "b", "new"].map((uid) => guaranteed(uid, 1)) as [Pod, Pod, Pod];

const DAMAGES: Readonly<Record<string, Damage>> = {
  ...UNUSABLE,
  "with a wrong checksum": content((good) => good.replace('"checksum":', '"checksum":1')),
  "with other CPUs": content((good) => good.replace('"main":"3"', '"main":"1"')),
  "of other types": content((good) => good.replace('"main":"3"', '"main":3')),
};

/** Pods a and b run on CPUs 2 and 3 when the state is damaged. */
async function damaged(t: TestContext, damage: Damage) {
  const kit = await cpuManagerKit(t, MACHINE);
  const first = await kit.start();
  for (const one of [guaranteed("ended", 1), a, b]) await allocateAll(first, one);
  assert.deepEqual([granted(first, a), granted(first, b)], [{ main: "2" }, { main: "3" }]);
  await first.stop();
  await damage(join(kit.rootDir, FILE));
  kit.runtime.pods = [observed("a", "a"), observed("b", "b")];
  /** The CPUs that the runtime was last given for a container. */
  const cpusOf = (id: string): number[] => {
    const last = kit.updates.findLast((line) => line.startsWith(`${id}: `));
    return [...(parseCpuList((last ?? (id === "a" ? "a: 2" : "b: 3")).slice(id.length + 2)) ?? [])];
  };
  const apart = (given: readonly number[]): boolean =>
    ["a", "b"].every((id) => !cpusOf(id).some((cpu) => given.includes(cpu)));
  return { ...kit, cpusOf, apart };
}

describe("a CPU manager state", () => {
  for (const [what, damage] of Object.entries(DAMAGES)) {
    test(`${what}: running pods are admitted again and moved, a new pod gets other CPUs`, async (t) => {
      const { start, rootDir, kept, apart, cpusOf } = await damaged(t, damage);
      const next = await start([a, b]);
      for (const one of [a, b, newcomer]) await allocateAll(next, one);
      const given = [a, b, newcomer].map((pod) => next.exclusiveCpus(pod.metadata.uid, "main"));
      assert.equal(new Set(given.flat()).size, 3, JSON.stringify(given));
      await until("the running containers are moved", () => apart(given[2] ?? []));
      assert.deepEqual([cpusOf("a"), cpusOf("b")], given.slice(0, 2));
      assert.equal(kept.warnings().length, 1);
      assert.ok((await readdir(rootDir)).some((name) => name.startsWith(`${FILE}.corrupt-`)));
    });
    test(`${what}: running pods that the kubelet has not heard of are moved off a new pod's CPUs`, async (t) => {
      const { start, apart } = await damaged(t, damage);
      const next = await start([]);
      await allocateAll(next, newcomer);
      const given = next.exclusiveCpus(podUid("new"), "main");
      assert.equal(given.length, 1);
      await until("the running containers are moved", () => apart(given));
    });
  }
  for (const [what, damage] of Object.entries(UNREADABLE)) {
    test(`${what}: the kubelet does not start`, async (t) => {
      const { open, rootDir } = await damaged(t, damage);
      const next = await open();
      await assert.rejects(next.start(() => [a, b]));
      assert.ok((await readdir(rootDir)).includes(FILE), "the file stays");
    });
  }
});

for (const failure of DISK_FAILURES) {
  test(`CPUs whose assignment cannot be written (${failure} disk) are not assigned`, async (t) => {
    const { start, rootDir, registry, clock, kept } = await cpuManagerKit(t, MACHINE);
    await using disk = await FailingDisk.on(rootDir);
    const manager = await start();
    const joined = new JoinedManagers({
      podLevelResourceManagers: false,
      sources: [{ kind: "cpu", make: () => Promise.resolve(manager) }],
      metrics: topologyMetrics(registry),
      clock,
    });
    await joined.start(() => []);
    await disk.fail(failure);
    const refusal = await joined.admit(a, never);
    assert.equal(refusal?.reason, "UnexpectedAdmissionError");
    assert.match(refusal.message, /no space left|EROFS/);
    assert.ok(refusal.message.includes(FILE), refusal.message);
    assert.deepEqual(manager.exclusiveCpus(podUid("a"), "main"), []);
    assert.match(kept.errors().join(), /pods that need exclusive CPUs are rejected/);
    await disk.heal(failure);
    assert.equal(await joined.admit(b, never), undefined);
    const next = await start([b]);
    assert.deepEqual(next.exclusiveCpus(podUid("b"), "main"), [1]);
  });

  test(`after a damage a running pod is not rejected because its CPUs cannot be written (${failure} disk)`, async (t) => {
    const { start, rootDir, runtime } = await cpuManagerKit(t, MACHINE);
    await using disk = await FailingDisk.on(rootDir);
    const manager = await start([a]);
    runtime.pods = [observed("a", "a")];
    await disk.fail(failure);
    await allocateAll(manager, a);
    assert.deepEqual(manager.exclusiveCpus(podUid("a"), "main"), [1]);
    await assert.rejects(allocateAll(manager, newcomer));
    await disk.heal(failure);
  });
}
