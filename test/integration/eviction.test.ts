// Node pressure on real containers: the evicted pod, the resources reclaimed before, events and conditions, and
// rejected new pods.
// @headline Resources of the node | Under pressure only the cause is evicted. | samples ≤ 1 s old
// @promise Resources of the node: A node under pressure first removes exited containers and unused images. Then it
//   evicts the pod that causes the pressure and no other. It rejects pods that would add to the pressure. Verdicts
//   survive a restart of the kubelet.

import assert from "node:assert/strict";
import { access, mkdir, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ContainerState, PodSandboxState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { hasImage } from "../../tools/standalone/cri.js";
import { importImages } from "../../tools/standalone/images.js";
import { writeOciArchive } from "../../tools/standalone/oci-archive.js";
import { testImage, waitFor, type TestNode } from "../harness/node.js";
import type { ApiObject, Fields } from "../support/api-kit.js";
import { boundPod, isReady, NODE_NAME, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { metric } from "../support/fault-node.js";
import { emptyDirOf, fill, memoryEater, MIB, startSmallNode } from "../support/small-node.js";
import { IDLE, IDLE_FAILING, manifest, RuntimeView, shell } from "../support/static-pods.js";

const PATIENCE_MS = 60_000;
const UNUSED = "nodelet.local/unused:1";
const CALM = ["calm-a", "calm-b"];

let cluster: ClusterNode;
let runtime: RuntimeView;

before(async () => {
  cluster = await startSmallNode({
    prepare: importUnused,
    memoryMiB: 200,
    diskMiB: 400,
    node: {
      config: {
        evictionHard: { "memory.available": "60Mi", "nodefs.available": "100Mi" },
        // The node still is under pressure when the pods that it rejects arrive.
        evictionPressureTransitionPeriod: "20s",
        imageMinimumGCAge: "1ms",
      },
    },
  });
  runtime = new RuntimeView(cluster.node.endpoint);
  await cluster.node.writeManifest("static", manifest("static", [shell("app", IDLE)]));
  for (const name of CALM) await cluster.api.create("pods", boundPod(name, IDLE));
  // The runtime counts written bytes only every ten seconds: these pods exceed their limits during the first test.
  for (const pod of overLimits()) await cluster.api.create("pods", pod);
  await Promise.all(CALM.map((name) => until(name, isReady, "Ready")));
});
after(async () => {
  runtime.close();
  await cluster.stop();
});

const until = (
  name: string,
  holds: (pod: ApiObject | undefined) => boolean,
  what: string,
): Promise<ApiObject | undefined> =>
  cluster.api.waitFor("pods", "default", name, holds, { what: `${name} ${what}`, timeoutMs: PATIENCE_MS });

async function evicted(name: string): Promise<ApiObject> {
  const pod = await until(name, (one) => statusOf(one).phase === "Failed", "Failed");
  assert.ok(pod !== undefined);
  assert.equal(statusOf(pod).reason, "Evicted", JSON.stringify(pod.status));
  return pod;
}

async function pressure(type: string, status: "True" | "False"): Promise<void> {
  await cluster.api.waitFor(
    "nodes",
    "",
    NODE_NAME,
    (node) => statusOf(node).conditions?.some((one) => one.type === type && one.status === status) === true,
    { what: `${type} to be ${status}`, timeoutMs: PATIENCE_MS },
  );
}

async function eventsOf(name: string, reason: string): Promise<ApiObject[]> {
  return await waitFor(
    async () => {
      const query = { fieldSelector: `involvedObject.name=${name},reason=${reason}` };
      const { items } = await cluster.api.list("events", "default", query);
      return items.length > 0 ? items : undefined;
    },
    { what: `event ${reason} of ${name}`, timeoutMs: PATIENCE_MS },
  );
}

async function counted(name: string, labels: Record<string, string>, count: number): Promise<void> {
  let seen = NaN;
  await waitFor(async () => (seen = await metric(cluster.node, name, labels)) === count, {
    what: `${name} ${JSON.stringify(labels)} to be ${count}`,
    timeoutMs: PATIENCE_MS,
    lastSeen: () => String(seen),
  });
}

const conditionOf = (pod: ApiObject, type: string) => statusOf(pod).conditions?.find((one) => one.type === type);

async function othersLive(): Promise<void> {
  for (const name of [...CALM, `static-${NODE_NAME}`]) {
    const pod = await cluster.api.find("pods", "default", name);
    assert.deepEqual([name, isReady(pod), statusOf(pod).containerStatuses?.[0]?.restartCount], [name, true, 0]);
  }
}

describe("a node that runs short", () => {
  test("of memory: the pod above its request is evicted, others stay, and best-effort pods are rejected", async () => {
    const { api } = cluster;
    await api.create("pods", memoryEater("eater", 150));
    await pressure("MemoryPressure", "True");
    const modest = boundPod("modest", IDLE);
    const { containers } = modest["spec"] as { containers: Fields[] };
    Object.assign(containers[0] ?? {}, { resources: { requests: { memory: "4Mi" } } });
    await Promise.all([api.create("pods", boundPod("beggar", IDLE)), api.create("pods", modest)]);
    const refused = await evicted("beggar");
    assert.equal(
      statusOf(refused).message,
      "Pod was rejected: The node had condition: [MemoryPressure]. ",
      JSON.stringify(refused.status),
    );
    const gone = await evicted("eater");
    const status = statusOf(gone);
    assert.match(
      status.message ?? "",
      /^The node was low on resource: memory\. Threshold quantity: 60Mi, available: \d+[KM]i\. Container app was using \d+[KM]i, request is 1Mi, has larger consumption of memory\. $/,
    );
    // It has one second for its end. With a fifth of a processor, which dd still uses, the shell may not get its signal
    // in time.
    const code = status.containerStatuses?.[0]?.state.terminated?.exitCode;
    assert.ok(code === 3 || code === 137, `it exits on SIGTERM or is killed: ${code}`);
    const disruption = conditionOf(gone, "DisruptionTarget");
    assert.deepEqual([disruption?.status, disruption?.reason], ["True", "TerminationByKubelet"]);
    const [event] = await eventsOf("eater", "Evicted");
    assert.deepEqual(
      [event?.metadata.annotations?.["starved_resource"], event?.metadata.annotations?.["offending_containers"]],
      ["memory", "app"],
    );
    const [met] = await eventsOf(NODE_NAME, "EvictionThresholdMet");
    assert.equal(met?.["message"], "Attempting to reclaim memory");
    const label = { eviction_signal: "allocatableMemory.available" };
    await counted("kubelet_evictions", label, 1);
    await counted("kubelet_eviction_stats_age_seconds_count", label, 1);
    await until("modest", isReady, "Ready");
    await othersLive();
    await pressure("MemoryPressure", "False");
    await api.create("pods", boundPod("welcome", IDLE));
    await until("welcome", isReady, "Ready");
  });

  test("pods above a local storage limit of a volume or container are evicted", async () => {
    // Its container exits with 0.
    const volume = await until("volume", (one) => statusOf(one).phase === "Succeeded", "Succeeded");
    assert.ok(volume !== undefined);
    assert.equal(statusOf(volume).reason, undefined);
    const [event] = await eventsOf("volume", "Evicted");
    assert.equal(event?.["message"], 'Usage of EmptyDir volume "data" exceeds the limit "2Mi". ');
    assert.equal(conditionOf(volume, "DisruptionTarget"), undefined);
    const layer = await evicted("layer");
    // Of the pod or of its only container: whichever was looked at first.
    assert.match(
      statusOf(layer).message ?? "",
      /^(Pod ephemeral local storage usage exceeds the total limit of containers 2Mi\. |Container app exceeded its local ephemeral storage limit "2Mi"\. )$/,
    );
    const message = statusOf(await evicted("message")).message ?? "";
    assert.equal(message, "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ");
    await counted("kubelet_evictions", { eviction_signal: "emptydirfs.limit" }, 1);
    await othersLive();
  });

  test("of disk: dead containers and unused images are removed first, then the pod with most usage; its termination frees space", async () => {
    const { api, node } = cluster;
    assert.equal(await hasImage(runtime.cri, UNUSED), true);
    await api.create("pods", boundPod("done", "exit 0", { restartPolicy: "Never" }));
    const volumes = [{ name: "data", emptyDir: {} }];
    const mounted = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
    const hog = await api.create(
      "pods",
      boundPod("hog", "", { volumes, containers: [shellOf(IDLE_FAILING, mounted)] }),
    );
    const done = await until("done", (one) => statusOf(one).phase === "Succeeded", "Succeeded");
    await until("hog", isReady, "Ready");
    const { uid = "" } = done?.metadata ?? {};
    assert.equal((await runtime.containers(uid)).length, 1);
    // The phase may be shown first: what a pod leaves is reclaimed when its sandbox is stopped, too.
    await waitFor(
      async () => (await runtime.sandboxes(uid)).every(({ state }) => state === PodSandboxState.SANDBOX_NOTREADY),
      {
        what: "the sandbox of done to stop",
        timeoutMs: PATIENCE_MS,
      },
    );
    await fill(
      join(emptyDirOf(node, hog.metadata.uid ?? "", "data"), "filler"),
      400 * MIB - (await taken()) - 50 * MIB,
    );
    await pressure("DiskPressure", "True");
    const gone = await evicted("hog");
    assert.match(
      statusOf(gone).message ?? "",
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 100Mi, available: \d+[KM]i\. /,
    );
    assert.equal(await hasImage(runtime.cri, UNUSED), false);
    assert.equal(await hasImage(runtime.cri, testImage()), true);
    assert.deepEqual(await runtime.containers(uid), []);
    assert.equal(statusOf(await api.find("pods", "default", "done")).phase, "Succeeded");
    await othersLive();
    await pressure("DiskPressure", "False");
    await assert.rejects(access(emptyDirOf(node, hog.metadata.uid ?? "", "data")));
  });

  test("a restarted kubelet runs no evicted pod again", async () => {
    const { api, node } = cluster;
    await node.kill9();
    await node.restart();
    const names = ["eater", "beggar", "volume", "layer", "message", "hog"];
    const pods = await node.waitFor(
      (seen) => [...names, ...CALM].every((name) => seen.some(({ metadata }) => metadata.name === name)),
      { what: "the pods to be known again", timeoutMs: PATIENCE_MS },
    );
    for (const name of names) {
      const shown = pods.find(({ metadata }) => metadata.name === name);
      const expected = name === "volume" ? ["Succeeded", undefined] : ["Failed", "Evicted"];
      assert.deepEqual([shown?.status?.phase, shown?.status?.reason], expected, name);
      const alive = (await runtime.containers(shown?.metadata.uid ?? "")).filter(
        ({ state }) => state === ContainerState.CONTAINER_RUNNING,
      );
      assert.deepEqual(alive, []);
      assert.equal(statusOf(await api.find("pods", "default", name)).reason, expected[1]);
    }
    await othersLive();
  });
});

/** Pods that write more than they may: to a volume, and beside it. */
function overLimits(): Fields[] {
  const volumes = [{ name: "data", emptyDir: { sizeLimit: "2Mi" } }];
  // The signal is caught before anything is written.
  const write = (path: string, idle: string): string =>
    idle.replace(";", `; dd if=/dev/zero of=${path} bs=1M count=4 2>/dev/null;`);
  const mounted = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
  const limited = { resources: { limits: { "ephemeral-storage": "2Mi" } } };
  return [
    boundPod("volume", "", { volumes, containers: [shellOf(write("/data/x", IDLE), mounted)] }),
    boundPod("layer", "", { containers: [shellOf(write("/x", IDLE_FAILING), limited)] }),
    boundPod("message", "", { containers: [shellOf(write("/dev/termination-log", IDLE_FAILING), limited)] }),
  ];
}

function shellOf(script: string, fields: Fields): Fields {
  return { name: "app", image: testImage(), imagePullPolicy: "Never", command: ["/bin/sh", "-c", script], ...fields };
}

/** Bytes of the small file system that are in use. */
async function taken(): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(cluster.node.kubelet.rootDir);
  return (blocks - bfree) * bsize;
}

async function importUnused({ kubelet, containerd }: TestNode): Promise<void> {
  const work = join(kubelet.dir, "images");
  const rootfs = join(work, "unused");
  await mkdir(rootfs, { recursive: true });
  await writeFile(join(rootfs, "name"), UNUSED);
  const archive = join(work, "unused.tar");
  await writeOciArchive([{ reference: UNUSED, rootfs, config: { Env: [], Cmd: ["true"] } }], archive, work);
  assert.ok(containerd !== undefined);
  await importImages(containerd.socket, archive);
}
