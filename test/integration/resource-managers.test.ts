// CPU, memory and topology managers together on real containers, on one NUMA node. Compares the CPUs and memory nodes
// of a process as set in the runtime and as read by the process itself; assignments that survive SIGKILL; and the
// rejections. Needs two CPUs; CPU 0 is reserved.
// @promise Resources of the node: No byte of a NUMA node is allocated twice, and no node serves both alone and in a
//   group; allocations survive SIGKILL, in upstream's file.
// @with test/main/resources/memory-manager

import assert from "node:assert/strict";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { ContainerStatusResponse } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { call } from "../../tools/standalone/cri.js";
import { RUNTIME_NAME, waitFor, type PodView } from "../harness/node.js";
import { metric } from "../support/fault-node.js";
import { nodeForTests } from "../support/node-for-tests.js";
import {
  idOf,
  manifest,
  PATIENCE_MS,
  report,
  reporter,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

const PLACE = "grep -E '(Cpus|Mems)_allowed_list' /proc/self/status | cut -f2";
const RESERVED = "612Mi";

const { node, runtime } = await nodeForTests({
  config: {
    cpuManagerPolicy: "static",
    reservedSystemCPUs: "0",
    memoryManagerPolicy: "Static",
    topologyManagerPolicy: "single-numa-node",
    topologyManagerScope: "pod",
    featureGates: { PodLevelResourceManagers: true },
    kubeReserved: { memory: "512Mi" },
    evictionHard: { "memory.available": "100Mi" },
    reservedMemory: [{ numaNode: 0, limits: { memory: RESERVED } }],
  },
});

const guaranteed = (cpu: string, memory: string) => reporter("main", PLACE, { resources: { limits: { cpu, memory } } });

/** linux.resources.cpu of the container's OCI spec. */
async function inSpec(pod: PodView): Promise<{ cpus?: string; mems?: string }> {
  const containerId = idOf(statusOf(pod, "main"));
  const { info } = await call<ContainerStatusResponse>((done) =>
    runtime.cri.runtime.containerStatus({ containerId, verbose: true }, done),
  );
  const { runtimeSpec } = JSON.parse(info["info"] ?? "{}") as {
    runtimeSpec?: { linux?: { resources?: { cpu?: { cpus?: string; mems?: string } } } };
  };
  return runtimeSpec?.linux?.resources?.cpu ?? {};
}

type Held = Record<string, Record<string, unknown>>;

async function memoryState(): Promise<{ entries?: Held; podEntries?: Held }> {
  const text = await readFile(join(node.kubelet.rootDir, "memory_manager_state"), "utf8");
  return JSON.parse(text) as { entries?: Held; podEntries?: Held };
}

const held = async (): Promise<Held> => (await memoryState()).entries ?? {};

const running = async (name: string): Promise<PodView> =>
  await waitForPod(node, name, (seen) => statusOf(seen, "main")?.state.running !== undefined, "running");

describe("static policies, single-numa-node", () => {
  let owner: PodView;

  test("a Guaranteed pod has a CPU and memory on one node, another runs anywhere", async () => {
    await node.writeManifest("owner", manifest("owner", [guaranteed("1", "32Mi")]));
    await node.writeManifest("other", manifest("other", [reporter("main", PLACE)]));
    owner = await running("owner");
    const [cpu = "", nodes] = await report(node, "owner", "main");
    assert.match(cpu, /^[1-9]\d*$/, "one CPU, not the reserved one");
    assert.equal(nodes, "0");
    const other = await running("other");
    // The Engine's CRI server shows no OCI spec. The container has reported the same above.
    if (RUNTIME_NAME === "containerd") {
      const { cpus, mems } = await inSpec(owner);
      assert.deepEqual([cpus, mems], [cpu, "0"]);
      assert.equal((await inSpec(other)).mems ?? "", "");
    }
    assert.deepEqual(await held(), {
      [owner.metadata.uid]: { main: [{ numaAffinity: [0], type: "memory", size: 32 * 2 ** 20 }] },
    });
  });

  test("more than the node has is refused in the memory manager's words, and nothing is held for it", async () => {
    await node.writeManifest("huge", manifest("huge", [guaranteed("10m", "100Ti")]));
    const { status } = await waitForPod(node, "huge", (seen) => seen.status?.phase === "Failed", "refused");
    assert.equal(status?.reason, "UnexpectedAdmissionError");
    assert.equal(
      status.message,
      "Pod was rejected: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with " +
        "enough memory is available, which is unexpected",
    );
    assert.deepEqual(Object.keys(await held()), [owner.metadata.uid]);
    await node.removeManifest("huge");
  });

  test("CPUs that others have leave no place to agree on", async () => {
    const cpus = String(availableParallelism() - 1);
    await node.writeManifest("second", manifest("second", [guaranteed(cpus, "32Mi")]));
    const { status } = await waitForPod(node, "second", (seen) => seen.status?.phase === "Failed", "refused");
    assert.equal(status?.reason, "TopologyAffinityError");
    assert.equal(status.message, "Pod was rejected: Resources cannot be allocated with Topology locality");
    assert.deepEqual(Object.keys(await held()), [owner.metadata.uid]);
    // The next kubelet admits it again, perhaps after the owner of the CPUs has ended.
    await node.removeManifest("second");
    await waitGone(node, "second");
  });

  test("after SIGKILL the next kubelet restores all assignments, and releases them when the pod terminates", async () => {
    await node.kill9();
    await node.restart();
    assert.equal(idOf(statusOf(await running("owner"), "main")), idOf(statusOf(owner, "main")), "the same container");
    assert.deepEqual(Object.keys(await held()), [owner.metadata.uid]);
    await node.removeManifest("owner");
    await waitGone(node, "owner");
    await waitFor(async () => Object.keys(await held()).length === 0, {
      what: "the pod's memory to be free",
      timeoutMs: PATIENCE_MS,
    });
  });

  test("gate PodLevelResourceManagers: a pod has memory as a whole, of which its containers have parts", async () => {
    const list = { cpu: "300m", memory: "96Mi" };
    const resources = { requests: list, limits: list };
    const own = { ...guaranteed("100m", "32Mi"), name: "own" };
    const parts = manifest("parts", [own, reporter("main", PLACE)], { spec: { resources } });
    await node.writeManifest("parts", parts);
    const { uid } = (await running("parts")).metadata;
    const blocks = (mebibytes: number) => [{ numaAffinity: [0], type: "memory", size: mebibytes * 2 ** 20 }];
    const expected = {
      entries: { [uid]: { own: blocks(32), main: blocks(64) } },
      podEntries: { [uid]: { memoryBlocks: blocks(96) } },
    };
    const seen = async (): Promise<object> => {
      const { entries, podEntries } = await memoryState();
      return { entries, podEntries };
    };
    assert.deepEqual(await seen(), expected);
    assert.equal((await report(node, "parts", "main"))[1], "0");
    const assigned = (assignment_type: string): Promise<number | undefined> =>
      metric(node, "resource_manager_container_assignments", { resource_name: "memory", assignment_type });
    const both = async (): Promise<unknown[]> => [await assigned("pod_exclusive"), await assigned("pod_shared")];
    await waitFor(async () => isDeepStrictEqual(await both(), [1, 1]), {
      what: "an assignment of each kind to be counted",
      timeoutMs: PATIENCE_MS,
    });
    await node.kill9();
    await node.restart();
    await running("parts");
    assert.deepEqual(await seen(), expected);

    const full = manifest("full", [{ ...guaranteed("100m", "96Mi"), name: "own" }, reporter("main", PLACE)], {
      spec: { resources },
    });
    await node.writeManifest("full", full);
    const { status } = await waitForPod(node, "full", (one) => one.status?.phase === "Failed", "refused");
    assert.deepEqual(
      [status?.reason, status?.message],
      [
        "TopologyAffinityError",
        "Pod was rejected: Pod Scope pod with pod-level resources failed admission under pod-scope topology manager",
      ],
    );
    await node.removeManifest("full");
    await node.removeManifest("parts");
    await waitGone(node, "parts");
    await waitFor(async () => (await memoryState()).podEntries === undefined, {
      what: "the pod's memory to be free",
      timeoutMs: PATIENCE_MS,
    });
  });

  test("a damaged memory state: no memory is allocated while a pod with unknown memory runs", async () => {
    await node.writeManifest("pinned", manifest("pinned", [guaranteed("200m", "32Mi")]));
    const before = await running("pinned");
    await node.kill9();
    const path = join(node.kubelet.rootDir, "memory_manager_state");
    await truncate(path, 30);
    await node.restart();
    await node.writeManifest("early", manifest("early", [guaranteed("200m", "32Mi")]));
    const { status } = await waitForPod(node, "early", (seen) => seen.status?.phase === "Failed", "refused");
    assert.equal(status?.reason, "UnexpectedAdmissionError");
    const { message = "" } = status;
    assert.ok(
      message.includes(`the memory manager state ${path} could not be read (kept as ${path}.corrupt-`),
      message,
    );
    assert.ok(message.includes("delete these pods: pinned-testnode_default("), message);
    assert.equal(idOf(statusOf(await running("pinned"), "main")), idOf(statusOf(before, "main")), "it runs on");
    await runtime.stopContainer(idOf(statusOf(before, "main")), 0);
    const isWaiting = (seen: PodView) => statusOf(seen, "main")?.state.waiting?.reason === "CreateContainerConfigError";
    const stopped = await waitForPod(node, "pinned", isWaiting, "not started again");
    const why = statusOf(stopped, "main")?.state.waiting?.message ?? "";
    assert.ok(why.includes("the memory of container main is unknown and the container cannot start again"), why);
    await node.removeManifest("pinned");
    await waitGone(node, "pinned");
    await node.writeManifest("late", manifest("late", [guaranteed("200m", "32Mi")]));
    const late = await running("late");
    assert.deepEqual(Object.keys(await held()), [late.metadata.uid]);
  });

  test("reservations that do not add up keep the kubelet from starting", async () => {
    const { configFile } = node.kubelet;
    const config = JSON.parse(await readFile(configFile, "utf8")) as Record<string, unknown>;
    await writeFile(configFile, JSON.stringify({ ...config, kubeReserved: { memory: "1Gi" } }));
    await assert.rejects(
      node.restart(),
      /the total amount .{0,2}612Mi.{0,2} of type .{0,2}memory.{0,2} is not equal to the value .{0,2}1124Mi.{0,2} determined/,
    );
  });
});
