// A container that prints as fast as it can, and a full disk below the logs. Logs stay within bounds, rotation
// continues, and other pods are not delayed.
// @promise Images and logs: A container that writes as fast as it can: logs stay bounded, other pods start; with a
//   full disk rotation works and the container continues.

import assert from "node:assert/strict";
import { mkdir, readdir, stat, statfs, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { run } from "../../tools/standalone/exec.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, identities, metric, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";
import { logDirectory, manifest, shell } from "../support/static-pods.js";

const MIB = 1024 * 1024;
const MAX_SIZE = 2 * MIB;
const MAX_FILES = 3;
const CONFIG = { containerLogMaxSize: "2Mi", containerLogMaxFiles: MAX_FILES };
const FLOOD = "yes 'a line that nobody will ever read, printed as fast as the runtime takes it'";

async function logFiles(node: TestNode, pod: PodView, container: string): Promise<{ name: string; size: number }[]> {
  const folder = join(logDirectory(node, pod), container);
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const size = await stat(join(folder, name)).then(
        (stats) => stats.size,
        () => undefined, // rotated away meanwhile
      );
      return size === undefined ? [] : [{ name, size }];
    }),
  );
  return files.flat();
}

describe("a container that floods its log", () => {
  let node: TestNode;
  before(async () => {
    node = await startNode({ config: CONFIG });
  });
  after(() => node.stop());

  test("its files stay few and near their limit while other pods start", async () => {
    await node.writeManifest("flood", manifest("flood", [shell("app", FLOOD)]));
    await node.waitFor((pods) => runs(pods, "flood"), { what: "the flood to run", timeoutMs: PATIENCE_MS });
    const pod = podOf(await node.pods(), "flood");
    assert.ok(pod !== undefined);
    const rotations = (): Promise<number> => metric(node, "nodelet_log_rotations_total", { result: "ok" });
    let most = 0;
    let names: string[] = [];
    const watched = waitFor(
      async () => {
        const files = await logFiles(node, pod, "app");
        most = Math.max(
          most,
          files.reduce((sum, { size }) => sum + size, 0),
        );
        names = files.map(({ name }) => name);
        // An unfinished compression and one that was finished while its log was rotated may lie beside them.
        assert.ok(names.length <= MAX_FILES + 2, names.join());
        return (await rotations()) >= 12;
      },
      { what: "a dozen rotations", timeoutMs: PATIENCE_MS, intervalMs: 100, lastSeen: () => names.join() },
    );
    for (const name of ["one", "two"]) {
      await node.writeManifest(name, sleeper(name));
      await node.waitFor((pods) => runs(pods, name), { what: `pod ${name} to start`, timeoutMs: PATIENCE_MS });
    }
    await watched;
    // At 100 MB/s a look a quarter of a second late is 25 MB; a machine busy with other tests is later than that.
    assert.ok(most < MAX_FILES * (MAX_SIZE + 100 * MIB), `${Math.round(most / MIB)} MiB of logs`);
    assert.ok((await metric(node, "kubelet_container_log_filesystem_used_bytes", { container: "app" })) > 0);
    assert.equal(await metric(node, "nodelet_log_rotations_total", { result: "failed" }), 0);
    await node.removeManifest("flood");
    await node.waitFor((pods) => podOf(pods, "flood") === undefined, {
      what: "the flood to be removed",
      timeoutMs: PATIENCE_MS,
    });
  });
});

describe("the disk of the logs is full", () => {
  let node: TestNode;
  before(async () => {
    node = await startNode({ start: false, config: { ...CONFIG, containerLogMonitorInterval: "3s" } });
    await mkdir(node.kubelet.podLogs, { recursive: true });
    await run("mount", ["-t", "tmpfs", "-o", "size=16m,mode=755", "nodelet-test", node.kubelet.podLogs]);
    await node.restart();
  });
  after(() => node.stop());

  test("a full log is rotated on a full disk, too; the container keeps running; logging continues when there is space", async () => {
    // Fifty lines of a kilobyte, fifty times a second.
    const line = "x".repeat(1000);
    const writer = `while true; do i=0; while [ $i -lt 50 ]; do echo ${line}; i=$((i+1)); done; sleep 0.02; done`;
    await node.writeManifest("writer", manifest("writer", [shell("app", writer)]));
    await node.waitFor((pods) => runs(pods, "writer"), { what: "the writer to run", timeoutMs: PATIENCE_MS });
    const pods = await node.pods();
    const before = identities(pods, ["writer"]);
    const pod = podOf(pods, "writer");
    assert.ok(pod !== undefined);
    const counted = (result: string): Promise<number> => metric(node, "nodelet_log_rotations_total", { result });
    const compressions = (): Promise<number> =>
      metric(node, "nodelet_log_compressions_total", { outcome: "compressed" });
    await waitFor(async () => (await counted("ok")) >= 2, { what: "two rotations", timeoutMs: PATIENCE_MS });

    // Without rotation the log itself fills the disk.
    await node.kill9();
    const filler = join(node.kubelet.podLogs, "filler");
    await writeFile(filler, Buffer.alloc(8 * MIB));
    await waitFor(async () => (await statfs(node.kubelet.podLogs)).bfree === 0, {
      what: "the disk to be full",
      timeoutMs: PATIENCE_MS,
    });
    await node.restart();
    await waitFor(async () => (await counted("ok")) >= 1, {
      what: "a rotation on the full disk",
      timeoutMs: PATIENCE_MS,
      lastSeen: async () => JSON.stringify(await logFiles(node, pod, "app")),
    });
    assert.ok((await logFiles(node, pod, "app")).length <= MAX_FILES + 2);

    await unlink(filler);
    await waitFor(async () => (await counted("ok")) >= 3 && (await compressions()) >= 1, {
      what: "rotation and compression to continue",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal(await counted("failed"), 0);
    assert.deepEqual(identities(await node.pods(), ["writer"]), before);
    const complaints = (await agentLog(node)).filter(
      ({ severity, msg }) => severity !== undefined && /\blog\b/.test(msg),
    );
    assert.ok(complaints.length <= 3, complaints.map(({ msg }) => msg).join("\n"));
  });
});
