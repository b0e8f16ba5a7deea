// Duration of a pod's wait for its volumes, its events meanwhile, and independence of volumes from each other.
// @promise Volumes: A failing volume causes an event and is retried at 0.5 s doubling to 2m2s; a sync waits 2m3s; a
//   hanging volume delays no other volume or pod.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { UnsupportedVolumeError, VolumesNotReadyError, VolumeSetUpError } from "../../../src/main/volumes/errors.js";
import type { SetUpRequest, VolumePlugin } from "../../../src/main/volumes/plugin.js";
import { VolumeError } from "../../../src/main/volumes/volume-error.js";
import { PluginVolumeManager } from "../../../src/main/volumes/volume-manager.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { keptEvents, never, options, podWith, temporaryRoot } from "./temporary-root.js";

const NAME = "example.com/scripted";

/** A plugin whose volumes do what the test says: `ok`, `fail` or `hang`, by name. */
async function scripted(t: TestContext) {
  const root = await temporaryRoot(t);
  const clock = new SteppedClock();
  const events = keptEvents();
  const script = new Map<string, "ok" | "fail" | "hang">();
  const calls: string[] = [];
  const act = async (what: string, volume: string): Promise<void> => {
    calls.push(`${what} ${volume}`);
    switch (script.get(volume)) {
      case "hang":
        return new Promise(() => undefined);
      case "fail":
        throw new Error(`${what} of ${volume} is told to fail`);
      case "ok":
      case undefined:
    }
  };
  const plugin: VolumePlugin = {
    name: NAME,
    source: "scripted",
    async setUp({ pod, volume }: SetUpRequest) {
      await act("set-up", volume.name).catch((error: unknown) => {
        throw new VolumeSetUpError(pod, volume.name, (error as Error).message);
      });
      return { hostPath: `/${volume.name}` };
    },
    tearDown: (_uid, volume) => act("tear-down", volume),
  };
  const onDisk = (uid: string, volume: string): void => {
    mkdirSync(`${root}/pods/${uid}/volumes/example.com~scripted/${volume}`, { recursive: true });
  };
  const volumes = new PluginVolumeManager({ ...options(root), clock, events }, [plugin]);
  const count = (call: string): number => calls.filter((one) => one === call).length;
  return { volumes, clock, events: events.seen, script, calls, count, onDisk };
}

const volume = (name: string) => ({ name, scripted: {} });
test("a failure is an event, tried again at 0.5, 1, 2 s and so on; the pod continues when it succeeds", async (t) => {
  const { volumes, clock, events, script, count } = await scripted(t);
  script.set("bad", "fail");
  const setUp = volumes.setUpPod(podWith([volume("good"), volume("bad")]), never);
  for (const [tries, delayMs] of [500, 1000, 2000, 4000].entries()) {
    await until("the next try", () => events.length === tries + 1 && clock.pending === 2);
    clock.step(delayMs - 1);
    assert.equal(count("set-up bad"), tries + 1, `not before ${delayMs} ms`);
    clock.step(1);
  }
  await until("the fifth try", () => events.length === 5 && clock.pending === 2);
  script.set("bad", "ok");
  clock.step(8000);
  assert.deepEqual(
    [...(await setUp)],
    [
      ["good", { hostPath: "/good" }],
      ["bad", { hostPath: "/bad" }],
    ],
  );
  assert.equal(count("set-up good"), 1, "what is set up is not done again");
  assert.deepEqual(events[0], {
    type: "Warning",
    reason: "FailedMount",
    message: 'MountVolume.SetUp failed for volume "bad" : set-up of bad is told to fail',
  });
  assert.equal(clock.pending, 0, "no timer is left");
});

test("after 2m3s the wait ends with the names of the missing volumes, and the back-off continues", async (t) => {
  const { volumes, clock, events, script, count } = await scripted(t);
  script.set("b", "fail").set("a", "hang");
  const pod = podWith([volume("b"), volume("ok"), volume("a")]);
  const ended = assert.rejects(volumes.setUpPod(pod, never), (error) => {
    assert.ok(error instanceof VolumesNotReadyError);
    assert.equal(
      error.message,
      "Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[], " +
        "failed to process volumes=[]: context deadline exceeded",
    );
    assert.match(String(error.cause), /set-up of b is told to fail/);
    return true;
  });
  await until("the first failure", () => events.length === 1 && clock.pending === 2);
  clock.step(122_999);
  await until("the second failure", () => events.length === 2 && clock.pending === 2);
  clock.step(1);
  await ended;
  assert.equal(clock.pending, 0);
  script.set("b", "ok").set("a", "ok");
  // The operation that hangs is waited for, not doubled: its volume stays missing.
  const again = assert.rejects(volumes.setUpPod(pod, never), /unmounted volumes=\[a\]/);
  await until("the wait for the back-off", () => clock.pending === 2);
  clock.step(1000);
  await until("the third try", () => count("set-up b") === 3);
  clock.step(122_000);
  await again;
  assert.deepEqual([count("set-up a"), clock.pending], [1, 0]);
});

test("a pod that is to go ends the wait at once, and its teardown does not wait for the set-up's back-off", async (t) => {
  const { volumes, clock, events, script, onDisk, calls } = await scripted(t);
  script.set("bad", "fail");
  const controller = new AbortController();
  const setUp = volumes.setUpPod(podWith([volume("bad")]), controller.signal);
  await until("the first failure", () => events.length === 1);
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(setUp, /being terminated/);
  assert.equal(clock.pending, 0);
  script.set("bad", "ok");
  onDisk("uid-1", "bad");
  await volumes.tearDownPod(podUid("uid-1"));
  assert.equal(calls.at(-1), "tear-down bad");
});

test("no back-off of a removed pod is kept, also for volumes that left nothing on disk", async (t) => {
  const { volumes, events, script, calls } = await scripted(t);
  script.set("bad", "fail");
  const controller = new AbortController();
  const setUp = volumes.setUpPod(podWith([volume("bad")]), controller.signal);
  await until("the first failure", () => events.length === 1);
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(setUp, /being terminated/);
  await volumes.tearDownPod(podUid("uid-1"));
  script.set("bad", "ok");
  await volumes.setUpPod(podWith([volume("bad")]), never); // no clock is stepped
  assert.deepEqual(calls, ["set-up bad", "set-up bad"]);
});

test("a failing teardown backs off by itself; the pod's other volumes and other pods go", async (t) => {
  const { volumes, clock, script, onDisk, count } = await scripted(t);
  script.set("stuck", "fail");
  for (const name of ["stuck", "fine"]) onDisk("uid-1", name);
  onDisk("uid-2", "other");
  const failing = /tear-down of stuck is told to fail/;
  await assert.rejects(volumes.tearDownPod(podUid("uid-1")), failing);
  assert.equal(count("tear-down fine"), 1);
  await volumes.tearDownPod(podUid("uid-2"));
  assert.equal(count("tear-down other"), 1);
  await assert.rejects(volumes.tearDownPod(podUid("uid-1")), failing, "too early: the last error again");
  assert.equal(count("tear-down stuck"), 1);
  clock.step(500);
  await assert.rejects(volumes.tearDownPod(podUid("uid-1")), failing);
  clock.step(999);
  await assert.rejects(volumes.tearDownPod(podUid("uid-1")), failing);
  assert.equal(count("tear-down stuck"), 2);
  clock.step(1);
  script.set("stuck", "ok");
  await volumes.tearDownPod(podUid("uid-1"));
  assert.equal(count("tear-down stuck"), 3);
});

test("the wait for a hung teardown ends; the teardown is not repeated, and no other volume waits", async (t) => {
  const { volumes, clock, script, onDisk, count } = await scripted(t);
  script.set("hung", "hang");
  onDisk("uid-1", "hung");
  onDisk("uid-2", "other");
  const first = assert.rejects(volumes.tearDownPod(podUid("uid-1")), VolumeError);
  await until("the teardown", () => count("tear-down hung") === 1);
  await volumes.tearDownPod(podUid("uid-2"));
  clock.step(15_000);
  await first;
  await assert.rejects(volumes.removePodDirectory(podUid("uid-1")), VolumeError);
  assert.equal(count("tear-down hung"), 1);
  assert.equal(clock.pending, 0);
});

test("an unsupported source is reported at once, and nothing is created", async (t) => {
  const { volumes, events, calls } = await scripted(t);
  const pod = podWith([volume("fine"), { name: "far", nfs: { server: "x", path: "/" } }]);
  await assert.rejects(volumes.setUpPod(pod, never), UnsupportedVolumeError);
  assert.match(
    events[0]?.message ?? "",
    /^Unable to attach or mount volumes: unmounted volumes=\[far fine\], unattached volumes=\[\], failed to process volumes=\[far\]: .*nfs/,
  );
  assert.deepEqual(calls, []);
});

test("a pod with thousands of volumes sets up, and tears down, 64 of them at a time", async (t) => {
  const root = await temporaryRoot(t);
  const names = Array.from({ length: 1000 }, (_, index) => `v${index}`);
  let [running, most] = [0, 0];
  const act = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  const plugin: VolumePlugin = {
    ...{ name: NAME, source: "scripted" },
    setUp: async ({ volume: { name } }: SetUpRequest) => (await act(), { hostPath: `/${name}` }),
    tearDown: act,
  };
  const volumes = new PluginVolumeManager({ ...options(root), clock: new SteppedClock() }, [plugin]);
  const pod = podWith(names.map(volume));
  assert.equal((await volumes.setUpPod(pod, never)).size, names.length);
  assert.equal(most, 64);
  most = 0;
  const { uid } = pod.metadata;
  for (const name of names) mkdirSync(`${root}/pods/${uid}/volumes/example.com~scripted/${name}`, { recursive: true });
  await volumes.tearDownPod(uid);
  assert.equal(most, 64);
});
