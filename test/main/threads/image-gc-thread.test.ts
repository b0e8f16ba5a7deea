// The image-gc thread as main runs it, in a real thread on a fake runtime. Images that main refuses stay. Grants of a
// thread that exits in the middle of a removal are released.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ImageLeases } from "../../../src/main/pods/collection/image-leases.js";
import { ImageGcThread } from "../../../src/main/threads/image-gc-thread.js";
import { lateThreads } from "../../../src/main/threads/late-threads.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { BoardReader, type ThreadSnapshot } from "../../../src/shared/base/queue/board.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { startFakeCri } from "../../fake-cri/fake-cri.js";
import { socketPath } from "../../shared/kubernetes/cri/support.js";
import { keptLog, until } from "../../support/sources-kit.js";

const USED = "registry.test/used:1";
const PINNED = "registry.test/pinned:1";
const SPARE = "registry.test/spare:1";
const never = new AbortController().signal;

async function build(t: TestContext) {
  const fake = await startFakeCri({ socketPath: await socketPath(t), images: [USED, SPARE] });
  t.after(() => fake.stop());
  fake.addImage(PINNED, { pinned: true });
  const { log } = keptLog();
  const registry = new ThreadRegistry("main");
  const context = new ThreadContext({
    clock: systemClock,
    log,
    metrics: threadMetrics(registry),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  const leases = new ImageLeases(() => new Set([USED]), systemClock);
  const imageGc = new ImageGcThread({
    context,
    init: {
      imageEndpoint: fake.endpoint,
      runtimeEndpoint: fake.endpoint,
      runtimeRequestTimeoutMs: 10_000,
      listStreaming: false,
      criChannel: "own",
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 80,
      imageMinimumGCAgeMs: 0,
      imageMaximumGCAgeMs: 0,
      imagesByHandler: false,
    },
    clock: systemClock,
    log,
    owner: Promise.resolve({
      collection: {
        leases,
        upcalls: {
          imagesInUse: (images) =>
            Promise.resolve(images.filter(({ repoTags }) => repoTags.includes(USED)).map(({ id }) => id)),
          grant: (proposal) => Promise.resolve(leases.grant(proposal)),
          release: (generation, ids) => {
            leases.release(generation, ids);
          },
          warn: () => undefined,
        },
      },
    }),
  });
  t.after(() => imageGc.stop());
  const rested = (): Promise<void> => until("the thread to rest", () => imageGc.thread.state === "resting");
  // The first round lists the images.
  await until("the first round", () => imageGc.unusedImages().length > 0);
  await rested();
  const images = (): string[] => [...fake.state.images.values()].flatMap(({ repoTags }) => repoTags).sort();
  return { fake, registry, context, leases, imageGc, images, rested };
}

test("on order every unused image goes, by grant only, and is counted", async (t) => {
  const { leases, imageGc, images, rested } = await build(t);
  const lease = await leases.lease(SPARE, never);
  assert.deepEqual(await imageGc.removeUnusedImages(), { images: 0, bytes: 0 });
  lease.end();
  const freed = await imageGc.removeUnusedImages();
  assert.deepEqual([freed, images()], [{ images: 1, bytes: 1024 * 1024 }, [PINNED, USED]]);
  assert.equal(leases.granted, 0);
  await rested();
  const families = (await imageGc.metrics()).flatMap((snapshot) => snapshot.families);
  const value = (name: string): number | undefined =>
    families.find((family) => family.name === name)?.samples.find(({ labels }) => labels["reason"] !== "age")?.value;
  assert.deepEqual([value("kubelet_image_garbage_collected_total"), value("nodelet_image_gc_refused_total")], [1, 1]);
});

test("a thread that dies while it removes an image holds it no longer, and its successor can", async (t) => {
  const { fake, leases, imageGc, images } = await build(t);
  fake.failpoint("RemoveImage", "1*hang");
  const order = imageGc.removeUnusedImages();
  await until("the removal to be under way", () => fake.calls.some(({ verb }) => verb === "RemoveImage"));
  assert.equal(leases.granted, 1);
  const begun = leases.lease(SPARE, never);
  await imageGc.thread.terminate();
  await assert.rejects(order, { name: "ThreadExitedError" });
  (await begun).end();
  fake.failpoint("RemoveImage", "off");
  await imageGc.removeUnusedImages();
  assert.deepEqual(images(), [PINNED, USED]);
});

test("the thread exists for the length of a round only, and a scrape between two rounds does not start it", async (t) => {
  const { fake, context, imageGc, rested } = await build(t);
  const { generation } = imageGc.thread;
  const slot = (): ThreadSnapshot => new BoardReader(context.board, systemClock).read("image-gc");
  const lists = (): number => fake.calls.filter(({ verb }) => verb === "ListImages").length;
  assert.deepEqual([slot().state, slot().ageMs, slot().generation], ["resting", Infinity, generation]);
  assert.deepEqual(lateThreads([slot()], { "image-gc": 1 }), []);
  const calls = lists();
  assert.equal((await imageGc.metrics()).length, 1);
  assert.deepEqual([imageGc.thread.generation, lists()], [generation, calls]);
  // Two callers at once share one thread; each has its work done.
  await Promise.all([imageGc.removeUnusedImages(), imageGc.removeUnusedImages()]);
  await rested();
  assert.deepEqual([imageGc.thread.generation, lists()], [generation + 1, calls + 2]);
});

test("counters go on from one thread to the next, and gauges end with their thread", async (t) => {
  const { imageGc, rested } = await build(t);
  const counted = async (): Promise<number> => {
    const families = (await imageGc.metrics()).flatMap((snapshot) => snapshot.families);
    assert.equal(
      families.some(({ type }) => type === "gauge"),
      false,
    );
    const calls = families.filter(({ name }) => name === "kubelet_runtime_operations_total");
    const samples = calls.flatMap((family) => family.samples);
    return samples.find(({ labels }) => labels["operation_type"] === "list_images")?.value ?? 0;
  };
  assert.equal(await counted(), 1);
  for (let rounds = 2; rounds <= 3; rounds++) {
    await imageGc.removeUnusedImages();
    await rested();
    assert.equal(await counted(), rounds);
  }
});

test("a thread at rest is woken for an ordered fault, is restarted as any other, and rests again", async (t) => {
  const { registry, imageGc, rested } = await build(t);
  const { generation } = imageGc.thread;
  await imageGc.thread.terminate();
  await until("the restart", () => imageGc.thread.generation === generation + 2);
  await rested();
  assert.equal(imageGc.thread.restarts, 1);
  const { families } = await registry.exportSnapshot();
  const restarts = families.find(({ name }) => name === "nodelet_thread_restarts_total")?.samples;
  assert.deepEqual(restarts, [{ value: 1, labels: { thread: "image-gc", reason: "terminated" } }]);
});

test("a stop while the thread rests or starts ends it for good, and rejects what waits for it", async (t) => {
  const { imageGc } = await build(t);
  const { generation } = imageGc.thread;
  const order = imageGc.thread.use(60_000, () => Promise.resolve("done"));
  const refused = assert.rejects(order, { name: "ThreadStoppedError" });
  await imageGc.stop();
  await refused;
  await assert.rejects(imageGc.removeUnusedImages(), { name: "ThreadStoppedError" });
  assert.ok(imageGc.thread.generation <= generation + 1);
});
