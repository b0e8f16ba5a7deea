// The kubelet stops and starts again while its pods keep running. It stops by SIGTERM and by kill -9, also during a
// termination. Exits, removals and edits happen meanwhile.
// @promise Pods: A new process adopts running containers: same container ids, earlier exits handled with their code,
//   deadlines kept.

import assert from "node:assert/strict";
import { access, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ContainerState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { waitFor, type PodView } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  PATIENCE_MS,
  podOf,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const { node, runtime } = await nodeForTests();

const ready = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";

/** A folder of the host that containers see as /out. */
async function shared(name: string) {
  const path = join(node.kubelet.dir, `out-${name}`);
  await mkdir(path, { recursive: true });
  return {
    path,
    volumes: [{ name: "out", hostPath: { path, type: "Directory" as const } }],
    volumeMounts: [{ name: "out", mountPath: "/out" }],
  };
}

/** Ids of sandbox and containers: what must not change when only the kubelet does. */
async function identity(uid: string): Promise<string[]> {
  const [sandboxes, containers] = await Promise.all([runtime.sandboxes(uid), runtime.containers(uid)]);
  return [...sandboxes, ...containers].map(({ id }) => id).sort();
}

function startOf({ status }: PodView): number {
  return Date.parse(status?.startTime ?? "");
}

function isGone(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    () => true,
  );
}

test("pods live on without the kubelet, and the next one adopts them as they are", async () => {
  const volumes = [{ name: "memory", emptyDir: { medium: "Memory" as const } }];
  const volumeMounts = [{ name: "memory", mountPath: "/memory" }];
  const init = shell("init", "echo set-up > /memory/file", { volumeMounts });
  const app = shell("app", IDLE, { volumeMounts });
  const spec = { volumes, initContainers: [init] };
  await node.writeManifest("steady", manifest("steady", [app, shell("other", IDLE)], { spec }));
  const done = manifest("done", [shell("app", "exit 0")], { spec: { restartPolicy: "Never" } });
  await node.writeManifest("done", done);
  const first = await waitForPod(node, "steady", ready, "Ready");
  const ended = await waitForPod(node, "done", ({ status }) => status?.phase === "Succeeded", "Succeeded");
  const before = await identity(first.metadata.uid);
  const endedBefore = await identity(ended.metadata.uid);
  assert.equal(before.length, 4);

  for (const way of ["SIGTERM", "kill -9"] as const) {
    if (way === "kill -9") await node.kill9();
    else await node.kubelet.end("SIGTERM");
    assert.deepEqual(await identity(first.metadata.uid), before, `after ${way} all of the pod is still there`);
    // Start times are whole seconds.
    await waitFor(() => Date.now() >= startOf(first) + 1000, { what: "a later second", timeoutMs: PATIENCE_MS });
    await node.restart();
    const adopted = await waitForPod(node, "steady", ready, `Ready after ${way}`);
    // A pod written later runs only after the kubelet has gone over all others.
    const probe = `after-${way.replace(/\W/g, "").toLowerCase()}`;
    await node.writeManifest(probe, manifest(probe, [shell("app", IDLE)]));
    await waitForPod(node, probe, ready, "Ready");
    assert.deepEqual(await identity(first.metadata.uid), before, `after ${way} nothing was made or removed`);
    assert.equal(adopted.metadata.uid, first.metadata.uid);
    assert.equal(adopted.status?.podIP, first.status?.podIP);
    assert.ok(startOf(adopted) > startOf(first), "the start time of a stand-alone pod is that in this process");
    for (const container of ["init", "app", "other"]) {
      assert.deepEqual(statusOf(adopted, container), statusOf(first, container));
    }
    const still = await waitForPod(node, "done", ({ status }) => status?.phase === "Succeeded", "Succeeded as before");
    assert.deepEqual(await identity(still.metadata.uid), endedBefore);
    assert.equal(statusOf(still, "app")?.restartCount, 0);
  }
});

test("the active deadline counts from the pod's record, although a stand-alone kubelet shows its own start", async () => {
  const spec = { activeDeadlineSeconds: 3600 };
  await node.writeManifest("bounded", manifest("bounded", [shell("app", IDLE)], { spec }));
  const { metadata, status } = await waitForPod(node, "bounded", ready, "Ready");
  await node.kill9();
  const record = join(node.kubelet.rootDir, "nodelet", "pods", `${metadata.uid}.json`);
  const kept = JSON.parse(await readFile(record, "utf8")) as { startTime: string };
  assert.equal(kept.startTime, status?.startTime);
  const twoHoursAgo = new Date(Date.now() - 2 * 3600_000).toISOString();
  await writeFile(record, JSON.stringify({ ...kept, startTime: twoHoursAgo }));
  await node.restart();
  const late = await waitForPod(node, "bounded", (view) => view.status?.phase === "Failed", "Failed");
  assert.equal(late.status?.reason, "DeadlineExceeded");
  assert.ok(Date.parse(late.status.startTime ?? "") >= Date.parse(kept.startTime));
});

test("a container that exited while no kubelet ran is restarted, its exit code is kept", async () => {
  const { path, volumes, volumeMounts } = await shared("ended");
  // The first run exits with its own code after the test's signal; the next ones stay.
  const script = `if [ -e /out/ran ]; then ${IDLE}; fi; touch /out/ran; until [ -e /out/go ]; do sleep 0.1; done; exit 42`;
  const app = shell("app", script, { volumeMounts });
  await node.writeManifest("ended", manifest("ended", [app, shell("other", IDLE)], { spec: { volumes } }));
  const before = await waitForPod(node, "ended", ready, "Ready");
  await waitFor(async () => !(await isGone(join(path, "ran"))), { what: "its first run", timeoutMs: PATIENCE_MS });
  await node.kill9();
  await writeFile(join(path, "go"), "");
  await waitFor(
    async () => {
      const containers = await runtime.containers(before.metadata.uid);
      return containers.some(({ state }) => state === ContainerState.CONTAINER_EXITED);
    },
    { what: "the container to end", timeoutMs: PATIENCE_MS },
  );
  await node.restart();
  const after = await waitForPod(
    node,
    "ended",
    (pod) => ready(pod) && statusOf(pod, "app")?.restartCount === 1,
    "back",
  );
  assert.equal(statusOf(after, "app")?.lastState.terminated?.exitCode, 42);
  assert.equal(statusOf(after, "app")?.lastState.terminated?.containerID, statusOf(before, "app")?.containerID);
  assert.equal(statusOf(after, "other")?.containerID, statusOf(before, "other")?.containerID);
  assert.equal((await runtime.sandboxes(before.metadata.uid)).length, 1);
});

test("a pod removed or edited while the kubelet was down is terminated, and its leftovers are cleaned up", async () => {
  const { path, volumes, volumeMounts } = await shared("orphan");
  const script = "trap 'echo told >> /out/told; exit 0' TERM; while true; do sleep 3600 & wait $!; done";
  const pod = (version: string) =>
    manifest("edited", [shell("app", `echo ${version}; ${IDLE}`)], { spec: { terminationGracePeriodSeconds: 60 } });
  const spec = { volumes, terminationGracePeriodSeconds: 60 };
  await node.writeManifest("orphan", manifest("orphan", [shell("app", script, { volumeMounts })], { spec }));
  await node.writeManifest("edited", pod("v1"));
  const orphan = await waitForPod(node, "orphan", ready, "Ready");
  const edited = await waitForPod(node, "edited", ready, "Ready");
  await node.kill9();
  await node.removeManifest("orphan");
  await node.writeManifest("edited", pod("v2"));
  await node.restart();
  for (const { metadata } of [orphan, edited]) {
    await waitFor(async () => (await identity(metadata.uid)).length === 0, {
      what: `${metadata.name} to be removed from the runtime`,
      timeoutMs: PATIENCE_MS,
    });
    await waitFor(() => isGone(join(node.kubelet.rootDir, "pods", metadata.uid)), {
      what: `the folder of ${metadata.name} to be removed`,
      timeoutMs: PATIENCE_MS,
    });
    await waitFor(async () => !(await readdir(node.kubelet.podLogs)).some((name) => name.endsWith(metadata.uid)), {
      what: `the logs of ${metadata.name} to be removed`,
      timeoutMs: PATIENCE_MS,
    });
  }
  assert.equal(await readFile(join(path, "told"), "utf8"), "told\n", "it got one request to stop");
  const anew = await waitForPod(
    node,
    "edited",
    (view) => view.metadata.uid !== edited.metadata.uid && ready(view),
    "Ready in its second version",
  );
  assert.equal(statusOf(anew, "app")?.restartCount, 0);
  await waitGone(node, "orphan");
});

test("a termination continues after kill -9, with its deadline", async () => {
  const { path, volumes, volumeMounts } = await shared("ending");
  const script = [
    "trap 'date +%s >> /out/term' TERM",
    "while true; do date +%s > /out/new; mv /out/new /out/alive; sleep 0.2; done",
  ].join("\n");
  const grace = 18;
  const spec = { volumes, terminationGracePeriodSeconds: grace };
  await node.writeManifest("ending", manifest("ending", [shell("app", script, { volumeMounts })], { spec }));
  const { metadata } = await waitForPod(node, "ending", ready, "Ready");
  await waitFor(async () => !(await isGone(join(path, "alive"))), { what: "its first tick", timeoutMs: PATIENCE_MS });
  await node.removeManifest("ending");
  const [first, last] = [join(path, "term"), join(path, "alive")];
  const lifeAfter = async (): Promise<number> => {
    const [reported = ""] = (await readFile(first, "utf8")).split("\n");
    // The shell makes the file before it writes the time.
    return reported === "" ? 0 : Number(await readFile(last, "utf8")) - Number(reported);
  };
  await waitFor(async () => (await lifeAfter()) >= 4, { what: "a third of its grace to pass", timeoutMs: PATIENCE_MS });
  await node.kill9();
  const { length } = await readFile(node.kubelet.log, "utf8");
  await node.restart();
  await waitFor(async () => (await identity(metadata.uid)).length === 0, {
    what: "the pod to be removed",
    timeoutMs: PATIENCE_MS,
  });
  // A grace that was forgotten shows here; the seconds are those in which a slow machine let its shell run late.
  const lived = await lifeAfter();
  assert.ok(lived >= grace - 7, `it lived ${lived} s after its first SIGTERM`);
  // One that began anew shows here.
  const log = (await readFile(node.kubelet.log, "utf8")).slice(length);
  const left = [...log.matchAll(/stop container app within (\d+)s/g)].map(([, seconds]) => Number(seconds));
  assert.ok(left.length > 0, "the new agent stops the container");
  for (const seconds of left) assert.ok(seconds <= grace - 4 + 1, `${seconds} s were given once more`);
  await waitGone(node, "ending");
  await waitFor(() => isGone(join(node.kubelet.rootDir, "pods", metadata.uid)), {
    what: "its folder to be removed",
    timeoutMs: PATIENCE_MS,
  });
});

test("a sandbox that died while the kubelet was down is replaced", async () => {
  await node.writeManifest("box", manifest("box", [shell("app", IDLE)]));
  const before = await waitForPod(node, "box", ready, "Ready");
  const [old] = await runtime.sandboxes(before.metadata.uid);
  assert.ok(old);
  await node.kill9();
  await runtime.stopSandbox(old.id);
  await node.restart();
  const after = await waitForPod(
    node,
    "box",
    (pod) => ready(pod) && statusOf(pod, "app")?.containerID !== statusOf(before, "app")?.containerID,
    "Ready in another sandbox",
  );
  assert.equal(statusOf(after, "app")?.restartCount, 1);
  assert.equal(idOf(statusOf(after, "app")).length, 64);
  assert.equal((await runtime.sandboxes(before.metadata.uid))[0]?.metadata?.attempt, 1);
  assert.ok(podOf(await node.pods(), "steady"), "the other pods are still there");
});
