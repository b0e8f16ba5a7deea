// What must always hold on main: code that breaks it gets an InvariantError with the rule in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { IdSlots } from "../../../src/main/containers/user-namespaces/id-slots.js";
import { Components } from "../../../src/main/model/components.js";
import { PodWorker } from "../../../src/main/pods/sync/pod-worker.js";
import { VolumeOperations } from "../../../src/main/volumes/world/operations.js";
import { steadyTime } from "../../../src/shared/base/clock/moments.js";
import { pod } from "../../support/pods.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle, SyncWorld } from "../../support/sync-kit.js";

const broken = (rule: string) => ({ name: "InvariantError", message: `invariant broken: ${rule}` });

function worker(): PodWorker {
  const [world, web] = [new SyncWorld(), pod()];
  return new PodWorker(web.metadata.uid, web, world.workerDeps(web.metadata.uid));
}

test("a terminating pod cannot become anything but terminated, and a terminated pod nothing else", async () => {
  const terminating = worker();
  terminating.become("terminating", "deleted");
  assert.throws(() => terminating.become("syncing", "a defect"), broken("a terminating pod only becomes terminated"));
  assert.equal(terminating.state, "terminating");
  terminating.become("terminated", "nothing is left");
  assert.throws(() => terminating.become("ending", "a defect"), broken("a terminated pod stays terminated"));
  await terminating.stop();
});

test("the deadline of a pod that ends cannot move later", async () => {
  const ending = worker();
  ending.fail({ cause: "failed", deadline: steadyTime(1000) });
  assert.throws(
    () => ending["ending"].startTermination({ cause: "failed", deadline: steadyTime(2000) }),
    broken("a pod's deadline only moves earlier"),
  );
  await settle();
  await ending.stop();
});

test("a component cannot start a second time while it runs", async () => {
  const components = new Components([{ name: "a" }], { error: () => undefined, debug: () => undefined });
  await components.start();
  await assert.rejects(components.start(), broken("a component starts once until it is stopped"));
  await components.stop();
  await components.start();
});

test("a pod gets ids once, and at least one", () => {
  const slots = new IdSlots();
  slots.allocate("uid-a", { first: 0, length: 10 }, 5);
  assert.throws(
    () => slots.allocate("uid-a", { first: 0, length: 10 }, 5),
    broken("a pod gets its ids once until they are released"),
  );
  assert.throws(() => slots.allocate("uid-b", { first: 0, length: 10 }, 0), broken("a pod gets at least one id"));
});

test("a second operation on a volume cannot begin beside the first", async () => {
  const operations = new VolumeOperations(new SteppedClock());
  let finish = (): void => undefined;
  const first = new Promise<void>((resolve) => (finish = resolve));
  const running = operations["start"]("uid/volume", "set-up", () => first);
  assert.throws(
    () => operations["start"]("uid/volume", "tear-down", () => Promise.resolve()),
    broken("one operation at a time runs on a volume"),
  );
  finish();
  await running;
});
