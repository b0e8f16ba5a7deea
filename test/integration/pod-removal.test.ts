// Termination of a static pod whose manifest is removed: grace period, SIGKILL after it, and nothing left on the
// machine.
// @headline Pods | A removed pod leaves nothing behind. | its grace period
// @promise Pods: A removed pod stops within its grace period, then is killed. Nothing is left: sandbox, container,
//   cgroup, logs, links, directory.

import assert from "node:assert/strict";
import { access, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { waitFor, type PodView } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  conditionsOf,
  IDLE,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const LINKS = "/var/log/containers";
const { node, runtime } = await nodeForTests();

const running = (container: string) => (pod: PodView) => statusOf(pod, container)?.state.running !== undefined;

/** Everything of a pod that can be found on the machine. */
async function traces(uid: string, name: string): Promise<string[]> {
  const links = await readdir(LINKS).catch(() => []);
  const records = await readdir(join(node.kubelet.rootDir, "nodelet", "pods")).catch(() => []);
  const podDirectory = join(node.kubelet.rootDir, "pods", uid);
  const cgroups = await cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? "");
  return [
    ...(await runtime.sandboxes(uid)).map(({ id }) => `sandbox ${id}`),
    ...(await runtime.containers(uid)).map(({ id }) => `container ${id}`),
    ...cgroups.filter((folder) => folder.includes(uid)),
    ...(await readdir(node.kubelet.podLogs)).filter((entry) => entry.includes(uid)),
    ...links.filter((link) => link.startsWith(`${name}-${NODE_NAME}_`)),
    ...records.filter((record) => record.includes(uid)),
    ...((await access(podDirectory).then(
      () => true,
      () => false,
    ))
      ? [podDirectory]
      : []),
  ];
}

async function assertNoTraces(uid: string, name: string): Promise<void> {
  let left: string[] = [];
  await waitFor(async () => (left = await traces(uid, name)).length === 0, {
    what: `nothing to be left of ${name}`,
    timeoutMs: PATIENCE_MS,
    lastSeen: () => left.join(", "),
  });
}

describe("removal", { concurrency: 3 }, () => {
  test("a removed pod gets SIGTERM, ends by itself, and leaves nothing", async () => {
    const out = join(node.kubelet.dir, "polite");
    await mkdir(out);
    const script = "trap 'echo term > /out/signal; exit 0' TERM; while true; do sleep 3600 & wait $!; done";
    const volumes = [
      { name: "out", hostPath: { path: out, type: "Directory" as const } },
      { name: "memory", emptyDir: { medium: "Memory" as const } },
    ];
    const volumeMounts = [
      { name: "out", mountPath: "/out" },
      { name: "memory", mountPath: "/memory" },
    ];
    const pod = manifest("polite", [shell("app", script, { volumeMounts }), shell("other", IDLE)], {
      spec: { terminationGracePeriodSeconds: 600, volumes },
    });
    await node.writeManifest("polite", pod);
    const { metadata } = await waitForPod(node, "polite", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
    const kinds = await traces(metadata.uid, "polite");
    for (const kind of ["sandbox ", "container ", "/sys/fs/cgroup", "default_polite", `polite-${NODE_NAME}_`]) {
      assert.ok(
        kinds.some((trace) => trace.startsWith(kind)),
        `no ${kind} among ${kinds.join(", ")}`,
      );
    }
    await node.removeManifest("polite");
    // Far less than the grace: only a container that heeds the signal ends in time.
    await waitGone(node, "polite");
    assert.equal(await readFile(join(out, "signal"), "utf8"), "term\n");
    await assertNoTraces(metadata.uid, "polite");
  });

  test("a removed pod that ignores SIGTERM is killed after its grace, and leaves nothing", async () => {
    const out = join(node.kubelet.dir, "stubborn");
    await mkdir(out);
    const script =
      "trap 'date +%s > /out/term' TERM; while true; do date +%s > /out/now.new; mv /out/now.new /out/now; sleep 0.2; done";
    const pod = manifest("stubborn", [shell("app", script, { volumeMounts: [{ name: "out", mountPath: "/out" }] })], {
      spec: { terminationGracePeriodSeconds: 12, volumes: [{ name: "out", hostPath: { path: out } }] },
    });
    await node.writeManifest("stubborn", pod);
    const { metadata } = await waitForPod(node, "stubborn", running("app"), "running");
    await waitFor(async () => (await readdir(out)).includes("now"), { what: "the first tick", timeoutMs: PATIENCE_MS });
    await node.removeManifest("stubborn");
    await waitGone(node, "stubborn");
    const read = async (file: string): Promise<number> => Number(await readFile(join(out, file), "utf8"));
    const lived = (await read("now")) - (await read("term"));
    assert.ok(lived >= 6, `the container lived ${lived} s after SIGTERM, its grace was 12 s`);
    await assertNoTraces(metadata.uid, "stubborn");
  });

  test("a pod removed while its container is held back leaves nothing", async () => {
    await node.writeManifest("crashing", manifest("crashing", [shell("app", "exit 1")]));
    const { metadata } = await waitForPod(
      node,
      "crashing",
      (view) => statusOf(view, "app")?.state.waiting?.reason === "CrashLoopBackOff",
      "CrashLoopBackOff",
    );
    await node.removeManifest("crashing");
    await waitGone(node, "crashing");
    await assertNoTraces(metadata.uid, "crashing");
  });
});
