// Garbage collection on a real runtime: unused images, exited containers beyond the limits, logs of unknown pods. The
// thresholds are so low that the disk is always too full. Each start of the kubelet removes everything that it may.
// @promise Images and logs: Images are removed by thresholds, ages and order of last use; used, wanted and pinned
//   images and the sandbox image stay.
// @with test/workers/image-gc

import assert from "node:assert/strict";
import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { ContainerState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { hasImage } from "../../tools/standalone/cri.js";
import { BUSYBOX_IMAGE, importImages, PAUSE_IMAGE } from "../../tools/standalone/images.js";
import { writeOciArchive } from "../../tools/standalone/oci-archive.js";
import { waitFor } from "../harness/node.js";
import { agentLog, metric } from "../support/fault-node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  IDLE,
  logDirectory,
  manifest,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const UNUSED = ["nodelet.local/unused-a:1", "nodelet.local/unused-b:1"];
/** Image of a pod that cannot start yet. */
const WAITING = "nodelet.local/waiting:1";
const ORPHAN = "default_gone_5f0c1e6a-0000-4000-8000-000000000000";

const { node, runtime } = await nodeForTests({
  // The test removes its images: no other test may use them.
  containerd: "own",
  start: false,
  config: {
    imageGCHighThresholdPercent: 1,
    imageGCLowThresholdPercent: 0,
    crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
  },
  flags: ["--maximum-dead-containers-per-container=2", "--maximum-dead-containers=1"],
});

before(async () => {
  await importExtraImages();
  const logs = join(node.kubelet.podLogs, ORPHAN, "app");
  await mkdir(logs, { recursive: true });
  await writeFile(join(logs, "0.log"), "left behind\n");
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const crashTwice = `n=$(cat /data/n 2>/dev/null || echo 0); echo $((n+1)) > /data/n; [ $n -lt 2 ] && exit 1; ${IDLE}`;
  const spec = { volumes: [{ name: "data", emptyDir: {} }] };
  await node.writeManifest("crash", manifest("crash", [shell("app", crashTwice, { volumeMounts })], { spec }));
  const missing = [{ name: "data", hostPath: { path: "/no/such/file", type: "File" as const } }];
  const waiting = { ...shell("app", "true", { volumeMounts }), image: WAITING };
  await node.writeManifest("waiting", manifest("waiting", [waiting], { spec: { volumes: missing } }));
  await node.restart();
});
const has = (image: string): Promise<boolean> => hasImage(runtime.cri, image);

describe("tidying up", () => {
  test("unused images are removed; images of containers, of pods yet to start and of sandboxes stay", async () => {
    await runEnded(1);
    assert.deepEqual(await Promise.all(UNUSED.map(has)), [false, false]);
    const kept = [BUSYBOX_IMAGE, PAUSE_IMAGE, WAITING];
    assert.deepEqual(await Promise.all(kept.map(has)), [true, true, true]);
    await waitFor(
      async () => (await metric(node, "kubelet_image_garbage_collected_total", { reason: "space" })) === 2,
      {
        what: "both removals to be counted",
        timeoutMs: PATIENCE_MS,
      },
    );
  });

  test("logs of an unknown pod are removed", async () => {
    await waitFor(() => isGone(join(node.kubelet.podLogs, ORPHAN)), { what: "the logs to go", timeoutMs: PATIENCE_MS });
  });

  test("exited containers beyond the node's limit are removed, the oldest first; running ones stay", async () => {
    const pod = await waitForPod(
      node,
      "crash",
      (view) => statusOf(view, "app")?.restartCount === 2 && statusOf(view, "app")?.state.running !== undefined,
      "running for the third time",
    );
    const { uid } = pod.metadata;
    const [running] = await runtime.containers(uid);
    await node.removeManifest("waiting");
    await waitGone(node, "waiting");
    await node.restart();
    const left = await waitFor(
      async () => {
        const containers = await runtime.containers(uid);
        return containers.length === 2 ? containers : undefined;
      },
      { what: "one ended container to be left", timeoutMs: PATIENCE_MS },
    );
    assert.equal(left[0]?.id, running?.id);
    assert.equal(left[0]?.state, ContainerState.CONTAINER_RUNNING);
    assert.deepEqual([left[1]?.state, left[1]?.metadata?.attempt], [ContainerState.CONTAINER_EXITED, 1]);
    assert.deepEqual((await readdir(join(logDirectory(node, pod), "app"))).sort(), ["1.log", "2.log"]);
  });

  test("the image of a removed pod is removed by the next image collection", async () => {
    await runEnded(2);
    await waitFor(async () => !(await has(WAITING)), { what: "the image to be removed", timeoutMs: PATIENCE_MS });
    assert.deepEqual(await Promise.all([BUSYBOX_IMAGE, PAUSE_IMAGE].map(has)), [true, true]);
  });
});

/** Each run ends with the news that the disk is still too full. */
async function runEnded(count: number): Promise<void> {
  await waitFor(
    async () => (await agentLog(node)).filter(({ msg }) => msg.startsWith("event FreeDiskSpaceFailed")).length >= count,
    { what: `image collection ${count} to end`, timeoutMs: PATIENCE_MS },
  );
}

/** Small images, each with contents of its own. */
async function importExtraImages(): Promise<void> {
  const work = join(node.kubelet.dir, "images");
  const images = [];
  for (const reference of [...UNUSED, WAITING]) {
    const rootfs = join(work, reference.replaceAll(/[/:]/g, "-"));
    await mkdir(rootfs, { recursive: true });
    await writeFile(join(rootfs, "name"), reference);
    images.push({ reference, rootfs, config: { Env: [`NAME=${reference}`], Cmd: ["true"] } });
  }
  const archive = join(work, "extra.tar");
  await writeOciArchive(images, archive, work);
  assert.ok(node.containerd !== undefined);
  await importImages(node.containerd.socket, archive);
  // The runtime's CRI part learns of imported images by events.
  const areKnown = async (): Promise<boolean> => (await Promise.all([...UNUSED, WAITING].map(has))).every(Boolean);
  await waitFor(areKnown, { what: "the imported images to be known", timeoutMs: PATIENCE_MS });
}

function isGone(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    () => true,
  );
}
