// Every file that the kubelet reads at its start, in every bad shape: another version, garbage, empty, a folder. The
// kubelet starts, says what it set aside, and no container notices.
// @headline Failures | A damaged state file stops no start and no container. | every file
// @promise Failures: State files of another version, garbage, an empty file or a folder. The kubelet starts, logs it,
//   and no container is affected.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, identities, isError, PATIENCE_MS, podOf, runs } from "../support/fault-node.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

const NAME = "steady";
const IMAGE_RECORD = `sha256-${"5".repeat(64)}`;

type Shape = "newer version" | "older version" | "garbage" | "empty" | "folder";
const SHAPES: readonly Shape[] = ["newer version", "older version", "garbage", "empty", "folder"];

/** Relative to the root directory. */
const FILES = (uid: string): readonly string[] => [
  `nodelet/pods/${uid}.json`,
  "allocated_pods_state",
  "actuated_pods_state",
  "nodelet/probes/results.json",
  "graceful_node_shutdown_state",
  `image_manager/pulled/${IMAGE_RECORD}`,
  `image_manager/pulling/${IMAGE_RECORD}`,
  "cpu_manager_state",
  "memory_manager_state",
  "device-plugins/kubelet_internal_checkpoint",
  `pods/${uid}/plugins/kubernetes.io~empty-dir/memory/mount.json`,
];

/** Files that are read later, or valid with any content: a mount record counts whatever it has. */
const SILENTLY_REPLACED = /^image_manager\/|_manager_state$|^device-plugins\/|\/mount\.json$/;

describe("state files of any shape", () => {
  let node: TestNode;

  before(async () => {
    node = await startNode({
      // No process listens there: the state of the last shutdown is read all the same.
      config: { shutdownGracePeriod: "10s" },
      env: { DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/nonexistent/bus" },
    });
    const probe = { exec: { command: ["true"] }, periodSeconds: 1 };
    const mounts = [{ name: "memory", mountPath: "/memory" }];
    const resources = { requests: { cpu: "10m", memory: "16Mi" } };
    const app = shell("app", IDLE, { readinessProbe: probe, volumeMounts: mounts, resources });
    const volumes = [{ name: "memory", emptyDir: { medium: "Memory" as const } }];
    await node.writeManifest(NAME, manifest(NAME, [app], { spec: { volumes } }));
    await isReady();
  });
  after(() => node.stop());

  const isReady = (): Promise<unknown> =>
    node.waitFor(
      (pods) => runs(pods, NAME) && podOf(pods, NAME)?.status?.containerStatuses?.every(({ ready }) => ready) === true,
      { what: "the pod to be ready", timeoutMs: PATIENCE_MS },
    );

  // In each start every file has another shape than its neighbours, and in five starts each has had all.
  for (const [round] of SHAPES.entries()) {
    test(`start ${round + 1} of ${SHAPES.length}: no error, no restart`, async () => {
      const pods = await node.pods();
      const before = identities(pods, [NAME]);
      const { rootDir } = node.kubelet;
      const files = FILES(podOf(pods, NAME)?.metadata.uid ?? "");
      await node.kill9();
      const shapes = files.map((file, index): [string, Shape] => {
        const shape = SHAPES[(index + round) % SHAPES.length];
        assert.ok(shape !== undefined);
        return [file, shape];
      });
      for (const [file, shape] of shapes) await spoil(join(rootDir, file), shape);
      const logged = (await agentLog(node)).length;
      await node.kubelet.start();
      await node.kubelet.waitHealthy();
      await isReady();
      assert.deepEqual(identities(await node.pods(), [NAME]), before);
      const messages = async (): Promise<string[]> => (await agentLog(node)).slice(logged).map(({ msg }) => msg);
      for (const [file, shape] of shapes) {
        if (SILENTLY_REPLACED.test(file) || !isUnusable(file, shape)) continue;
        await waitFor(
          async () => (await messages()).some((line) => line.includes(file) && line.includes("set aside")),
          {
            what: `a warning about ${file} (${shape})`,
            timeoutMs: PATIENCE_MS,
            lastSeen: async () => (await messages()).join("\n"),
          },
        );
      }
      const errors = (await agentLog(node)).slice(logged).filter(isError);
      assert.deepEqual(
        errors.map(({ msg }) => msg),
        [],
      );
    });
  }

  test("the pod is removed like any other", async () => {
    const uid = podOf(await node.pods(), NAME)?.metadata.uid ?? "";
    await node.removeManifest(NAME);
    await node.waitFor((pods) => podOf(pods, NAME) === undefined, { what: "the pod to go", timeoutMs: PATIENCE_MS });
    await waitFor(async () => !(await readdir(join(node.kubelet.rootDir, "pods"))).includes(uid), {
      what: "its directory to be removed",
      timeoutMs: PATIENCE_MS,
    });
  });
});

/** The shutdown's times have no version: what has none of them is a state without times. */
function isUnusable(file: string, shape: Shape): boolean {
  return file !== "graceful_node_shutdown_state" || !shape.endsWith("version");
}

async function spoil(path: string, shape: Shape): Promise<void> {
  const text = await readFile(path, "utf8").catch(() => "{}");
  await rm(path, { recursive: true, force: true });
  await mkdir(dirname(path), { recursive: true });
  switch (shape) {
    case "newer version":
      await writeFile(path, versioned(text, 99));
      return;
    case "older version":
      await writeFile(path, versioned(text, 0));
      return;
    case "garbage":
      await writeFile(path, Buffer.from([0xff, 0xfe, 0, 1, 2, 0x80]));
      return;
    case "empty":
      await writeFile(path, "");
      return;
    case "folder":
      await mkdir(join(path, "full"), { recursive: true });
  }
}

/** As another version of the kubelet might have written it: the same, and more, in a form that says so. */
function versioned(text: string, version: number): string {
  return JSON.stringify({
    ...(JSON.parse(text) as object),
    version,
    apiVersion: `nodelet/v${version}`,
    data: { more: [] },
  });
}
