// A static pod from its file to Running and back, as an operator sees it: status, logs and restarts. Also the effect
// of a dead sandbox or a lost container.
// @promise Pods: A container restarts by its policy, with crash back-off, exit code in lastState and one log file per
//   run.

import assert from "node:assert/strict";
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { containerHash } from "../../src/main/model/container-hash.js";
import { PodSandboxState, type PodSandbox } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { RUNTIME_NAME, testImage, waitFor, type PodView } from "../harness/node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  conditionsOf,
  IDLE,
  idOf,
  logDirectory,
  logLines,
  manifest,
  NODE_NAME,
  PATIENCE_MS,
  podOf,
  shell,
  statusOf,
  waitForPod,
} from "../support/static-pods.js";

const LINKS = "/var/log/containers";
const { node, runtime } = await nodeForTests();

const running = (container: string) => (pod: PodView) => statusOf(pod, container)?.state.running !== undefined;

const isStopped = ({ state }: PodSandbox): boolean => state === PodSandboxState.SANDBOX_NOTREADY;

describe("static pods", { concurrency: 6 }, () => {
  test("a pod runs and is shown as upstream shows it", async () => {
    const app = shell("app", `echo out; echo err >&2; printf half; ${IDLE}`);
    const pod = manifest("first", [app], {
      metadata: { labels: { tier: "web" }, annotations: { "example.org/note": "kept" } },
    });
    await node.writeManifest("first", pod);
    const seen = await waitForPod(node, "first", (view) => conditionsOf(view)["Ready"] === "True", "Ready");

    const { metadata, status } = seen;
    assert.equal(metadata.name, `first-${NODE_NAME}`);
    assert.equal(metadata.namespace, "default");
    assert.match(metadata.uid, /^[0-9a-f]{32}$/);
    assert.deepEqual(metadata.labels, { tier: "web" });
    const { "kubernetes.io/config.seen": since = "", ...annotations } = metadata.annotations ?? {};
    assert.match(since, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/);
    assert.deepEqual(annotations, {
      "example.org/note": "kept",
      "kubernetes.io/config.source": "file",
      "kubernetes.io/config.hash": metadata.uid,
    });
    assert.equal(seen.spec.nodeName, NODE_NAME);
    assert.ok(seen.spec.tolerations?.some(({ operator, effect }) => operator === "Exists" && effect === "NoExecute"));

    assert.ok(status);
    assert.equal(status.phase, "Running");
    assert.equal(status.qosClass, "BestEffort");
    assert.match(status.podIP ?? "", /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(status.podIPs, [{ ip: status.podIP }]);
    assert.match(status.hostIP ?? "", /./);
    assert.match(status.startTime ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(conditionsOf(seen), {
      PodReadyToStartContainers: "True",
      Initialized: "True",
      Ready: "True",
      ContainersReady: "True",
      PodScheduled: "True",
    });
    const container = statusOf(seen, "app");
    assert.ok(container);
    assert.equal(container.ready, true);
    assert.equal(container.started, true);
    assert.equal(container.restartCount, 0);
    assert.deepEqual(container.lastState, {});
    assert.equal(container.image, testImage());
    assert.match(container.imageID, /sha256:[0-9a-f]{64}$/);
    assert.match(container.state.running?.startedAt ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(container.containerID ?? "", /^(containerd|docker):\/\/[0-9a-f]{64}$/);

    const [inRuntime, ...others] = await runtime.containers(metadata.uid);
    assert.equal(others.length, 0);
    assert.equal(inRuntime?.id, idOf(container));
    assert.deepEqual(inRuntime.labels, {
      "io.kubernetes.container.name": "app",
      "io.kubernetes.pod.name": metadata.name,
      "io.kubernetes.pod.namespace": "default",
      "io.kubernetes.pod.uid": metadata.uid,
    });
    assert.deepEqual(inRuntime.annotations, {
      "io.kubernetes.container.hash": containerHash(app),
      "io.kubernetes.container.restartCount": "0",
      "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
      "io.kubernetes.container.terminationMessagePolicy": "File",
      "io.kubernetes.pod.terminationGracePeriod": "2",
    });
    const [sandbox, ...more] = await runtime.sandboxes(metadata.uid);
    assert.equal(more.length, 0);
    assert.deepEqual(sandbox?.metadata, {
      name: metadata.name,
      namespace: "default",
      uid: metadata.uid,
      attempt: 0,
    });
    assert.equal(sandbox.labels["tier"], "web");
    assert.equal(sandbox.labels["io.kubernetes.pod.uid"], metadata.uid);
    assert.deepEqual(sandbox.annotations, metadata.annotations);

    // A container is Ready before its first line is in the log.
    const lines = await waitFor(
      async () => {
        const read = await logLines(node, seen, "app");
        return read.length >= 2 ? read : undefined;
      },
      { what: "its lines in the log", timeoutMs: PATIENCE_MS },
    );
    const said = lines.map(({ stream, text }) => `${stream} ${text}`).sort();
    assert.deepEqual(said.slice(0, 2), ["stderr err", "stdout out"]);
    const link = join(LINKS, `${metadata.name}_default_app-${idOf(container)}.log`);
    assert.equal(await readlink(link), join(logDirectory(node, seen), "app", "0.log"));
    assert.match(await readFile(link, "utf8"), /stdout F out/);
  });

  for (const [policy, exitCode, phase] of [
    ["Never", 0, "Succeeded"],
    ["Never", 3, "Failed"],
    ["OnFailure", 0, "Succeeded"],
  ] as const) {
    test(`restartPolicy ${policy}, exit code ${exitCode}: ${phase}, and it stays so`, async () => {
      const name = `ends-${policy.toLowerCase()}-${exitCode}`;
      const pod = manifest(name, [shell("app", `echo done; exit ${exitCode}`)], { spec: { restartPolicy: policy } });
      await node.writeManifest(name, pod);
      const ended = await waitForPod(node, name, ({ status }) => status?.phase === phase, phase);
      const terminated = statusOf(ended, "app")?.state.terminated;
      assert.equal(terminated?.exitCode, exitCode);
      assert.equal(terminated.reason, exitCode === 0 ? "Completed" : "Error");
      const reason = exitCode === 0 ? "PodCompleted" : "PodFailed";
      const ready = ended.status?.conditions?.find(({ type }) => type === "Ready");
      assert.deepEqual({ status: ready?.status, reason: ready?.reason }, { status: "False", reason });
      // The sandbox is stopped, and that is no reason to start anew.
      await waitFor(async () => (await runtime.sandboxes(ended.metadata.uid)).every(isStopped), {
        what: "the sandbox to be stopped",
        timeoutMs: PATIENCE_MS,
      });
      await waitForPod(node, "first", running("app"), "running beside it");
      const later = podOf(await node.pods(), name);
      assert.equal(later?.status?.phase, phase);
      assert.equal(statusOf(later, "app")?.restartCount, 0);
      assert.equal((await runtime.containers(ended.metadata.uid)).length, 1);
    });
  }

  for (const [policy, exitCode] of [
    ["Always", 0],
    ["Always", 3],
    ["OnFailure", 3],
  ] as const) {
    test(`restartPolicy ${policy}, exit code ${exitCode}: restarted at once, then held back`, async () => {
      const name = `restarts-${policy.toLowerCase()}-${exitCode}`;
      const pod = manifest(name, [shell("app", `exit ${exitCode}`)], { spec: { restartPolicy: policy } });
      await node.writeManifest(name, pod);
      const held = await waitForPod(
        node,
        name,
        (view) => statusOf(view, "app")?.state.waiting?.reason === "CrashLoopBackOff",
        "CrashLoopBackOff",
      );
      const status = statusOf(held, "app");
      assert.equal(held.status?.phase, "Running");
      // The first restart is at once, the next ones after 10 s, 20 s, …; a slow machine may show a later one first.
      assert.ok(status && status.restartCount >= 1);
      assert.equal(status.ready, false);
      assert.equal(status.lastState.terminated?.exitCode, exitCode);
      assert.equal(status.lastState.terminated.reason, exitCode === 0 ? "Completed" : "Error");
      const { uid } = held.metadata;
      assert.equal(
        status.state.waiting?.message,
        `back-off ${10 * 2 ** (status.restartCount - 1)}s restarting failed container=app pod=${name}-${NODE_NAME}_default(${uid})`,
      );
    });
  }

  test("a container that ends once is restarted, with the exit code in lastState and a log per run", async () => {
    // The first run leaves a mark on the volume, which outlives the container.
    const script = `if [ -e /mark/ran ]; then echo again; ${IDLE}; fi; touch /mark/ran; echo first; exit 7`;
    const app = shell("app", script, { volumeMounts: [{ name: "mark", mountPath: "/mark" }] });
    const other = shell("other", IDLE);
    await node.writeManifest(
      "once",
      manifest("once", [app, other], { spec: { volumes: [{ name: "mark", emptyDir: {} }] } }),
    );
    const pod = await waitForPod(
      node,
      "once",
      (view) => statusOf(view, "app")?.restartCount === 1 && conditionsOf(view)["Ready"] === "True",
      "running for the second time",
    );
    const { lastState } = statusOf(pod, "app") ?? {};
    assert.equal(lastState?.terminated?.exitCode, 7);
    assert.match(lastState.terminated.containerID ?? "", /^(containerd|docker):\/\/[0-9a-f]{64}$/);
    assert.notEqual(lastState.terminated.containerID, statusOf(pod, "app")?.containerID);
    assert.equal(statusOf(pod, "other")?.restartCount, 0);
    // A runtime may copy a line into the log after the container runs.
    const logged = (run: number): Promise<string[]> =>
      waitFor(
        async () => {
          const lines = await logLines(node, pod, "app", run);
          return lines.length > 0 ? lines.map(({ text }) => text) : undefined;
        },
        { what: `a line in the log of run ${run}`, timeoutMs: PATIENCE_MS },
      );
    assert.deepEqual([await logged(0), await logged(1)], [["first"], ["again"]]);
  });

  test("init containers run one after the other before the pod's own", async () => {
    const volumeMounts = [{ name: "order", mountPath: "/order" }];
    const write = (name: string): string => `sleep 0.3; echo ${name} >> /order/list`;
    const pod = manifest("inits", [shell("app", `cat /order/list; echo END; ${IDLE}`, { volumeMounts })], {
      spec: {
        volumes: [{ name: "order", emptyDir: {} }],
        initContainers: [shell("one", write("one"), { volumeMounts }), shell("two", write("two"), { volumeMounts })],
      },
    });
    await node.writeManifest("inits", pod);
    const seen = await waitForPod(node, "inits", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
    assert.deepEqual(
      seen.status?.initContainerStatuses?.map(({ name, ready, state }) => [name, ready, state.terminated?.reason]),
      [
        ["one", true, "Completed"],
        ["two", true, "Completed"],
      ],
    );
    const written = async (): Promise<string[]> => (await logLines(node, seen, "app")).map(({ text }) => text);
    // A container is Ready before its first line is in the log.
    await waitFor(async () => (await written()).includes("END"), { what: "the end of its log" });
    assert.deepEqual((await written()).slice(0, 2), ["one", "two"]);
  });

  test("a failing init container is tried again, and the pod stays Pending", async () => {
    const pod = manifest("stuck", [shell("app", IDLE)], { spec: { initContainers: [shell("broken", "exit 5")] } });
    await node.writeManifest("stuck", pod);
    const seen = await waitForPod(
      node,
      "stuck",
      (view) => statusOf(view, "broken")?.state.waiting?.reason === "CrashLoopBackOff",
      "its init container held back",
    );
    assert.equal(seen.status?.phase, "Pending");
    assert.equal(statusOf(seen, "broken")?.lastState.terminated?.exitCode, 5);
    assert.deepEqual(statusOf(seen, "app")?.state, { waiting: { reason: "PodInitializing" } });
    const initialized = seen.status.conditions?.find(({ type }) => type === "Initialized");
    assert.equal(initialized?.status, "False");
    assert.equal(initialized.reason, "ContainersNotInitialized");
    assert.equal(initialized.message, "containers with incomplete status: [broken]");
  });

  test("restartPolicy Never: a failing init container fails the pod", async () => {
    const spec = { restartPolicy: "Never" as const, initContainers: [shell("broken", "exit 5")] };
    await node.writeManifest("init-fails", manifest("init-fails", [shell("app", IDLE)], { spec }));
    const seen = await waitForPod(node, "init-fails", ({ status }) => status?.phase === "Failed", "Failed");
    assert.equal(statusOf(seen, "broken")?.state.terminated?.exitCode, 5);
    assert.equal((await runtime.containers(seen.metadata.uid)).length, 1);
  });

  test("a stopped sandbox is replaced, and its containers start again", async () => {
    await node.writeManifest("box", manifest("box", [shell("app", IDLE)]));
    const before = await waitForPod(node, "box", running("app"), "running");
    const { uid } = before.metadata;
    const [old] = await runtime.sandboxes(uid);
    assert.ok(old);
    await runtime.stopSandbox(old.id);
    await waitFor(async () => (await runtime.sandboxes(uid))[0]?.id !== old.id, {
      what: "a new sandbox",
      timeoutMs: PATIENCE_MS,
    });
    const [renewed] = await runtime.sandboxes(uid);
    const inNewSandbox = async (): Promise<Set<string>> => {
      const all = await runtime.containers(uid);
      return new Set(all.filter((one) => one.podSandboxId === renewed?.id).map((one) => `${RUNTIME_NAME}://${one.id}`));
    };
    await waitFor(async () => (await inNewSandbox()).size > 0, { what: "its container", timeoutMs: PATIENCE_MS });
    const there = await inNewSandbox();
    const after = await waitForPod(
      node,
      "box",
      (view) =>
        running("app")(view) &&
        there.has(statusOf(view, "app")?.containerID ?? "") &&
        conditionsOf(view)["Ready"] === "True",
      "running in a new sandbox",
    );
    assert.equal(after.metadata.uid, uid);
    // The container's end may be seen, and answered by a restart, just before its sandbox is seen to be removed.
    assert.ok([1, 2].includes(statusOf(after, "app")?.restartCount ?? 0));
    // Such a restart finds no namespaces to start in: StartError, 128; with docker ContainerCannotRun, 127.
    const { lastState } = statusOf(after, "app") ?? {};
    assert.ok([137, 128, 127].includes(lastState?.terminated?.exitCode ?? 0), JSON.stringify(lastState));
    const [current] = await runtime.sandboxes(uid);
    assert.notEqual(current?.id, old.id);
    assert.equal(current?.metadata?.attempt, 1);
    assert.equal(after.status?.podIPs?.length, 1);
  });

  test("a container removed behind the kubelet's back is made again", async () => {
    await node.writeManifest("lost", manifest("lost", [shell("app", IDLE), shell("other", IDLE)]));
    const before = await waitForPod(node, "lost", (view) => conditionsOf(view)["Ready"] === "True", "Ready");
    await runtime.removeContainer(idOf(statusOf(before, "app")));
    const after = await waitForPod(
      node,
      "lost",
      (view) => running("app")(view) && statusOf(view, "app")?.containerID !== statusOf(before, "app")?.containerID,
      "running again",
    );
    assert.equal(statusOf(after, "app")?.restartCount, 1);
    assert.equal(statusOf(after, "other")?.containerID, statusOf(before, "other")?.containerID);
    assert.equal((await runtime.sandboxes(before.metadata.uid)).length, 1);
  });

  test("a container killed from outside is restarted, with the runtime's report in lastState", async () => {
    await node.writeManifest("killed", manifest("killed", [shell("app", IDLE)]));
    const before = await waitForPod(node, "killed", running("app"), "running");
    await runtime.stopContainer(idOf(statusOf(before, "app")), 0);
    const after = await waitForPod(
      node,
      "killed",
      (view) => running("app")(view) && statusOf(view, "app")?.restartCount === 1,
      "running again",
    );
    const last = statusOf(after, "app")?.lastState.terminated;
    assert.equal(last?.exitCode, 137);
    assert.equal(last.containerID, statusOf(before, "app")?.containerID);
  });
});

test("log links point at log files", async () => {
  const links = (await readdir(LINKS)).filter((link) => link.includes(`-${NODE_NAME}_default_`));
  // Containers still crash and are removed, their links with them.
  const targets = (await Promise.all(links.map((link) => readlink(join(LINKS, link)).catch(() => undefined)))).filter(
    (target) => target !== undefined,
  );
  assert.ok(targets.length > 0);
  for (const target of targets) assert.match(basename(target), /^\d+\.log$/);
});
