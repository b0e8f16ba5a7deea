// A Docker Engine whose data root is full, and a registry that does not respond. Messages name the cause, running pods
// are not touched, and all pods continue when there is space again.
// @promise Docker Engine: A Docker Engine with a full data root: a pull, a sandbox and a container fail with the
//   cause; running pods and their logs continue; with room again all pods start.
// @promise Docker Engine: A registry that does not respond: the pull fails at `--image-pull-progress-deadline`, and
//   the pod's status names the flag.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, open, readdir, readFile, rm, stat, truncate } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { startDocker, type PrivateDocker } from "../../tools/standalone/docker-engine.js";
import { unmountBelow } from "../../tools/standalone/mounts.js";
import { isRunning } from "../../tools/standalone/pods.js";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { startRegistry, type TestRegistry } from "../support/registry.js";
import { logDirectory, manifest, podOf, shell, statusOf, waitForPod } from "../support/static-pods.js";

const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";
const run = promisify(execFile);
const TIMEOUT_MS = 120_000;
const MIB = 1024 * 1024;
/** Room for the images of the test, and a few more. */
const DATA_MIB = 160;
const COUNTER = "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.1; done";

suite("a failing Docker Engine", { skip: !isDocker && "needs a Docker Engine: NODELET_TEST_RUNTIME=docker" }, () => {
  let docker: PrivateDocker;
  let node: TestNode;
  let registry: TestRegistry;
  const dir = join(process.env["NODELET_TEST_DIR"] ?? "", "small-docker");
  const dataRoot = `${dir}-data`;
  const filler = join(dataRoot, "filler");

  before(async () => {
    await mkdir(dataRoot, { recursive: true });
    await run("mount", ["-t", "tmpfs", "-o", `size=${DATA_MIB}m`, "nodelet-test", dataRoot]);
    docker = await startDocker({ dir, dataRoot, archive: process.env["NODELET_TEST_IMAGES"] ?? "", engineOnly: true });
    registry = await startRegistry({ auth: false });
    const archive = process.env["NODELET_TEST_IMAGES"] ?? "";
    await registry.push({ archive, source: testImage(), repository: "big", tag: "1", padding: 4 * MIB });
    node = await startNode({
      flags: ["--container-runtime", "docker", ...docker.flags, "--image-pull-progress-deadline", "3s"],
      config: { containerRuntimeEndpoint: docker.endpoint, cgroupRoot: docker.cgroup },
    });
  });
  after(async () => {
    await node.stop();
    await docker.stop();
    await registry.stop();
    await unmountBelow(dataRoot);
    await run("umount", ["-l", dataRoot]).catch(() => undefined);
    await rm(dataRoot, { recursive: true, force: true });
  });

  /** Writes until nothing more fits. */
  async function fill(): Promise<void> {
    for (const size of [MIB, 4096]) {
      const file = await open(filler, "a");
      try {
        for (;;) await file.write(Buffer.alloc(size));
      } catch (error) {
        assert.match(String(error), /ENOSPC/);
      } finally {
        await file.close();
      }
    }
  }

  /** Lines of the kubelet's log about the pod of this manifest. */
  async function told(name: string, words: RegExp): Promise<void> {
    await waitFor(
      async () => {
        const lines = (await readFile(node.kubelet.log, "utf8")).split("\n");
        return lines.some((line) => line.includes(`${name}-testnode`) && words.test(line));
      },
      { what: `${String(words)} about ${name}`, timeoutMs: TIMEOUT_MS },
    );
  }

  const waits = async (name: string, words: RegExp): Promise<PodView> =>
    waitForPod(node, name, (pod) => words.test(statusOf(pod, "app")?.state.waiting?.message ?? ""), String(words));

  async function logLines(name: string): Promise<string[]> {
    const pod = podOf(await node.pods(), name);
    if (pod === undefined) return [];
    const folder = join(logDirectory(node, pod), "app");
    const files = await readdir(folder).catch(() => []);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    return texts.join("").split("\n").slice(0, -1);
  }

  test("a registry that does not respond: the pull is cancelled at its progress deadline", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    await node.writeManifest(
      "stalled",
      manifest("stalled", [shell("app", COUNTER, { image: `127.0.0.1:${port}/a:1` })]),
    );
    await waits("stalled", /made no progress for 3 s \(--image-pull-progress-deadline\): cancelled/);
    await node.removeManifest("stalled");
    silent.close();
  });

  test("a full data root: creates and pulls fail with the cause, a running pod and its log go on, and later all succeeds", async () => {
    await node.writeManifest("writer", manifest("writer", [shell("app", COUNTER)]));
    await waitForPod(node, "writer", isRunning, "running");
    await waitFor(async () => (await logLines("writer")).length > 3, {
      what: "the first lines",
      timeoutMs: TIMEOUT_MS,
    });
    await fill();
    // Enough for a sandbox, not for the image.
    await truncate(filler, (await stat(filler)).size - 2 * MIB);
    const image = `${registry.address}/big:1`;
    await node.writeManifest("pulled", manifest("pulled", [shell("app", COUNTER, { image })]));
    await waits("pulled", /no space left on device/);

    await fill();
    await node.writeManifest("late", manifest("late", [shell("app", COUNTER)]));
    await told("late", /no space left on device/);
    await node.kubelet.waitHealthy();

    await rm(filler);
    const isUp = (pods: PodView[], name: string): boolean => podOf(pods.filter(isRunning), name) !== undefined;
    // A slow machine has failed several pulls by now: the next one is minutes away.
    await node.waitFor((pods) => isUp(pods, "late") && isUp(pods, "pulled"), {
      what: "both pods to run",
      timeoutMs: 2 * TIMEOUT_MS,
    });
    const before = (await logLines("writer")).length;
    await waitFor(async () => (await logLines("writer")).length > before + 3, {
      what: "more lines",
      timeoutMs: TIMEOUT_MS,
    });
    const lines = await logLines("writer");
    assert.ok(
      lines.every((line) => /^\S+Z stdout F line \d+$/.test(line)),
      "every line is whole",
    );
    assert.equal(new Set(lines).size, lines.length, "no line is there twice");
    assert.equal(statusOf(podOf(await node.pods(), "writer"), "app")?.restartCount, 0);
  });
});
