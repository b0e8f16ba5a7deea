// A damaged device checkpoint: no device of a running pod is allocated to another pod.
// @promise Resources of the node: If that file is damaged, no device is allocated while a running pod may have it. No
//   container of that pod starts again; the messages name the file and the pods to delete.
// @with test/integration/devices.test.ts

import assert from "node:assert/strict";
import { readdir, rm } from "node:fs/promises";
import { describe, test, type TestContext } from "node:test";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import { encodeCheckpoint } from "../../../../src/main/resources/devices/checkpoint.js";
import { JoinedManagers } from "../../../../src/main/resources/managers/joined-managers.js";
import { topologyMetrics } from "../../../../src/main/resources/topology/metrics.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { content, UNREADABLE, UNUSABLE, type Damage } from "../../../support/damaged-file.js";
import { DISK_FAILURES, FailingDisk } from "../../../support/failing-disk.js";
import { container } from "../pods.js";
import { allocate, devices, FakePlugin, GPU, idsOf, kit, never, podOf, start, wanting, type Kit } from "./kit.js";

const FILE = "kubelet_internal_checkpoint";
const NIC = "example.com/nic";
const FOUR = devices({ a: {}, b: {}, c: {}, d: {} });
const holder = podOf("holder", wanting("c", 1));
const other = podOf("other", wanting("c", 1));
const plain = podOf("plain", container("c"));

/** The checksum is right, the protobuf message in the entry is not. */
const badResponse = await encodeCheckpoint(
  {
    PodDeviceEntries: [
      {
        PodUID: podUid("holder"),
        ContainerName: "c",
        ResourceName: GPU,
        DeviceIDs: { "-1": ["a"] },
        AllocResp: "CgD/",
      },
    ],
    RegisteredDevices: {},
  },
  { turn: () => Promise.resolve() },
);

const DAMAGES: Readonly<Record<string, Damage>> = {
  ...UNUSABLE,
  ...UNREADABLE,
  "with a wrong checksum": content((good) => good.replace('"a"', '"z"')),
  "without a checksum": content((good) => good.replace(/,"Checksum":\d+/, "")),
  "of other types": content((good) => good.replace('"-1":["a"]', '"-1":"a"')),
  "with an unreadable plugin answer": content(() => badResponse),
};

/** The next kubelet after "holder" was given a device and the checkpoint was damaged; the plugin is back. */
async function damaged(t: TestContext, damage: Damage, known: readonly Pod[]): Promise<Kit> {
  const first = await kit(t);
  await first.plug(GPU, new FakePlugin(FOUR));
  await allocate(first.manager, holder);
  await first.manager.stop();
  await damage(`${first.directory}/${FILE}`);
  return await started(first, known);
}

/** The holder runs still, and so does a pod without devices. */
async function started(before: Kit, known: readonly Pod[]): Promise<Kit> {
  const next = await before.again(known);
  for (const uid of ["holder", "plain"]) next.running.add(uid);
  await next.plug(GPU, new FakePlugin(FOUR));
  await next.plug(NIC, new FakePlugin(devices({ n: {} })));
  return next;
}

async function refused({ manager, directory }: Kit, pod: Pod, names: string): Promise<void> {
  await assert.rejects(allocate(manager, pod), (error) => {
    assert.ok(error instanceof AllocationError);
    assert.equal(error.reason, "UnexpectedAdmissionError");
    const [before, after, ...rest] = error.message.split(
      / \(kept as (?:\S+)\/kubelet_internal_checkpoint\.corrupt-\S+Z\)/,
    );
    assert.deepEqual(rest, []);
    assert.equal(before, `the device checkpoint ${directory}/${FILE} could not be read`);
    assert.equal(
      after,
      `, so the ${GPU} allocation of running pods is unknown; drain the node, or delete these pods: ${names}`,
    );
    return true;
  });
}

/** A container that ran when the checkpoint was lost exits, and the kubelet would start it again. */
async function doesNotStart({ manager, directory }: Kit, pod: Pod): Promise<void> {
  await assert.rejects(start(manager, pod), (error) => {
    assert.ok(error instanceof AllocationError);
    assert.equal(
      error.message.replace(/ \(kept as \S+\.corrupt-\S+Z\)/, ""),
      `the device checkpoint ${directory}/${FILE} could not be read, so the ${GPU} allocation of container c is unknown ` +
        "and the container cannot start again; delete the pod, and its replacement gets a new allocation",
    );
    return true;
  });
  assert.equal(idsOf(manager, pod, "c"), undefined);
}

const HOLDER = "web_default(holder)";

describe("a device checkpoint", () => {
  for (const [what, damage] of Object.entries(DAMAGES)) {
    test(`${what}: no device is allocated until the pods whose devices are unknown are removed`, async (t) => {
      const next = await damaged(t, damage, [holder, plain]);
      const { manager, warnings } = next;
      assert.equal(warnings.length, 1, warnings.join());
      await refused(next, other, HOLDER);
      await allocate(manager, holder);
      assert.equal(idsOf(manager, holder, "c"), undefined, "it runs with what it has");
      await refused(next, other, HOLDER);
      await doesNotStart(next, holder);
      const network = podOf("network", wanting("c", 1, NIC));
      await allocate(manager, network);
      assert.deepEqual(idsOf(manager, network, "c", NIC), ["n"], "a resource that no running pod requested");

      const again = await started(next, [holder, plain, network]);
      await refused(again, other, HOLDER);
      await doesNotStart(again, holder);
      again.running.delete("holder");
      await allocate(again.manager, other);
      assert.deepEqual(idsOf(again.manager, other, "c"), ["a"]);
      const names = await readdir(next.directory);
      assert.equal(names.filter((name) => name.startsWith(`${FILE}.corrupt-`)).length, 1, names.join());
    });
  }

  test("damaged, and pods run that the kubelet has not heard of: each may have any device", async (t) => {
    const next = await damaged(
      t,
      content(() => ""),
      [],
    );
    const { manager, running } = next;
    await refused(next, other, "the pod with UID holder, the pod with UID plain");
    running.delete("holder");
    await refused(next, other, "the pod with UID plain");
    running.delete("plain");
    await allocate(manager, other);
    running.add("other");
    running.add("unrelated");
    await allocate(manager, podOf("more", wanting("c", 1)));
  });

  test("damaged: many pods are counted, not all named", async (t) => {
    const many = Array.from({ length: 7 }, (_, index) => podOf(`${index}`, wanting("c", 1)));
    const next = await damaged(
      t,
      content(() => ""),
      many,
    );
    next.running.clear();
    for (const { metadata } of many) next.running.add(metadata.uid);
    await assert.rejects(allocate(next.manager, other), /web_default\(4\) and 2 more$/);
  });

  test("damaged while nothing runs, as after a reboot: all devices can be allocated", async (t) => {
    const next = await damaged(
      t,
      content(() => ""),
      [holder],
    );
    next.running.clear();
    await allocate(next.manager, other);
    await allocate(next.manager, holder);
    assert.deepEqual([idsOf(next.manager, other, "c"), idsOf(next.manager, holder, "c")], [["a"], ["b"]]);
  });

  test("absent: the first start, all devices can be allocated", async (t) => {
    const next = await damaged(t, (path) => rm(path), []);
    await allocate(next.manager, other);
    assert.deepEqual(idsOf(next.manager, other, "c"), ["a"]);
    assert.deepEqual(next.warnings, []);
  });
});

for (const failure of DISK_FAILURES) {
  test(`a device whose allocation cannot be written (${failure} disk) is not allocated`, async (t) => {
    const first = await kit(t);
    await using disk = await FailingDisk.on(first.directory);
    await first.plug(GPU, new FakePlugin(FOUR));
    const joined = new JoinedManagers({
      podLevelResourceManagers: false,
      sources: [{ kind: "devices", make: () => Promise.resolve(first.manager) }],
      metrics: topologyMetrics(new ThreadRegistry("main")),
      clock: first.clock,
    });
    await joined.start(() => []);
    await disk.fail(failure);
    assert.equal(await joined.admit(other, never), undefined);
    const refusal = await joined.finish(other, never);
    assert.equal(refusal?.reason, "UnexpectedAdmissionError");
    assert.match(refusal.message, /no space left|EROFS/);
    assert.ok(refusal.message.includes(FILE), refusal.message);
    assert.equal(idsOf(first.manager, other, "c"), undefined, "it holds nothing");
    await disk.heal(failure);
    assert.equal(await joined.admit(holder, never), undefined);
    assert.equal(await joined.finish(holder, never), undefined);
    const next = await first.again([holder]);
    assert.deepEqual(idsOf(next.manager, holder, "c"), ["a"]);
  });
}
