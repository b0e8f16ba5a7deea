// Volumes whose file system never responds delay only their own pods. The mounts are real, with a silent daemon.
// @promise Volumes: An unresponsive file system of the node (root directory, images) occupies at most one thread of
//   libuv's pool, for any number of requests. Each request of `nodelet status`, `nodelet images`, the status page and
//   /stats returns.
// @with test/workers/server/stats/node-disks.test.ts

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startFakeCri, type FakeCri } from "../fake-cri/fake-cri.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";
import { canHang, HungMounts } from "../support/hung-mounts.js";
import { nodelet } from "../support/nodelet-command.js";

describe("volumes that do not respond", { skip: canHang ? false : "needs root and /dev/fuse" }, () => {
  let dir: string;
  let fake: FakeCri;
  let node: TestNode;
  const mounts = new HungMounts();

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-hung-volumes-"));
    fake = await startFakeCri({
      socketPath: join(dir, "cri.sock"),
      images: [testImage()],
      imageStore: join(dir, "image-store"),
    });
    node = await startNode({ config: { containerRuntimeEndpoint: fake.endpoint, maxPods: 600 } });
  });
  after(async () => {
    await mounts.releaseAll();
    await node.stop();
    await fake.stop();
    await rm(dir, { recursive: true });
  });

  for (const count of [4, 40]) {
    test(`${count} hung hostPath volumes: other pods start, the server answers, and pods go or go on`, async () => {
      const names = Array.from({ length: count }, (_, index) => `hung-${count}-${index}`);
      for (const name of names) await mounts.hang(join(dir, name));
      for (const name of names) await node.writeManifest(name, onVolume(name, join(dir, name)));
      await waitFor(
        async () => (await agentLog(node)).some(({ msg }) => reportsHung(msg, join(dir, `hung-${count}-`))),
        {
          what: "a report of a mount that does not respond",
          timeoutMs: PATIENCE_MS,
        },
      );

      const calm = `calm-${count}`;
      await node.writeManifest(calm, sleeper(calm));
      const seen = await node.waitFor((pods) => runs(pods, calm), {
        what: "a pod beside them",
        timeoutMs: PATIENCE_MS,
      });
      for (const name of names) assert.ok(!runs(seen, name), `${name} waits for its volume`);
      // /pods of waitFor is the server's; the removal of files is main's.
      const [first = "", ...rest] = names;
      for (const name of rest) await node.removeManifest(name);
      await node.waitFor((pods) => rest.every((name) => podOf(pods, name) === undefined), {
        what: "pods with hung volumes to go",
        timeoutMs: 2 * PATIENCE_MS,
      });

      await mounts.release(join(dir, first));
      await node.waitFor((pods) => runs(pods, first), {
        what: "a pod to start on a mended volume",
        timeoutMs: 4 * PATIENCE_MS,
      });
      await node.removeManifest(first);
      await mounts.releaseAll();
    });
  }

  test("a hung file system of images: nodelet images and status respond each time, and pods start", async () => {
    await mounts.hang(join(dir, "image-store"));
    // More of each than libuv's pool has threads.
    const asked = Array.from({ length: 6 }, async () => [await nodelet(node, "images"), await nodelet(node, "status")]);
    for (const { code, stdout, stderr } of (await Promise.all(asked)).flat()) {
      assert.ok(code === 0 || code === 1, stderr);
      assert.notEqual(stdout, "");
    }
    await node.writeManifest("beside-images", sleeper("beside-images"));
    await node.waitFor((pods) => runs(pods, "beside-images"), {
      what: "a pod beside the hung file system",
      timeoutMs: PATIENCE_MS,
    });
    await node.removeManifest("beside-images");
    await mounts.releaseAll();
  });
});

const reportsHung = (message: unknown, prefix: string): boolean =>
  typeof message === "string" && message.includes(prefix) && message.includes("has not responded since");

function onVolume(name: string, path: string): object {
  const pod = sleeper(name) as { spec: { containers: object[] } };
  const [app] = pod.spec.containers;
  const containers = [{ ...app, volumeMounts: [{ name: "data", mountPath: "/data" }] }];
  return {
    ...pod,
    spec: { ...pod.spec, containers, volumes: [{ name: "data", hostPath: { path, type: "Directory" } }] },
  };
}
