// The image-gc thread as main runs it, in a real thread on a fake runtime. Images that main refuses stay. Grants of a
// thread that exits in the middle of a removal are released.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ImageLeases } from "../../../src/main/pods/collection/image-leases.js";
import { ImageGcThread } from "../../../src/main/threads/image-gc-thread.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { startFakeCri } from "../../fake-cri/fake-cri.js";
import { socketPath } from "../../shared/kubernetes/cri/support.js";
import { keptLog, temporaryFolder, until } from "../../support/sources-kit.js";

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
  const containerLogsDir = await temporaryFolder(t);
  const imageGc = new ImageGcThread({
    context,
    init: {
      imageEndpoint: fake.endpoint,
      runtimeEndpoint: fake.endpoint,
      runtimeRequestTimeoutMs: 10_000,
      listStreaming: false,
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 80,
      imageMinimumGCAgeMs: 0,
      imageMaximumGCAgeMs: 0,
      imagePeriodMs: 300_000,
      imagesByHandler: false,
      linkPeriodMs: 60_000,
      containerLogsDir,
    },
    owner: Promise.resolve({
      collection: {
        leases,
        upcalls: {
          imagesInUse: (images) =>
            Promise.resolve(images.filter(({ repoTags }) => repoTags.includes(USED)).map(({ id }) => id)),
          grant: (proposal) => Promise.resolve(leases.grant(proposal)),
          release: (generation, ids) => {
            leases.release(generation, ids);
            return Promise.resolve();
          },
          containersAlive: () => Promise.resolve([]),
          warn: () => Promise.resolve(),
        },
      },
    }),
  });
  t.after(() => imageGc.stop());
  await imageGc.thread.start();
  const images = (): string[] => [...fake.state.images.values()].flatMap(({ repoTags }) => repoTags).sort();
  return { fake, leases, imageGc, images };
}

test("on order every unused image goes, by grant only, and is counted", async (t) => {
  const { leases, imageGc, images } = await build(t);
  const lease = await leases.begin(SPARE, never);
  assert.deepEqual(await imageGc.removeUnusedImages(), { images: 0, bytes: 0 });
  lease.end();
  const freed = await imageGc.removeUnusedImages();
  assert.deepEqual([freed, images()], [{ images: 1, bytes: 1024 * 1024 }, [PINNED, USED]]);
  assert.equal(leases.granted, 0);
  const { families } = await imageGc.thread.call.metrics();
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
  const begun = leases.begin(SPARE, never);
  await imageGc.thread.terminate();
  await assert.rejects(order, { name: "ThreadExitedError" });
  (await begun).end();
  fake.failpoint("RemoveImage", "off");
  await until("the thread to run again", () => imageGc.thread.state === "running");
  await imageGc.removeUnusedImages();
  assert.deepEqual(images(), [PINNED, USED]);
});
