import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { FailingDisk } from "../../../support/failing-disk.js";
import { sidecar, container, pod } from "../pods.js";
import { allocate, devices, FakePlugin, GPU, idsOf, kit, never, podOf, start, wanting } from "./kit.js";

const TWO = devices({ a: {}, b: {} });
const FILE = "kubelet_internal_checkpoint";
const refusedWith = (message: string) => (error: unknown) => {
  assert.ok(error instanceof AllocationError);
  assert.deepEqual([error.reason, error.message], ["UnexpectedAdmissionError", message]);
  return true;
};

describe("handing out", () => {
  test("one pod after the other, until there are none left, and again after a release", async (t) => {
    const { manager, plug } = await kit(t);
    const plugin = new FakePlugin(TWO);
    await plug(GPU, plugin);
    const [one, two, three] = ["1", "2", "3"].map((uid) => podOf(uid, wanting("c", 1)));
    assert.ok(one && two && three);
    await allocate(manager, one);
    await allocate(manager, two);
    assert.deepEqual([idsOf(manager, one, "c"), idsOf(manager, two, "c")], [["a"], ["b"]]);
    await assert.rejects(
      allocate(manager, three),
      refusedWith("requested number of devices unavailable for example.com/gpu. Requested: 1, Available: 0"),
    );
    manager.release(podUid("1"));
    await allocate(manager, three);
    assert.deepEqual(idsOf(manager, three, "c"), ["a"]);
    assert.deepEqual(manager.grant(three, wanting("c", 1)).env, [{ name: "IDS", value: "a" }]);
    await allocate(manager, three);
    assert.deepEqual(plugin.allocated, [["a"], ["b"], ["a"]], "what a container has is not asked for again");
  });

  test("resources without a plugin are others' business", async (t) => {
    const { manager } = await kit(t);
    const stranger = podOf("1", wanting("c", 1, "example.com/unknown"), container("d", { cpu: "1" }, { cpu: "1" }));
    await allocate(manager, stranger);
    assert.deepEqual(manager.grant(stranger, stranger.spec.containers[0] ?? wanting("c", 1)), {});
    assert.equal(manager.hints(stranger, wanting("c", 1, "example.com/unknown")).size, 0);
  });

  test("devices of ordinary init containers are used again, those of sidecars are not", async (t) => {
    const { manager, plug } = await kit(t);
    await plug(GPU, new FakePlugin(devices({ a: {}, b: {}, c: {} })));
    const many = pod([wanting("app", 2)], {
      initContainers: [wanting("first", 2), { ...sidecar("side"), ...wanting("side", 1), restartPolicy: "Always" }],
    });
    await allocate(manager, many);
    assert.deepEqual(idsOf(manager, many, "first"), ["a", "b"]);
    assert.deepEqual(idsOf(manager, many, "side"), ["a"]);
    assert.deepEqual(idsOf(manager, many, "app"), ["b", "c"]);
    assert.equal(manager.granted.taken(GPU).size, 3);
  });

  test("the plugin's preference and the chosen NUMA node count", async (t) => {
    const { manager, plug } = await kit(t);
    const plugin = new FakePlugin(devices({ a: { nodes: [0] }, b: { nodes: [1] }, c: { nodes: [1] } }), {
      getPreferredAllocationAvailable: true,
    });
    plugin.preferredIds = ["a", "c"];
    await plug(GPU, plugin);
    const one = podOf("1", wanting("c", 1));
    assert.deepEqual(manager.hints(one, wanting("c", 1)).get(GPU)?.length, 3);
    await allocate(manager, one, [1]);
    assert.deepEqual(idsOf(manager, one, "c"), ["c"]);
    assert.deepEqual(plugin.asked, [{ available: ["b", "c"], mustInclude: [], size: 1 }]);
    assert.deepEqual(manager.hints(one, wanting("c", 1)).get(GPU), [
      { nodes: [1], preferred: true },
      { nodes: [0, 1], preferred: false },
    ]);
    assert.deepEqual(manager.hints(one, wanting("c", 2)).get(GPU), [], "another number than it has fits nowhere");
    assert.equal(manager.podHints(podOf("2", wanting("c", 3))).get(GPU)?.length, 0);
  });

  test("a failing plugin: its text, and nothing is held", async (t) => {
    const { manager, plug } = await kit(t);
    const plugin = new FakePlugin(TWO);
    await plug(GPU, plugin);
    plugin.failure = new Error("out of magic");
    await assert.rejects(allocate(manager, podOf("1", wanting("c", 2))), refusedWith("out of magic"));
    plugin.failure = undefined;
    await allocate(manager, podOf("2", wanting("c", 2)));
  });
});

describe("health", () => {
  test("an unhealthy device is not allocated; the pod that has it gets an update", async (t) => {
    const { manager, plug, healthOf } = await kit(t);
    const plugin = new FakePlugin(TWO);
    await plug(GPU, plugin);
    await allocate(manager, podOf("1", wanting("c", 1)));
    plugin.say(devices({ a: { healthy: false }, b: { healthy: false } }));
    assert.deepEqual(healthOf, [["1"]]);
    assert.deepEqual(manager.pool.counts(), {
      capacity: new Map([[GPU, 2]]),
      allocatable: new Map([[GPU, 0]]),
    });
    await assert.rejects(
      allocate(manager, podOf("2", wanting("c", 1))),
      refusedWith("no healthy devices present; cannot allocate unhealthy devices example.com/gpu"),
    );
    plugin.say(devices({ a: { healthy: false }, b: {} }));
    await assert.rejects(
      allocate(manager, podOf("1", wanting("c", 1))),
      refusedWith(
        "previously allocated devices are no longer healthy; cannot allocate unhealthy devices example.com/gpu",
      ),
    );
    await allocate(manager, podOf("2", wanting("c", 1)));
  });

  test("a plugin that stops: none can be had, they count for five minutes, then the node has 0", async (t) => {
    const { manager, plug, clock, running } = await kit(t);
    const plugin = new FakePlugin(TWO);
    await plug(GPU, plugin);
    const holder = podOf("1", wanting("c", 1));
    await allocate(manager, holder);
    await plugin.die();
    assert.ok(plugin.closed);
    const counts = () => {
      const { capacity, allocatable } = manager.pool.counts();
      return [capacity.get(GPU), allocatable.get(GPU)];
    };
    assert.deepEqual(counts(), [2, 0]);
    running.add("1");
    await allocate(manager, holder);
    assert.deepEqual(manager.grant(holder, wanting("c", 1)).env, [{ name: "IDS", value: "a" }]);
    clock.step(5 * 60_000 - 1);
    assert.deepEqual(counts(), [2, 0]);
    clock.step(1);
    assert.deepEqual(counts(), [0, 0]);
    await assert.rejects(
      allocate(manager, podOf("2", wanting("c", 1))),
      refusedWith("cannot allocate unregistered device example.com/gpu"),
    );
    assert.equal(clock.pending, 0);
  });

  test("a plugin that comes back continues with its devices; messages of the former one are ignored", async (t) => {
    const { manager, plug, clock } = await kit(t);
    const [before, after] = [new FakePlugin(TWO), new FakePlugin(devices({ a: {}, b: {}, c: {} }))];
    await plug(GPU, before);
    await allocate(manager, podOf("1", wanting("c", 1)));
    await plug(GPU, after);
    before.say(devices({}));
    await before.die();
    assert.deepEqual([...manager.pool.usable(GPU)], ["a", "b", "c"]);
    await allocate(manager, podOf("2", wanting("c", 1)));
    assert.deepEqual(after.allocated, [["b"]]);
    clock.step(6 * 60_000);
    assert.equal(manager.pool.counts().capacity.get(GPU), 3);
  });
});

describe("just before the start", () => {
  test("only plugins that want it are called, and may refuse", async (t) => {
    const { manager, plug } = await kit(t);
    const plugin = new FakePlugin(TWO, { preStartRequired: true });
    await plug(GPU, plugin);
    await plug("example.com/quiet", new FakePlugin(TWO));
    const one = podOf("1", wanting("c", 2), wanting("d", 1, "example.com/quiet"));
    await allocate(manager, one);
    for (const part of one.spec.containers) await manager.preStart(one, part, never);
    assert.deepEqual(plugin.preStarted, [["a", "b"]]);
    plugin.failure = new Error("not yet");
    await assert.rejects(manager.preStart(one, wanting("c", 2), never), {
      message: "device plugin PreStartContainer rpc failed with err: not yet",
    });
    await plugin.die();
    await assert.rejects(manager.preStart(one, wanting("c", 2), never), /endpoint .* has been stopped/);
  });
});

describe("the next kubelet", () => {
  test("returns earlier allocations, and none to new pods before the plugin is back", async (t) => {
    const first = await kit(t);
    await first.plug(GPU, new FakePlugin(TWO));
    const holder = podOf("1", wanting("c", 1));
    await allocate(first.manager, holder);

    const next = await first.again([holder]);
    const { manager, running } = next;
    assert.deepEqual(manager.pool.counts().capacity, new Map([[GPU, 0]]));
    running.add("1");
    await allocate(manager, holder);
    assert.deepEqual(manager.grant(holder, wanting("c", 1)).env, [{ name: "IDS", value: "a" }]);
    await manager.preStart(holder, wanting("c", 1), never);
    await assert.rejects(
      allocate(manager, podOf("2", wanting("c", 1))),
      refusedWith("no healthy devices present; cannot allocate unhealthy devices example.com/gpu"),
    );
    running.delete("1");
    await assert.rejects(
      allocate(manager, holder),
      refusedWith("no healthy devices present; cannot allocate unhealthy devices example.com/gpu"),
      "after a reboot nothing of it runs",
    );
    await next.plug(GPU, new FakePlugin(TWO));
    await allocate(manager, holder);
    await allocate(manager, podOf("2", wanting("c", 1)));
    assert.deepEqual(idsOf(manager, podOf("2"), "c"), ["b"]);
  });

  test("releases the devices of pods that terminated meanwhile, but not of running unknown ones", async (t) => {
    const first = await kit(t);
    await first.plug(GPU, new FakePlugin(devices({ a: {}, b: {}, c: {} })));
    for (const uid of ["ended", "runs", "known"]) await allocate(first.manager, podOf(uid, wanting("c", 1)));
    const next = await first.again([podOf("known", wanting("c", 1))]);
    next.running.add("runs");
    await next.plug(GPU, new FakePlugin(devices({ a: {}, b: {}, c: {} })));
    await allocate(next.manager, podOf("new", wanting("c", 1)));
    assert.deepEqual(next.manager.granted.uids().sort(), ["known", "new", "runs"]);
  });

  test("sets a broken checkpoint aside, with a warning", async (t) => {
    const first = await kit(t);
    await first.plug(GPU, new FakePlugin(TWO));
    await allocate(first.manager, podOf("1", wanting("c", 1)));
    await first.manager.stop();
    const path = `${first.directory}/${FILE}`;
    await writeFile(path, (await readFile(path, "utf8")).replace('"a"', '"z"'));
    const next = await first.again();
    assert.deepEqual(next.manager.granted.uids(), []);
    const names = await readdir(first.directory);
    assert.ok(names.some((name) => name.startsWith(`${FILE}.corrupt-`)));
    assert.match(next.warnings.join("\n"), /set aside/);
  });

  test("a container may not change how many it wants", async (t) => {
    const { manager, plug } = await kit(t);
    await plug(GPU, new FakePlugin(TWO));
    await allocate(manager, podOf("1", wanting("c", 1)));
    await assert.rejects(
      allocate(manager, podOf("1", wanting("c", 2))),
      refusedWith('pod "1" container "c" changed request for resource "example.com/gpu" from 1 to 2'),
    );
  });
});

test("a container that was admitted before its plugin gets devices when it starts, on disk before that", async (t) => {
  const first = await kit(t);
  const pod = podOf("early", wanting("c", 1), wanting("d", 1));
  await allocate(first.manager, pod);
  await start(first.manager, pod);
  assert.equal(idsOf(first.manager, pod, "c"), undefined, "no plugin offers it");
  first.running.add("early");
  await first.plug(GPU, new FakePlugin(devices({ a: {}, b: {} })));
  await start(first.manager, pod);
  assert.deepEqual([idsOf(first.manager, pod, "c"), idsOf(first.manager, pod, "d")], [["a"], ["b"]]);
  const next = await first.again([pod]);
  assert.deepEqual([idsOf(next.manager, pod, "c"), idsOf(next.manager, pod, "d")], [["a"], ["b"]]);
});

test("a container whose devices are taken, or cannot be written, does not start", async (t) => {
  const { manager, plug, running, directory } = await kit(t);
  const pod = podOf("early", wanting("c", 2));
  await allocate(manager, pod);
  running.add("early");
  await using disk = await FailingDisk.on(directory);
  const plugin = new FakePlugin(devices({ a: {} }));
  await plug(GPU, plugin);
  await assert.rejects(start(manager, pod), /requested number of devices unavailable/);
  plugin.say(devices({ a: {}, b: {} }));
  await disk.fail("full");
  await assert.rejects(start(manager, pod), /no space left/);
  assert.equal(idsOf(manager, pod, "c"), undefined);
  await disk.heal("full");
  await start(manager, pod);
  assert.deepEqual(idsOf(manager, pod, "c"), ["a", "b"]);
});
