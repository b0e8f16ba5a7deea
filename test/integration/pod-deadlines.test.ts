// Termination of pods on a real node: the active deadline, and short, long and shortened grace periods. A failure
// survives a restart of the kubelet. A terminated pod keeps its exit codes, but neither cgroup nor volumes.
// @headline Pods | A pod past its deadline never runs again. | also after kill -9
// @promise Pods: activeDeadlineSeconds terminates a pod with its grace period. The pod never runs again, also after
//   kill -9 of the kubelet; the termination deadline is kept.
// @with test/main/pods/sync/pod-worker-time.test.ts
// @promise Pods: A terminated pod holds neither cgroup nor volume. Exit codes, termination messages and verdict stay,
//   also after a restart of the kubelet.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ContainerState, PodSandboxState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { waitFor, type PodView } from "../harness/node.js";
import { agentLog } from "../support/fault-node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import { IDLE, manifest, PATIENCE_MS, shell, statusOf, waitForPod, waitGone } from "../support/static-pods.js";

const { node, runtime } = await nodeForTests();

const MEMORY = [{ name: "memory", emptyDir: { medium: "Memory" as const } }];
const mounted = { volumeMounts: [{ name: "memory", mountPath: "/memory" }] };
const DEADLINE_MESSAGE = "Pod was active on the node longer than the specified deadline";

const runs = (pod: PodView): boolean => statusOf(pod, "app")?.state.running !== undefined;
const phase = (wanted: string) => (pod: PodView) => pod.status?.phase === wanted;

/** Ignores SIGTERM, but notes the first; writes the time as long as it lives. */
function stubborn(): string {
  return [
    "trap '[ -e /out/term ] || date +%s > /out/term' TERM",
    "while true; do date +%s > /out/new; mv /out/new /out/alive; sleep 0.2; done",
  ].join("\n");
}

async function outOf(name: string) {
  const path = join(node.kubelet.dir, `out-${name}`);
  await mkdir(path, { recursive: true });
  /** NaN while the file is empty: the shell makes it before `date` writes. */
  const number = async (file: string): Promise<number> => Number.parseInt(await readFile(join(path, file), "utf8"), 10);
  return {
    volumes: [{ name: "out", hostPath: { path } }],
    volumeMounts: [{ name: "out", mountPath: "/out" }],
    seen: async (file: string): Promise<boolean> => (await readdir(path)).includes(file),
    /** Seconds it lived on after its first SIGTERM. */
    outlived: async (): Promise<number> => (await number("alive")) - (await number("term")),
  };
}

/** Seconds that stops of the pod's container were given, as the log from `from` on tells. */
async function graces(name: string, from = 0): Promise<number[]> {
  const log = (await readFile(node.kubelet.log, "utf8")).slice(from);
  const stops = log.matchAll(new RegExp(`${name}-testnode_default\\S*: stop container app within (\\d+)s`, "g"));
  return [...stops].map(([, seconds]) => Number(seconds));
}

/** Milliseconds since the epoch at which the pod's container was first stopped, as the log tells. */
async function stoppedAt(name: string): Promise<number> {
  const text = `${name}-testnode_default`;
  const line = (await agentLog(node)).find(
    ({ msg }) => msg.includes(text) && msg.includes(": stop container app within"),
  );
  return Number(line?.["ts"]);
}

/** Nothing of the pod runs or takes up room; its containers are still known. */
async function assertReleased(uid: string): Promise<void> {
  let left: string[] = [];
  const look = async (): Promise<string[]> => {
    const volumes = join(node.kubelet.rootDir, "pods", uid, "volumes");
    const [cgroups, mounts, sandboxes, containers] = await Promise.all([
      cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? ""),
      readFile("/proc/self/mounts", "utf8"),
      runtime.sandboxes(uid),
      runtime.containers(uid),
    ]);
    return [
      ...cgroups.filter((folder) => folder.includes(uid)),
      ...(await readdir(volumes).catch(() => [])),
      ...mounts.split("\n").filter((line) => line.includes(uid)),
      ...sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).map(({ id }) => `sandbox ${id}`),
      ...containers.filter(({ state }) => state !== ContainerState.CONTAINER_EXITED).map(({ id }) => `container ${id}`),
    ];
  };
  await waitFor(async () => (left = await look()).length === 0, {
    what: `pod ${uid} to be released`,
    timeoutMs: PATIENCE_MS,
    lastSeen: () => left.join(", "),
  });
  assert.equal((await runtime.containers(uid)).length, 1, "its container is still known");
}

describe("ends", { concurrency: 4 }, () => {
  test("a pod is failed at its active deadline, and nothing of it runs again", async () => {
    const app = shell("app", IDLE, mounted);
    // Long enough for it to run before, and to exit by itself.
    const spec = { volumes: MEMORY, activeDeadlineSeconds: 20, terminationGracePeriodSeconds: 60 };
    await node.writeManifest("late", manifest("late", [app], { spec }));
    const first = await waitForPod(node, "late", runs, "running");
    const { metadata, status } = await waitForPod(node, "late", phase("Failed"), "Failed");
    assert.deepEqual([status?.reason, status?.message], ["DeadlineExceeded", DEADLINE_MESSAGE]);
    assert.equal(status?.startTime, first.status?.startTime);
    const ended = status?.containerStatuses?.[0]?.state.terminated;
    assert.equal(ended?.exitCode, 0, "it exited by itself on request");
    const lived = Date.parse(ended.finishedAt ?? "") - Date.parse(status?.startTime ?? "");
    assert.ok(lived >= 19_000, `it lived ${lived} ms`);
    await assertReleased(metadata.uid);
    const log = await readFile(node.kubelet.log, "utf8");
    assert.match(log, /event DeadlineExceeded.*late-testnode/);
  });

  test("a pod that ran to its end keeps its exit code, but neither cgroup nor volumes", async () => {
    const app = shell("app", "echo last words > /dev/termination-log; exit 3", mounted);
    await node.writeManifest("done", manifest("done", [app], { spec: { volumes: MEMORY, restartPolicy: "Never" } }));
    const { metadata, status } = await waitForPod(node, "done", phase("Failed"), "Failed");
    assert.equal(status?.containerStatuses?.[0]?.state.terminated?.exitCode, 3);
    await assertReleased(metadata.uid);
  });

  test("a grace period of a second lasts a second; a process that ignores SIGTERM is killed", async () => {
    const { volumes, ...out } = await outOf("brief");
    const app = shell("app", stubborn(), { volumeMounts: out.volumeMounts });
    await node.writeManifest(
      "brief",
      manifest("brief", [app], { spec: { volumes, terminationGracePeriodSeconds: 1 } }),
    );
    await waitForPod(node, "brief", runs, "running");
    await waitFor(() => out.seen("alive"), { what: "its first tick", timeoutMs: PATIENCE_MS });
    await node.removeManifest("brief");
    await waitGone(node, "brief");
    assert.deepEqual([...new Set(await graces("brief"))], [2], "the runtime always gets two seconds");
  });

  test("a pod deleted again with a shorter grace period terminates by the shorter one", async () => {
    const { volumes, ...out } = await outOf("long");
    const app = shell("app", stubborn(), { volumeMounts: out.volumeMounts });
    const uid = "11111111-2222-3333-4444-555555555555";
    const pod = (terminationGracePeriodSeconds: number) =>
      manifest("long", [app], { metadata: { uid }, spec: { volumes, terminationGracePeriodSeconds } });
    await node.writeManifest("long", pod(600));
    const first = await waitForPod(node, "long", runs, "running");
    await waitFor(() => out.seen("alive"), { what: "its first tick", timeoutMs: PATIENCE_MS });
    await node.removeManifest("long");
    await waitFor(() => out.seen("term"), { what: "its SIGTERM", timeoutMs: PATIENCE_MS });
    await node.writeManifest("long", pod(2));
    const again = await waitForPod(
      node,
      "long",
      (seen) => runs(seen) && statusOf(seen, "app")?.containerID !== statusOf(first, "app")?.containerID,
      "running anew",
    );
    assert.equal(again.metadata.uid, uid);
    assert.equal(statusOf(again, "app")?.restartCount, 1, "as upstream counts them, by the logs of a UID");
    assert.deepEqual([...new Set(await graces("long"))], [600, 2]);
    await node.removeManifest("long");
    await waitGone(node, "long");
  });
});

test("after kill -9 a failing pod terminates by its deadline, and terminated pods stay terminated", async () => {
  const { volumes, ...out } = await outOf("cut");
  const app = shell("app", stubborn(), { volumeMounts: out.volumeMounts });
  const grace = 18;
  const spec = { volumes, activeDeadlineSeconds: 10, terminationGracePeriodSeconds: grace };
  await node.writeManifest("cut", manifest("cut", [app], { spec }));
  const { metadata } = await waitForPod(node, "cut", runs, "running");
  await waitFor(() => out.seen("term"), { what: "its SIGTERM", timeoutMs: PATIENCE_MS });
  await waitFor(async () => (await out.outlived()) >= 3, { what: "a third of its grace", timeoutMs: PATIENCE_MS });
  await waitForPod(node, "cut", phase("Running"), "shown as Running, since it does");
  await node.kill9();
  const { length } = await readFile(node.kubelet.log, "utf8");
  await node.restart();

  const cut = await waitForPod(node, "cut", phase("Failed"), "Failed");
  assert.deepEqual([cut.status?.reason, cut.status?.message], ["DeadlineExceeded", DEADLINE_MESSAGE]);
  assert.equal(cut.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 137);
  const left = await graces("cut", length);
  assert.ok(left.length > 0, "the new agent stops the container");
  for (const seconds of left) assert.ok(seconds <= grace - 3 + 1, `${seconds} s were given once more`);
  // From the first order to stop it to its end. How soon its shell ran after the signal does not count.
  const ended = Date.parse(cut.status.containerStatuses[0].state.terminated.finishedAt ?? "");
  const asked = await stoppedAt("cut");
  assert.ok(ended - asked >= (grace - 2) * 1000, `nothing of its grace was lost: ${ended - asked} ms`);
  await assertReleased(metadata.uid);

  const late = await waitForPod(node, "late", phase("Failed"), "Failed still");
  assert.equal(late.status?.reason, "DeadlineExceeded");
  const done = await waitForPod(node, "done", phase("Failed"), "Failed still");
  const last = done.status?.containerStatuses?.[0]?.state.terminated;
  assert.deepEqual([last?.exitCode, last?.message], [3, "last words\n"]);
  for (const pod of [late, done, cut]) await assertReleased(pod.metadata.uid);
  const log = (await readFile(node.kubelet.log, "utf8")).slice(length);
  assert.doesNotMatch(log, /: (start container|create sandbox)/, "nothing was started");

  await node.removeManifest("late");
  await waitGone(node, "late");
  await node.writeManifest("late", manifest("late", [shell("app", IDLE)]));
  await waitForPod(node, "late", runs, "running: dropped and told anew, it is another life");
});
