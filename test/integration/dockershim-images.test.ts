// Unused images on a Docker Engine whose data root is a separate file system. Image garbage collection and eviction
// free space there, and no pod is evicted while images can be removed.
// @promise Docker Engine: On a Docker Engine whose data root is a separate file system, image collection removes unused
//   images down to the low threshold; below `imagefs.available` they are removed and no pod is evicted; an image
//   younger than `imageMinimumGCAge` stays until it is older (`NODELET_TEST_RUNTIME=docker`).

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { connectCri, hasImage, type CriConnection } from "../../tools/standalone/cri.js";
import { startDocker, type PrivateDocker } from "../../tools/standalone/docker-engine.js";
import { PAUSE_IMAGE } from "../../tools/standalone/images.js";
import { unmountBelow } from "../../tools/standalone/mounts.js";
import { isRunning } from "../../tools/standalone/pods.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { agentLog } from "../support/fault-node.js";
import { IDLE, manifest, podOf, shell, statusOf, waitForPod } from "../support/static-pods.js";

const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";
const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const MIB = 1024 * 1024;
const DATA_MIB = 200;
const IMAGE_MIB = 32;

suite(
  "unused images of a Docker Engine",
  { skip: !isDocker && "needs a Docker Engine: NODELET_TEST_RUNTIME=docker" },
  () => {
    let docker: PrivateDocker;
    let node: TestNode;
    let cri: CriConnection;
    const dir = join(process.env["NODELET_TEST_DIR"] ?? "", "image-docker");
    const dataRoot = `${dir}-data`;
    const filler = join(dataRoot, "filler");

    before(async () => {
      await mkdir(dataRoot, { recursive: true });
      await run("mount", ["-t", "tmpfs", "-o", `size=${DATA_MIB}m`, "nodelet-test", dataRoot]);
      docker = await startDocker({
        dir,
        dataRoot,
        archive: process.env["NODELET_TEST_IMAGES"] ?? "",
        engineOnly: true,
      });
      cri = connectCri(docker.endpoint);
      node = await startNode({
        flags: ["--container-runtime", "docker", ...docker.flags],
        start: false,
        config: {
          containerRuntimeEndpoint: docker.endpoint,
          cgroupRoot: docker.cgroup,
          imageGCHighThresholdPercent: 65,
          imageGCLowThresholdPercent: 60,
          // Its default is 2 minutes. For so long the kubelet keeps an image that it has found, however short the disk.
          imageMinimumGCAge: "1s",
          evictionHard: { "imagefs.available": `${20 * MIB}` },
          evictionMinimumReclaim: { "imagefs.available": `${20 * MIB}` },
        },
      });
    });
    after(async () => {
      cri.close();
      await node.stop();
      await docker.stop();
      await unmountBelow(dataRoot);
      await run("umount", ["-l", dataRoot]).catch(() => undefined);
      await rm(dataRoot, { recursive: true, force: true });
    });

    /** An image that no container uses. */
    async function makeImage(name: string): Promise<string> {
      const image = `nodelet.local/${name}:1`;
      const work = join(dir, name);
      await mkdir(work);
      await writeFile(join(work, "bytes"), randomBytes(IMAGE_MIB * MIB));
      await run("tar", ["-C", work, "-cf", `${work}.tar`, "bytes"]);
      await run("docker", ["--host", docker.dockerEndpoint, "import", `${work}.tar`, image]);
      return image;
    }

    async function freeMiB(): Promise<number> {
      const { bavail, bsize } = await statfs(dataRoot);
      return (bavail * bsize) / MIB;
    }

    /** Fills the data root up to this rest. */
    async function leave(mib: number): Promise<void> {
      await rm(filler, { force: true });
      await writeFile(filler, Buffer.alloc(Math.round(((await freeMiB()) - mib) * MIB)));
    }

    const has = (image: string): Promise<boolean> => hasImage(cri, image);
    const removed = (image: string): Promise<unknown> =>
      waitFor(async () => !(await has(image)), { what: `${image} to be removed`, timeoutMs: TIMEOUT_MS });
    const sparedPods = async (): Promise<number> =>
      (await agentLog(node)).filter(({ msg }) => msg.endsWith("freed enough disk; evicting no pod")).length;

    async function podRunsOn(): Promise<void> {
      const pod = podOf(await node.pods(), "user");
      assert.deepEqual([pod && isRunning(pod), statusOf(pod, "app")?.restartCount], [true, 0]);
      assert.deepEqual(await Promise.all([testImage(), PAUSE_IMAGE].map(has)), [true, true]);
    }

    test("image collection at the kubelet's start removes as many unused images as the low threshold asks for", async () => {
      const images = [await makeImage("a"), await makeImage("b")];
      await node.writeManifest("user", manifest("user", [shell("app", IDLE)]));
      // 70 % are used; 60 % are wanted, which is less than one of the images.
      await leave(0.3 * DATA_MIB);
      await node.restart();
      await waitForPod(node, "user", isRunning, "running");
      await waitFor(async () => (await freeMiB()) > 0.4 * DATA_MIB, { what: "room", timeoutMs: TIMEOUT_MS });
      const left = await Promise.all(images.map(has));
      assert.equal(left.filter(Boolean).length, 1, String(left));
      await podRunsOn();
    });

    test("below imagefs.available unused images are removed at once, and no pod is evicted", async () => {
      const images = ["a", "b"].map((name) => `nodelet.local/${name}:1`);
      const spared = await sparedPods();
      await leave(15);
      for (const image of images) await removed(image);
      await waitFor(async () => (await sparedPods()) > spared, {
        what: "the pressure to be relieved",
        timeoutMs: TIMEOUT_MS,
      });
      assert.ok((await freeMiB()) >= 40, "evictionMinimumReclaim is reached");
      await podRunsOn();
    });

    test("an image that came meanwhile is removed once it is older than imageMinimumGCAge", async () => {
      const spared = await sparedPods();
      await rm(filler, { force: true });
      const image = await makeImage("late");
      assert.equal(await has(image), true);
      await leave(15);
      await removed(image);
      await waitFor(async () => (await sparedPods()) > spared, {
        what: "the pressure to be relieved",
        timeoutMs: TIMEOUT_MS,
      });
      await podRunsOn();
    });
  },
);
