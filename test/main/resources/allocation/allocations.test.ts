// The two state files: upstream's form, what survives the kubelet, what happens to garbage.

import assert from "node:assert/strict";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Allocations } from "../../../../src/main/resources/allocation/allocations.js";
import { decodeCheckpoint, encodeCheckpoint } from "../../../../src/main/resources/allocation/checkpoint.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** A file as a kubelet of another make leaves it. */
const UPSTREAM =
  '{"data":"{\\"entries\\":{\\"pod1\\":{\\"ContainerResources\\":{\\"container1\\":{\\"requests\\":{\\"cpu\\":\\"1Ki\\",\\"memory\\":\\"1Ki\\"}}}}}}","checksum":1178570812}';

const CPU = { requests: { cpu: "100m" } };

test("a checkpoint of upstream is read, and written as it was", () => {
  const entries = decodeCheckpoint(JSON.parse(UPSTREAM));
  assert.deepEqual(
    [...entries],
    [["pod1", { containers: { container1: { requests: { cpu: "1Ki", memory: "1Ki" } } } }]],
  );
  assert.equal(JSON.stringify(encodeCheckpoint(entries)), UPSTREAM);
});

const garbage: [name: string, value: unknown][] = [
  ["no object", []],
  ["another checksum", { ...(JSON.parse(UPSTREAM) as object), checksum: 1 }],
  ["no text", { data: {}, checksum: 0 }],
];
for (const [name, value] of garbage) {
  test(`a file with ${name} is not a checkpoint`, () => {
    assert.throws(() => decodeCheckpoint(value));
  });
}

async function build(t: Parameters<typeof temporaryFolder>[0]) {
  const root = await temporaryFolder(t);
  const kept = keptLog();
  const open = async (): Promise<Allocations> => {
    const allocations = new Allocations(root, new SteppedClock(), kept.log);
    await allocations.load();
    return allocations;
  };
  return { root, kept, open };
}

test("both states outlive the kubelet; those of a forgotten pod do not", async (t) => {
  const { open } = await build(t);
  const first = await open();
  first.allocate(podUid("uid-a"), { containers: { app: CPU }, pod: CPU });
  first.actuate(podUid("uid-a"), ["app"], { containers: { app: {} } }, true);
  first.allocate(podUid("uid-b"), { containers: {} });
  first.allocate(podUid("uid-c"), { containers: {} });
  first.forget(podUid("uid-b"));
  await first.flush();
  const second = await open();
  assert.deepEqual(second.allocated(podUid("uid-a")), { containers: { app: CPU }, pod: CPU });
  assert.deepEqual(second.actuated(podUid("uid-a")), { containers: { app: {} } });
  assert.equal(second.allocated(podUid("uid-b")), undefined);
  second.keepOnly((uid) => uid === "uid-a");
  await second.flush();
  assert.equal((await open()).allocated(podUid("uid-c")), undefined);
});

test("after a reboot allocations are known as before, and no container was given anything", async (t) => {
  const { open } = await build(t);
  const first = await open();
  for (const uid of ["runs", "ran"]) {
    first.allocate(podUid(uid), { containers: { app: CPU } });
    first.actuate(podUid(uid), ["app"], { containers: { app: CPU } }, true);
  }
  await first.flush();
  const second = await open();
  second.keepActuated(new Set([podUid("runs")]));
  await second.flush();
  const third = await open();
  assert.deepEqual(third.allocated(podUid("ran")), { containers: { app: CPU } });
  assert.deepEqual(
    [third.actuated(podUid("ran")), third.actuated(podUid("runs"))],
    [undefined, { containers: { app: CPU } }],
  );
});

test("a container that is started brings the pod's own values only when nothing is known of them", () => {
  const allocations = new Allocations("/dev/null/nowhere", new SteppedClock(), keptLog().log);
  allocations.actuate(podUid("uid-a"), ["one"], { containers: { one: CPU }, pod: CPU }, false);
  assert.deepEqual(allocations.actuated(podUid("uid-a"))?.pod, CPU);
  const grown = { containers: { one: CPU, two: CPU }, pod: { requests: { cpu: "1" } } };
  allocations.actuate(podUid("uid-a"), ["two"], grown, false);
  assert.deepEqual(allocations.actuated(podUid("uid-a"))?.pod, CPU);
  allocations.actuate(podUid("uid-a"), ["one"], grown, true);
  assert.deepEqual(allocations.actuated(podUid("uid-a")), grown);
});

/** Which of the two files were written since the last asking. */
async function gathering(t: Parameters<typeof temporaryFolder>[0]) {
  const root = await temporaryFolder(t);
  const clock = new SteppedClock();
  const allocations = new Allocations(root, clock, keptLog().log);
  await allocations.load();
  const written = async (): Promise<string[]> => {
    // Nothing is being written that has not begun: flush() would begin it.
    if (clock.pending === 0) await allocations.flush();
    const names = (await readdir(root)).sort();
    await Promise.all(names.map((name) => rm(join(root, name))));
    return names.map((name) => name.replace("_pods_state", ""));
  };
  return { clock, allocations, written };
}

test("allocations equal to the definitions are written together, and only changed ones", async (t) => {
  const { clock, allocations, written } = await gathering(t);
  for (const uid of ["uid-a", "uid-b"]) {
    allocations.allocate(podUid(uid), { containers: { app: CPU } });
    clock.step(200);
    allocations.actuate(podUid(uid), ["app"], { containers: { app: CPU } }, false);
  }
  assert.deepEqual(await written(), []);
  clock.step(100);
  assert.deepEqual(await written(), ["actuated", "allocated"]);
  allocations.allocate(podUid("uid-a"), { containers: { app: CPU } });
  allocations.actuate(podUid("uid-a"), ["app"], { containers: { app: CPU } }, true);
  assert.equal(clock.pending, 0, "nothing new");
  allocations.allocate(podUid("uid-c"), { containers: {} });
  clock.step(500);
  assert.deepEqual(await written(), ["allocated"]);
  allocations.forget(podUid("uid-c"));
  allocations.forget(podUid("uid-a"));
  clock.step(500);
  assert.deepEqual(await written(), ["actuated", "allocated"]);
});

test("a resize is written at once, together with the gathered changes", async (t) => {
  const { clock, allocations, written } = await gathering(t);
  const more = { requests: { cpu: "200m" } };
  allocations.allocate(podUid("uid-a"), { containers: { app: CPU } });
  allocations.writeNow();
  assert.deepEqual(await written(), ["allocated"]);
  allocations.actuate(podUid("uid-a"), ["app"], { containers: { app: CPU } }, false);
  allocations.allocate(podUid("uid-a"), { containers: { app: more } });
  assert.equal(clock.pending, 0);
  assert.deepEqual(await written(), ["actuated", "allocated"]);
  allocations.actuate(podUid("uid-a"), ["app"], { containers: { app: more } }, true);
  assert.equal(clock.pending, 0);
  assert.deepEqual(await written(), ["actuated"]);
});

test("garbage is set aside with a warning", async (t) => {
  const { root, kept, open } = await build(t);
  await writeFile(join(root, "allocated_pods_state"), "{");
  await writeFile(join(root, "actuated_pods_state"), UPSTREAM);
  const allocations = await open();
  assert.equal(allocations.allocated(podUid("pod1")), undefined);
  assert.notEqual(allocations.actuated(podUid("pod1")), undefined);
  assert.ok((await readdir(root)).some((name) => name.startsWith("allocated_pods_state.corrupt-")));
  assert.match(JSON.stringify(kept), /is not usable/);
});

test("an unwritable folder is reported once, and costs nothing else", async (t) => {
  const { root, kept, open } = await build(t);
  const allocations = await open();
  await mkdir(join(root, "allocated_pods_state"));
  for (const uid of ["uid-a", "uid-b"]) {
    allocations.allocate(podUid(uid), { containers: {} });
    await allocations.flush();
  }
  assert.notEqual(allocations.allocated(podUid("uid-b")), undefined);
  const logged = JSON.stringify(kept).split("cannot write the allocated resources of pods").length - 1;
  assert.equal(logged, 1);
});
