// Containers of every kind in pods on the real node: init containers, sidecars, restart rules, RestartAllContainers.
// Also what a lost sandbox means for them. What the containers did and in which order they write into one file of the
// host per pod.
// @promise Pods: Sidecars, init containers in back-off, container-level policies and rules, RestartAllContainers, a
//   lost sandbox.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Container, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  manifest,
  PATIENCE_MS,
  RuntimeView,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const volumeMounts = [{ name: "host", mountPath: "/w" }];
let node: TestNode;
let runtime: RuntimeView;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "kinds-"));
  // Back-offs of a second: several are waited for.
  node = await startNode({ config: { crashLoopBackOff: { maxContainerRestartPeriod: "1s" } } });
  runtime = new RuntimeView(node.endpoint);
});
after(async () => {
  runtime.close();
  await node.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A container that sees the pods' common folder as /w. */
const box = (name: string, script: string, fields: Partial<Container> = {}): Container =>
  shell(name, script, { volumeMounts, ...fields });

/** Runs on, and writes down that it was asked to stop. `begun`: shell text, once the signal is caught. */
const untilStopped = (line: string, file: string, begun = ":"): string =>
  `trap 'echo ${line} >> /w/${file}; exit 0' TERM; ${begun}; while true; do sleep 3600 & wait $!; done`;

/** True in the container's first run only. */
const FIRST = (mark: string): string => `[ ! -e /w/${mark} ] && touch /w/${mark}`;

async function write(name: string, containers: Container[], spec: Partial<PodSpec> = {}): Promise<void> {
  const volumes = [{ name: "host", hostPath: { path: folder } }];
  // Long enough for each container to end by itself.
  const own = { volumes, terminationGracePeriodSeconds: 60 };
  await node.writeManifest(name, manifest(name, containers, { spec: { ...own, ...spec } }));
}

async function written(file: string): Promise<string[]> {
  const text = await readFile(join(folder, file), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

const isRunning = (container: string) => (pod: PodView) => statusOf(pod, container)?.state.running !== undefined;
const isReady = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";

describe("kinds of containers", { concurrency: 6 }, () => {
  test("sidecars start before later containers, restart, and stop last, in reverse order", async () => {
    const sidecar = (name: string): Container =>
      box(name, untilStopped(`${name} stops`, "side", `echo ${name} >> /w/side`), { restartPolicy: "Always" });
    // It goes on only once it has seen the sidecar before it at work.
    const setup = box("setup", "until grep -q first /w/side 2>/dev/null; do sleep 0.05; done; echo setup >> /w/side");
    const app = box("app", untilStopped("app stops", "side", "echo app >> /w/side"));
    await write("side", [app], { initContainers: [sidecar("first"), setup, sidecar("last")] });
    const seen = await waitForPod(node, "side", isReady, "Ready");
    await waitFor(async () => (await written("side")).length === 4, {
      what: "all to have begun",
      timeoutMs: PATIENCE_MS,
    });
    const begun = await written("side");
    assert.deepEqual(begun.slice(0, 2), ["first", "setup"]);
    assert.deepEqual(begun.slice(2).toSorted(), ["app", "last"]);

    await runtime.stopContainer(idOf(statusOf(seen, "first")), 0);
    const back = await waitForPod(
      node,
      "side",
      (pod) => isReady(pod) && statusOf(pod, "first")?.restartCount === 1,
      "its sidecar back",
    );
    assert.equal(statusOf(back, "first")?.lastState.terminated?.exitCode, 137);
    assert.equal(statusOf(back, "app")?.containerID, statusOf(seen, "app")?.containerID);
    assert.equal(statusOf(back, "setup")?.restartCount, 0);
    await waitFor(async () => (await written("side")).length === 5, {
      what: "it to have begun",
      timeoutMs: PATIENCE_MS,
    });

    await node.removeManifest("side");
    await waitGone(node, "side");
    assert.deepEqual((await written("side")).slice(5), ["app stops", "last stops", "first stops"]);
  });

  test("sidecars go when the last app container of a pod has ended, and the pod has succeeded", async () => {
    const sidecar = box("proxy", untilStopped("proxy stops", "job", "touch /w/job-up"), { restartPolicy: "Always" });
    // A shell that does not catch the signal yet would be killed after its grace.
    const app = box("app", "until [ -e /w/job-up ]; do sleep 0.05; done; echo done >> /w/job");
    await write("job", [app], { restartPolicy: "OnFailure", initContainers: [sidecar] });
    const seen = await waitForPod(
      node,
      "job",
      (pod) => pod.status?.phase === "Succeeded" && statusOf(pod, "proxy")?.state.terminated !== undefined,
      "Succeeded, its sidecar stopped",
    );
    assert.deepEqual(await written("job"), ["done", "proxy stops"]);
    assert.equal(statusOf(seen, "proxy")?.restartCount, 0);
  });

  test("an init container that fails is held back each time, then lets the pod go on", async () => {
    const flaky = box("flaky", "echo try >> /w/flaky; [ -e /w/flaky-go ]");
    const late = box("late", "echo late >> /w/flaky");
    await write("flaky", [box("app", IDLE)], { initContainers: [flaky, late] });
    const held = await waitForPod(
      node,
      "flaky",
      (pod) => statusOf(pod, "flaky")?.state.waiting?.reason === "CrashLoopBackOff",
      "held back",
    );
    assert.equal(held.status?.phase, "Pending");
    assert.match(
      statusOf(held, "flaky")?.state.waiting?.message ?? "",
      /^back-off 1s restarting failed container=flaky /,
    );
    await waitForPod(node, "flaky", (pod) => (statusOf(pod, "flaky")?.restartCount ?? 0) >= 2, "tried three times");
    await writeFile(join(folder, "flaky-go"), "");
    const seen = await waitForPod(node, "flaky", isReady, "Ready");
    const tries = 1 + (statusOf(seen, "flaky")?.restartCount ?? 0);
    assert.ok(tries >= 3, `${tries} tries`);
    assert.deepEqual(await written("flaky"), [...Array<string>(tries).fill("try"), "late"]);
    assert.equal(statusOf(seen, "late")?.restartCount, 0);
  });

  test("a container's own policy and rules decide over the pod's", async () => {
    const rule = { action: "Restart" as const, exitCodes: { operator: "In" as const, values: [42] } };
    const own = { restartPolicy: "Never" as const, restartPolicyRules: [rule] };
    const ruled = box("ruled", `${FIRST("ruled")} && exit 42; ${IDLE}`, own);
    const unruled = box("unruled", "exit 41", own);
    const stubborn = box("stubborn", `${FIRST("stubborn")} && exit 0; ${IDLE}`, { restartPolicy: "Always" });
    await write("rules", [ruled, unruled, stubborn], { restartPolicy: "Never" });
    const settled = (pod: PodView): boolean =>
      ["ruled", "stubborn"].every((name) => statusOf(pod, name)?.restartCount === 1 && isRunning(name)(pod)) &&
      statusOf(pod, "unruled")?.state.terminated !== undefined;
    const seen = await waitForPod(node, "rules", settled, "two of three restarted, the third terminated");
    assert.equal(seen.status?.phase, "Running");
    assert.equal(statusOf(seen, "ruled")?.lastState.terminated?.exitCode, 42);
    assert.deepEqual(
      [statusOf(seen, "unruled")?.restartCount, statusOf(seen, "unruled")?.state.terminated?.exitCode],
      [0, 41],
    );
  });

  test("RestartAllContainers restarts all containers of the pod in its sandbox", async () => {
    const rule = { action: "RestartAllContainers" as const, exitCodes: { operator: "In" as const, values: [88] } };
    const own = { restartPolicy: "Never" as const, restartPolicyRules: [rule] };
    // The second time it waits, so that what lies between can be looked at.
    const setup = box(
      "setup",
      `echo setup >> /w/all; ${FIRST("all-setup")} && exit 0; until [ -e /w/all-go ]; do sleep 0.05; done`,
    );
    const app = box(
      "app",
      `${FIRST("all-app")} && until [ -e /w/all-fire ]; do sleep 0.05; done && exit 88; ${IDLE}`,
      own,
    );
    await write("all", [app, box("other", IDLE)], { restartPolicy: "Never", initContainers: [setup] });
    const first = await waitForPod(node, "all", isReady, "Ready");
    const [sandbox] = await runtime.sandboxes(first.metadata.uid);
    assert.equal(conditionsOf(first)["AllContainersRestarting"], "False");

    await writeFile(join(folder, "all-fire"), "");
    const between = await waitForPod(
      node,
      "all",
      (pod) => isRunning("setup")(pod) && statusOf(pod, "other")?.state.waiting?.reason === "RestartingAllContainers",
      "its init container again",
    );
    assert.equal(conditionsOf(between)["AllContainersRestarting"], "True");
    assert.equal(statusOf(between, "app")?.state.waiting?.reason, "RestartingAllContainers");
    assert.equal(statusOf(between, "app")?.lastState.terminated?.reason, "RestartingAllContainers");

    await writeFile(join(folder, "all-go"), "");
    const again = await waitForPod(node, "all", isReady, "Ready again");
    assert.deepEqual(await written("all"), ["setup", "setup"]);
    for (const name of ["setup", "app", "other"]) assert.equal(statusOf(again, name)?.restartCount, 1, name);
    assert.equal(conditionsOf(again)["AllContainersRestarting"], "False");
    assert.equal(again.status?.podIP, first.status?.podIP);
    assert.deepEqual(
      (await runtime.sandboxes(first.metadata.uid)).map(({ id }) => id),
      [sandbox?.id],
    );
  });

  test("in a new sandbox init containers run again; with OnFailure containers that exited with 0 do not", async () => {
    const once = box("once", "echo once >> /w/anew");
    await write("anew", [once, box("app", IDLE)], {
      restartPolicy: "OnFailure",
      initContainers: [box("setup", "echo setup >> /w/anew")],
    });
    const first = await waitForPod(
      node,
      "anew",
      (pod) => isRunning("app")(pod) && statusOf(pod, "once")?.state.terminated?.exitCode === 0,
      "one container running, one done",
    );
    const { uid } = first.metadata;
    const [old] = await runtime.sandboxes(uid);
    assert.ok(old);
    await runtime.stopSandbox(old.id);
    const again = await waitForPod(
      node,
      "anew",
      (pod) => isRunning("app")(pod) && statusOf(pod, "setup")?.restartCount === 1,
      "running in a new sandbox",
    );
    const [current] = await runtime.sandboxes(uid);
    assert.equal(current?.metadata?.attempt, 1);
    assert.deepEqual(await written("anew"), ["setup", "once", "setup"]);
    assert.equal(statusOf(again, "once")?.restartCount, 0);
    assert.equal(statusOf(again, "once")?.state.terminated?.exitCode, 0);
  });
});
