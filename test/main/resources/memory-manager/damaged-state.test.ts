// A memory manager state that is damaged or cannot be written: no memory of a NUMA node is allocated twice.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { content, UNREADABLE, UNUSABLE, type Damage } from "../../../support/damaged-file.js";
import { DISK_FAILURES, FailingDisk } from "../../../support/failing-disk.js";
import { pod } from "../../../support/pods.js";
import { temporaryFolder } from "../../../support/sources-kit.js";
import { guaranteed, manager } from "./kit.js";

const FILE = "memory_manager_state";
const two = [{ id: 0 }, { id: 1 }];
const [a, b, newcomer] = ["a", "b", "new"].map((name) => guaranteed(name, "2Gi")) as [Pod, Pod, Pod];
const loose = pod({}, "loose");

const DAMAGES: Readonly<Record<string, Damage>> = {
  ...UNUSABLE,
  "with a wrong checksum": content((good) => good.replace('"checksum":', '"checksum":1')),
  "of other types": content((good) => good.replace('"numaAffinity":[0]', '"numaAffinity":0')),
  "with another node": content((good) => good.replace('"numaAffinity":[0]', '"numaAffinity":[1]')),
};

/** Pods a and b run, with 2 of 3 GiB of nodes 0 and 1. @returns how the next kubelet starts */
async function damaged(t: TestContext, damage: Damage) {
  const first = await manager(t, two);
  assert.deepEqual([await first.admit(a), await first.admit(b)], [["app 0"], ["app 1"]]);
  await first.made.stop();
  const { root } = first;
  await damage(join(root, FILE));
  const running = new Set([podUid("uid-a"), podUid("uid-b"), podUid("uid-loose")]);
  return { root, running, start: (known: readonly Pod[]) => manager(t, two, root, known, running) };
}

async function refused({ admit, root }: Awaited<ReturnType<typeof manager>>, names: string): Promise<void> {
  await assert.rejects(admit(newcomer), (error) => {
    assert.ok(error instanceof AllocationError);
    assert.equal(error.reason, "UnexpectedAdmissionError");
    assert.equal(
      error.message.replace(/corrupt-\S+Z/, "corrupt-TIME"),
      `the memory manager state ${root}/${FILE} could not be read (kept as ${root}/${FILE}.corrupt-TIME), so the memory of ` +
        `running pods is unknown; drain the node, or delete these pods: ${names}`,
    );
    return true;
  });
}

const NAMES = "a_default(uid-a), b_default(uid-b)";

describe("a memory manager state", () => {
  for (const [what, damage] of Object.entries(DAMAGES)) {
    test(`${what}: no memory is allocated until the pods whose memory is unknown are removed`, async (t) => {
      const { start, running } = await damaged(t, damage);
      const next = await start([a, b, loose]);
      assert.deepEqual(await next.admit(a), ["app any"], "it runs where it is");
      assert.deepEqual(await next.admit(loose), ["app any"]);
      await refused(next, NAMES);
      await assert.rejects(
        next.start(a),
        /so the memory of container app is unknown and the container cannot start again; delete the pod/,
      );
      await next.start(loose);
      await next.made.stop();

      const again = await start([a, b, loose]);
      await refused(again, NAMES);
      assert.deepEqual(await again.admit(b), ["app any"]);
      running.delete(podUid("uid-a"));
      await refused(again, "b_default(uid-b)");
      running.delete(podUid("uid-b"));
      assert.deepEqual(await again.admit(newcomer), ["app 0"]);
      await again.start(newcomer);
    });
    test(`${what}: pods run that the kubelet has not heard of, and each may have any memory`, async (t) => {
      const { start, running } = await damaged(t, damage);
      const next = await start([]);
      await refused(next, "the pod with UID uid-a, the pod with UID uid-b, the pod with UID uid-loose");
      running.clear();
      assert.deepEqual(await next.admit(newcomer), ["app 0"]);
    });
  }
  for (const [what, damage] of Object.entries(UNREADABLE)) {
    test(`${what}: the kubelet does not start`, async (t) => {
      const { start, root } = await damaged(t, damage);
      await assert.rejects(start([a, b]));
      assert.ok((await readdir(root)).includes(FILE), "the file stays");
    });
  }
  test("undamaged: a pod that runs keeps its memory, even if the kubelet has not heard of it", async (t) => {
    const { start, running } = await damaged(t, () => Promise.resolve());
    running.delete(podUid("uid-b"));
    const next = await start([]);
    assert.deepEqual(await next.admit(newcomer), ["app 1"]);
    assert.deepEqual(await next.admit(a), ["app 0"]);
  });
});

for (const failure of DISK_FAILURES) {
  test(`memory whose assignment cannot be written (${failure} disk) is not assigned`, async (t) => {
    const root = await temporaryFolder(t);
    await using disk = await FailingDisk.on(root);
    const { admit, made, kept } = await manager(t, two, root);
    await disk.fail(failure);
    await assert.rejects(admit(a), (error) => {
      assert.ok(error instanceof AllocationError);
      assert.equal(error.reason, "UnexpectedAdmissionError");
      assert.match(error.message, /no space left|EROFS/);
      assert.ok(error.message.includes(FILE), error.message);
      return true;
    });
    assert.deepEqual(made.memoryBlocks(podUid("uid-a"), "app"), []);
    assert.match(kept.errors().join(), /pods that need memory of NUMA nodes are rejected/);
    await disk.heal(failure);
    assert.deepEqual(await admit(b), ["app 0"]);
    await made.stop();
    const next = await manager(t, two, root, [b]);
    assert.deepEqual(await next.admit(newcomer), ["app 1"]);
    assert.deepEqual(await next.admit(b), ["app 0"]);
    await next.made.stop();
  });
}
