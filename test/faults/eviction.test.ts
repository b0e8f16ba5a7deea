// Eviction while its thread is killed, the runtime does not respond, or the disk is full to the last block.
// @promise Resources of the node: The eviction thread killed under pressure, an unresponsive runtime, a disk without a
//   free block: the right pod is evicted.

import assert from "node:assert/strict";
import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { waitFor, type PodView } from "../harness/node.js";
import type { ApiObject } from "../support/api-kit.js";
import { boundPod, isReady, NODE_NAME, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { agentLog, controlFolder, metric, PATIENCE_MS, type AgentLogLine } from "../support/fault-node.js";
import { emptyDirOf, fill, memoryEater, startSmallNode } from "../support/small-node.js";
import { IDLE, IDLE_FAILING, shell } from "../support/static-pods.js";

const EATEN_MIB = 150;
const CALM = ["calm-a", "calm-b"];
const MEMORY = { eviction_signal: "allocatableMemory.available" };

describe("eviction under faults", () => {
  let cluster: ClusterNode;
  let ctl: string;

  before(async () => {
    cluster = await startSmallNode({
      memoryMiB: 200,
      diskMiB: 300,
      node: {
        env: { NODELET_FAULTS: "1" },
        config: {
          evictionHard: { "memory.available": "60Mi", "nodefs.available": "60Mi" },
          // A slow machine, too, reports the condition before the node leaves it.
          evictionPressureTransitionPeriod: "10s",
        },
      },
    });
    ctl = await controlFolder(cluster.node);
    for (const name of CALM) await cluster.api.create("pods", boundPod(name, IDLE));
    await Promise.all(CALM.map(ready));
    // The thread starts behind the pods.
    await logged(
      0,
      ({ thread, msg }) => thread === "eviction" && msg === "thread running",
      "the eviction thread to run",
    );
  });
  after(() => cluster.stop());

  const until = (name: string, holds: (pod: ApiObject | undefined) => boolean, what: string) =>
    cluster.api.waitFor("pods", "default", name, holds, { what: `${name} ${what}`, timeoutMs: PATIENCE_MS });
  const ready = (name: string): Promise<unknown> => until(name, isReady, "Ready");
  const evicted = async (name: string): Promise<void> => {
    const pod = await until(name, (one) => statusOf(one).phase === "Failed", "Failed");
    assert.equal(statusOf(pod).reason, "Evicted");
  };
  const pressure = (type: string, status: "True" | "False"): Promise<unknown> =>
    cluster.api.waitFor(
      "nodes",
      "",
      NODE_NAME,
      (node) => statusOf(node).conditions?.some((one) => one.type === type && one.status === status) === true,
      { what: `${type} to be ${status}`, timeoutMs: PATIENCE_MS },
    );
  const calmLive = async (): Promise<void> => {
    for (const name of CALM) {
      const pod = await cluster.api.find("pods", "default", name);
      assert.deepEqual([isReady(pod), statusOf(pod).containerStatuses?.[0]?.restartCount], [true, 0], name);
    }
  };
  const mark = async (): Promise<number> => (await agentLog(cluster.node)).length;
  const logged = (from: number, is: (line: AgentLogLine) => boolean, what: string): Promise<AgentLogLine> =>
    waitFor(async () => (await agentLog(cluster.node)).slice(from).find(is), {
      what,
      timeoutMs: PATIENCE_MS,
      intervalMs: 20,
    });
  const order = (from: number, name: string): Promise<AgentLogLine> =>
    logged(
      from,
      ({ thread, msg }) => thread === "main" && msg.startsWith(`evicting pod ${name}_default(`),
      `${name} to be evicted`,
    );
  const end = (from: number): Promise<AgentLogLine> =>
    logged(
      from,
      ({ severity, thread, msg }) => severity === "error" && thread === "eviction" && msg.startsWith("thread exited"),
      "the eviction thread to end",
    );
  const killThread = async (): Promise<void> => {
    const { pid, rootDir } = cluster.node.kubelet;
    assert.ok(pid !== undefined);
    await writeFile(join(rootDir, "nodelet", "fault"), "terminate eviction");
    process.kill(pid, "SIGUSR2");
  };
  const waitingEater = async (name: string, stubborn = false): Promise<() => Promise<void>> => {
    await cluster.api.create("pods", memoryEater(name, EATEN_MIB, { ctl, stubborn }));
    await ready(name);
    return () => writeFile(join(ctl, name), "");
  };

  test("the thread is killed as the pressure begins: the pod is evicted, and no other", async () => {
    const eat = await waitingEater("first");
    const from = await mark();
    await killThread();
    await eat();
    await end(from);
    await order(from, "first");
    await evicted("first");
    await pressure("MemoryPressure", "False");
    await calmLive();
  });

  test("the thread is killed while its order is carried out: no other pod is evicted, and the pressure stays", async () => {
    const eat = await waitingEater("second", true);
    const before = await metric(cluster.node, "kubelet_evictions", MEMORY);
    const from = await mark();
    await eat();
    await order(from, "second");
    await pressure("MemoryPressure", "True");
    await killThread();
    await end(from);
    await evicted("second");
    await pressure("MemoryPressure", "False");
    assert.equal(await metric(cluster.node, "kubelet_evictions", MEMORY), before + 1);
    const changesIn = async (): Promise<AgentLogLine[]> =>
      (await agentLog(cluster.node))
        .slice(from)
        .filter(({ thread, msg }) => thread === "main" && /^the node is (under|no longer under)/.test(msg));
    await waitFor(async () => (await changesIn()).length >= 2, { what: "both changes", timeoutMs: PATIENCE_MS });
    const changes = await changesIn();
    assert.equal(changes.length, 2, changes.map(({ msg }) => msg).join("\n"));
    await calmLive();
  });

  test("the runtime is silent: the order does not wait for it, the pod's end does", async () => {
    const eat = await waitingEater("third");
    const pid = cluster.node.containerd?.pid;
    assert.ok(pid !== undefined);
    const from = await mark();
    process.kill(pid, "SIGSTOP");
    try {
      await eat();
      await order(from, "third");
      await pressure("MemoryPressure", "True");
      assert.equal(statusOf(await cluster.api.find("pods", "default", "third")).phase, "Running");
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await evicted("third");
    await pressure("MemoryPressure", "False");
    await calmLive();
  });

  test("the disk is full to the last block: the pod that filled it is evicted, and the space is free again", async () => {
    const { api, node } = cluster;
    const volumes = [{ name: "data", emptyDir: {} }];
    const app = shell("app", IDLE_FAILING, { volumeMounts: [{ name: "data", mountPath: "/data" }] });
    const hog = await api.create(
      "pods",
      boundPod("hog", "", { volumes, containers: [{ ...app, imagePullPolicy: "Never" }] }),
    );
    await ready("hog");
    const data = emptyDirOf(node, hog.metadata.uid ?? "", "data");
    await fill(join(data, "filler"), Infinity);
    await evicted("hog");
    await pressure("DiskPressure", "False");
    await waitFor(
      () =>
        access(data).then(
          () => false,
          () => true,
        ),
      { what: "the volume to be removed", timeoutMs: PATIENCE_MS },
    );
    await calmLive();
    await api.create("pods", boundPod("afterwards", IDLE));
    await ready("afterwards");
    // The next kubelet writes the parts of its final status that could not be written.
    await node.kill9();
    await node.restart();
    const isEvicted = (status: PodView["status"]): boolean => status?.phase === "Failed" && status.reason === "Evicted";
    await node.waitFor((seen) => seen.some(({ metadata, status }) => metadata.name === "hog" && isEvicted(status)), {
      what: "hog to be known again, and Failed by its eviction",
      timeoutMs: PATIENCE_MS,
    });
  });
});

/** Milliseconds since the epoch. */
