// A run of image garbage collection: removed and kept images, and the message when too little space was freed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSandboxImage } from "../../../src/shared/kubernetes/cri/sandbox-image.js";
import { readImageFs } from "../../../src/workers/image-gc/image-fs.js";
import { ImageWorld, MIB } from "./image-gc-kit.js";

const PERIOD = 300_000;

test("below the high threshold no image is removed", async () => {
  const world = new ImageWorld();
  world.add("a", 400);
  world.add("b", 400);
  await world.start();
  await world.step(PERIOD);
  assert.deepEqual([world.removed, world.proposals, world.events], [[], [], []]);
  assert.equal(world.lists, 2);
});

test("above it the images unused longest go until the low threshold is reached, at the very start too", async () => {
  const world = new ImageWorld();
  for (const id of ["a", "b", "c"]) world.add(id, 60);
  world.otherwiseUsed = 700 * MIB;
  await world.start();
  // 880 of 1000 MiB: 80 have to go, one is too little.
  assert.deepEqual(world.removed, ["a", "b"]);
  assert.deepEqual(world.events, []);
  assert.equal(world.metrics.space, 2);
  assert.equal(world.granted.size, 0, "nothing stays granted");
});

test("used images, pinned ones, those of other clients' containers and the runtime's sandbox image stay; recently used ones are removed last", async () => {
  const world = new ImageWorld();
  world.sandboxImage = "registry.test/pause:1";
  world.add("used");
  world.add("pinned", 100, { pinned: true });
  world.add("pause");
  world.add("others");
  world.containers = ["registry.test/others:1"];
  world.add("was-used");
  world.add("never");
  for (const id of ["used", "was-used"]) world.inUse.add(id);
  await world.start();
  world.inUse.delete("was-used");
  world.otherwiseUsed = 400 * MIB;
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["never", "was-used"]);
});

test("an image younger than the minimum age stays, unless it was there before the kubelet", async () => {
  const world = new ImageWorld({ imageMinimumGCAgeMs: 2 * PERIOD });
  world.otherwiseUsed = 600 * MIB;
  world.add("old", 10);
  await world.start();
  world.add("young", 400);
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["old"]);
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["old"]);
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["old", "young"]);
});

for (const hours of [2, -2]) {
  test(`a clock that is set by ${hours} h changes nothing about an image's age`, async () => {
    const world = new ImageWorld({ imageMinimumGCAgeMs: PERIOD + 1000, imageMaximumGCAgeMs: 3 * PERIOD });
    await world.start();
    world.add("young", 900);
    world.inUse.add("young");
    await world.step(PERIOD);
    world.inUse.delete("young");
    world.clock.jump(hours * 3_600_000);
    await world.step(PERIOD);
    assert.deepEqual(world.removed, [], "not before its time");
    await world.step(PERIOD);
    assert.deepEqual(world.removed, ["young"], "nor after it");
  });
}

test("after a restart of the thread alone every image counts as just pulled", async () => {
  const world = new ImageWorld({}, 2);
  world.add("a", 900);
  await world.start();
  assert.deepEqual(world.removed, []);
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["a"]);
});

test("an image that main keeps or the runtime does not remove is skipped, and counted", async () => {
  const world = new ImageWorld();
  for (const id of ["a", "b", "c"]) world.add(id, 100);
  world.otherwiseUsed = 600 * MIB;
  world.refused.add("a");
  world.failing.add("b");
  await world.start();
  assert.deepEqual(world.removed, ["c"]);
  assert.equal(world.metrics.refused, 1);
  assert.match(world.kept.errors().join("\n"), /cannot remove image registry.test\/b:1/);
});

test("too little freed space is an event with the amount, and the second failure in a row one more", async () => {
  const world = new ImageWorld();
  world.add("a", 50);
  world.otherwiseUsed = 950 * MIB;
  await world.start();
  assert.deepEqual(world.events, [
    [
      "FreeDiskSpaceFailed",
      "Insufficient free disk space on the node's image filesystem (100% of 1000 MiB used). " +
        `Failed to free sufficient space by deleting unused images (freed ${50 * MIB} bytes). ` +
        "Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
    ],
  ]);
  await world.step(PERIOD);
  assert.deepEqual(
    world.events.map(([reason]) => reason),
    ["FreeDiskSpaceFailed", "FreeDiskSpaceFailed", "ImageGCFailed"],
  );
});

test("one failure of the runtime is no event, two in a row are; a good run in between forgets it", async () => {
  const world = new ImageWorld();
  world.listFails = new Error("no runtime");
  await world.start();
  world.listFails = undefined;
  await world.step(PERIOD);
  world.listFails = new Error("no runtime");
  await world.step(PERIOD);
  assert.deepEqual(world.events, []);
  await world.step(PERIOD);
  assert.deepEqual(world.events, [["ImageGCFailed", "no runtime"]]);
});

test("a disk without capacity, and an image without id, are events", async () => {
  const world = new ImageWorld();
  world.capacity = 0;
  world.add("", 1, { repoTags: ["registry.test/odd:1"] });
  await world.start();
  assert.deepEqual(world.events, [
    ["InvalidImageID", "ImageID is not valid, skipping, image: registry.test/odd:1"],
    ["InvalidDiskCapacity", "invalid capacity 0 on image filesystem"],
  ]);
});

test("an image unused for longer than the maximum age is removed at any disk usage, once the kubelet ran that long", async () => {
  const world = new ImageWorld({ imageMaximumGCAgeMs: 2 * PERIOD, imageGCHighThresholdPercent: 100 });
  world.add("never", 1);
  world.add("used", 1);
  world.add("was-used", 1);
  for (const id of ["used", "was-used"]) world.inUse.add(id);
  await world.start();
  await world.step(PERIOD);
  world.inUse.delete("was-used");
  await world.step(PERIOD);
  assert.deepEqual(world.removed, []);
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["never"]);
  await world.step(PERIOD);
  assert.deepEqual(world.removed, ["never", "was-used"]);
  assert.deepEqual([world.metrics.age, world.metrics.space], [2, 0]);
});

test("with both limits off the images are listed, and removed only by an order of main", async () => {
  const world = new ImageWorld({ imageGCHighThresholdPercent: 100 });
  world.add("a", 1000);
  world.add("used", 100);
  world.inUse.add("used");
  await world.start();
  await world.step(PERIOD);
  assert.deepEqual([world.removed, world.lists], [[], 2]);
  world.add("young", 1);
  assert.deepEqual(await world.removeUnused(), { images: 1, bytes: 1000 * MIB });
  assert.deepEqual(world.removed, ["a"]);
});

test("while main does not know all users no thread is started, and main tries again each second", async () => {
  const world = new ImageWorld();
  world.add("a", 1000);
  world.known = false;
  await world.start();
  for (let second = 0; second < 5; second++) await world.step(1000);
  assert.deepEqual([world.lists, world.removed], [0, []]);
  world.known = true;
  await world.step(1000);
  assert.deepEqual(world.removed, ["a"]);
  assert.deepEqual(world.kept.errors(), []);
});

test("nothing is removed if main turns out not to know the users", async () => {
  const world = new ImageWorld();
  world.add("a", 1000);
  world.known = false;
  await assert.rejects(world.removeUnused(), { name: "OperatorError" });
  assert.deepEqual(world.removed, []);
});

test("many are granted few at a time", async () => {
  const world = new ImageWorld();
  for (let index = 0; index < 20; index++) world.add(`i${index}`, 50);
  await world.removeUnused();
  assert.deepEqual(
    world.proposals.map(({ length }) => length),
    [8, 8, 4],
  );
});

test("a kubelet that stops leaves no timer and begins no removal", async () => {
  const world = new ImageWorld();
  for (let index = 0; index < 3; index++) world.add(`i${index}`, 400);
  const stopped = world.start();
  await world.stop();
  await stopped;
  assert.deepEqual([world.removed, world.clock.pending], [[], 0]);
});

test("the sandbox image is read from containerd's configuration, and from nothing else", () => {
  const config = JSON.stringify({ containerd: {}, sandboxImage: "registry.k8s.io/pause:3.6" });
  const cases = [config, "", "{}", "no json", "null", `{"sandboxImage":7}`, `{"sandboxImage":""}`];
  assert.deepEqual(cases.map(parseSandboxImage), ["registry.k8s.io/pause:3.6", ...Array<undefined>(6)]);
});

test("the usage is that of the runtime's image file system", async () => {
  const at = (...mountpoints: string[]) => ({
    imageFsInfo: () =>
      Promise.resolve({
        imageFilesystems: mountpoints.map((mountpoint) => ({
          timestamp: 0n,
          fsId: { mountpoint },
          usedBytes: undefined,
          inodesUsed: undefined,
        })),
        containerFilesystems: [],
      }),
  });
  const { mountpoint, capacity, available } = await readImageFs(at("/"));
  assert.equal(mountpoint, "/");
  assert.ok(available > 0 && available <= capacity);
  await assert.rejects(
    readImageFs(at("/no/such/place")),
    /cannot read the runtime's image file system \/no\/such\/place/,
  );
  await assert.rejects(readImageFs(at()), { name: "OperatorError" });
});

test("copies of an image for several runtime handlers go one by one, each by its handler, with the gate alone", async () => {
  for (const imagesByHandler of [true, false]) {
    const world = new ImageWorld({ imagesByHandler });
    world.add("a", 400, { runtimeHandler: "runc" });
    world.add("a", 400, { runtimeHandler: "kata" });
    world.otherwiseUsed = 150 * MIB;
    await world.start();
    await world.removeUnused();
    assert.deepEqual(world.handlersOfRemovals, imagesByHandler ? ["a runc", "a kata"] : []);
  }
});
