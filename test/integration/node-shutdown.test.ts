// Graceful shutdown of a real node, with the test's own logind. Covers order, grace period and status of real
// containers, and pods rejected meanwhile. Also a cancellation, and a kubelet that is killed in the middle.
// @headline Resources of the node | The machine shuts down after its pods. | by priority
// @promise Resources of the node: The machine shuts down after its pods: by priority, each group in its time, with
//   upstream's status; also cancelled, killed during the shutdown, and without logind.
// @with test/main/node/shutdown, test/vm

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { fakeInhibit, type FakeInhibit } from "../support/fake-inhibit.js";
import { FakeLogind } from "../support/fake-logind.js";
import { agentLog } from "../support/fault-node.js";
import { logLines, manifest, PATIENCE_MS, shell, statusOf, waitForPod } from "../support/static-pods.js";

const MESSAGE = "Pod was terminated in response to imminent node shutdown.";

let node: TestNode;
let logind: FakeLogind;
let inhibit: FakeInhibit;
let out: string;

before(async () => {
  const base = process.env["NODELET_TEST_DIR"] ?? "";
  logind = new FakeLogind(join(base, "logind.sock"));
  await logind.listen();
  inhibit = await fakeInhibit(join(base, "inhibit"));
  node = await startNode({
    config: {
      shutdownGracePeriodByPodPriority: [
        // Only the pod that ignores its signal uses its time up: the others end by themselves.
        { priority: 0, shutdownGracePeriodSeconds: 20 },
        { priority: 10, shutdownGracePeriodSeconds: 5 },
        { priority: 1000, shutdownGracePeriodSeconds: 15 },
        { priority: 2_000_000_000, shutdownGracePeriodSeconds: 15 },
      ],
    },
    env: {
      DBUS_SYSTEM_BUS_ADDRESS: logind.address,
      PATH: `${inhibit.dir}:${process.env["PATH"] ?? ""}`,
    },
  });
  out = join(node.kubelet.dir, "out");
  await mkdir(out);
});
after(async () => {
  await node.stop();
  await logind.die();
});

/** Records SIGTERM and exits after `wait`. */
function noting(name: string, priority: number | undefined, wait: string) {
  const script = `trap 'echo "${name} told" >>/out/story; ${wait}; echo "${name} over" >>/out/story; exit 0' TERM
echo up; while true; do sleep 3600 & wait $!; done`;
  return manifest(name, [shell("app", script, { volumeMounts: [{ name: "out", mountPath: "/out" }] })], {
    spec: {
      ...(priority !== undefined && { priority }),
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: "out", hostPath: { path: out } }],
    },
  });
}

const pod = (name: string, what: string, condition: (pod: PodView) => boolean): Promise<PodView> =>
  waitForPod(node, name, condition, `to ${what}`);
const story = async (): Promise<string[]> =>
  (await readFile(join(out, "story"), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
const runs = (pod: PodView): boolean => statusOf(pod, "app")?.state.running !== undefined;
/** The pod runs and catches its stop signal. */
async function isUp(name: string): Promise<void> {
  const view = await pod(name, "run", runs);
  await until(`${name} to catch its signal`, async () =>
    (await logLines(node, view, "app")).some(({ text }) => text === "up"),
  );
}
const failed = (pod: PodView): boolean => pod.status?.phase === "Failed";
const locks = async (): Promise<string[]> => (await inhibit.log()).map((line) => line.split(" ")[0] ?? "");
const until = (what: string, condition: () => Promise<boolean>): Promise<unknown> =>
  waitFor(condition, { what, timeoutMs: PATIENCE_MS, lastSeen: async () => (await inhibit.log()).join("\n") });
const locked = (times: number): Promise<unknown> =>
  until("the lock", async () => (await locks()).filter((line) => line === "taken").length >= times);

describe("a node that shuts down", () => {
  test("holds the lock while it is up", async () => {
    await locked(1);
    assert.deepEqual(await locks(), ["taken"]);
  });

  test("ends its pods by priority, each group in its time, and lets the machine go", async () => {
    await node.writeManifest("low", noting("low", 0, "sleep 1"));
    await node.writeManifest("deaf", noting("deaf", 10, "sleep 60"));
    await node.writeManifest("high", noting("high", 1500, ":"));
    await node.writeManifest("system", noting("system", undefined, ":"));
    for (const name of ["low", "deaf", "high", "system"]) await isUp(name);
    logind.prepare(true);
    await until("the lock to be released", async () => (await locks()).at(-1) === "released");
    const seen = (await story()).filter((line) => line !== "deaf told");
    assert.deepEqual(seen, ["low told", "low over", "high told", "high over", "system told", "system over"]);
    for (const name of ["low", "deaf", "high", "system"]) {
      const { status } = await pod(name, "fail", failed);
      assert.equal(status?.reason, "Terminated");
      assert.equal(status.message, MESSAGE);
      const target = status.conditions?.find(({ type }) => type === "DisruptionTarget");
      assert.deepEqual([target?.status, target?.reason, target?.message], ["True", "TerminationByKubelet", MESSAGE]);
    }
    assert.equal(statusOf(await pod("deaf", "be there", () => true), "app")?.state.terminated?.exitCode, 137);
    const state = JSON.parse(await readFile(join(node.kubelet.rootDir, "graceful_node_shutdown_state"), "utf8")) as {
      startTime: string;
      endTime: string;
    };
    const took = Date.parse(state.endTime) - Date.parse(state.startTime);
    assert.ok(took >= 5000 && took < 60_000, `${took} ms`);
    await until("the shutdown in the log", async () =>
      (await agentLog(node)).some(({ msg }) => msg.includes("Shutdown manager detected shutdown event")),
    );
  });

  test("takes on no pod meanwhile", async () => {
    await node.writeManifest("late", noting("late", 0, ":"));
    const late = await pod("late", "be refused", failed);
    assert.equal(late.status?.reason, "NodeShutdown");
    assert.equal(late.status.message, "Pod was rejected: Pod was rejected as the node is shutting down.");
    await node.removeManifest("late");
  });

  test("is up again when the shutdown is called off", async () => {
    logind.prepare(false);
    await locked(2);
    await node.writeManifest("new", noting("new", 0, "until [ -e /out/go ]; do sleep 0.1; done"));
    await node.writeManifest("important", noting("important", undefined, ":"));
    await isUp("new");
    await isUp("important");
  });

  test("a kubelet killed during the shutdown releases its lock; the next one continues", async () => {
    logind.prepare(true);
    await until("the first pod to be told", async () => (await story()).includes("new told"));
    await node.kill9();
    await until("the lock to be released", async () => (await locks()).at(-1) === "released");
    assert.ok(!(await story()).includes("important told"));
    const taken = (await locks()).length;
    await node.kubelet.start();
    await writeFile(join(out, "go"), "");
    await node.kubelet.waitHealthy();
    for (const name of ["new", "important"]) {
      const { status } = await pod(name, "fail", failed);
      assert.equal(status?.reason, "Terminated");
    }
    const seen = await story();
    assert.deepEqual(seen.slice(seen.indexOf("new told")), [
      ...["new told", "new over", "important told", "important over"],
    ]);
    assert.equal((await locks()).length, taken, "no lock is requested in a shutdown");
    await until("the end to be noted", async () => {
      const metrics = await (await fetch(`${node.kubelet.url}/metrics`)).text();
      const of = (name: string): number =>
        Number(new RegExp(`^kubelet_graceful_shutdown_${name}_time_seconds (\\S+)$`, "m").exec(metrics)?.[1]);
      return of("start") > 0 && of("end") >= of("start");
    });
  });
});
