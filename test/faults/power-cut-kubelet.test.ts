// The power goes while pods of a whole kubelet get exclusive CPUs. The next kubelet on that disk can read the CPU
// state. It runs one of the pods that ask for the CPU, and rejects the other. No pod survives a power cut, so either
// may be the one.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { PluginConnection } from "../../src/shared/kubernetes/plugins/connection.js";
import { PodResourcesListerService } from "../../src/shared/kubernetes/plugins/gen/podresources.v1.js";
import { run } from "../../tools/standalone/exec.js";
import { removeAllSandboxes, startNode, type TestNode } from "../harness/node.js";
import { RecordedDisk } from "../support/recorded-disk/recorded-disk.js";
import type { Survival } from "../support/recorded-disk/write-log.js";
import { chosenSeed, randomFrom } from "../support/seeded-random.js";
import { IDLE, manifest, PATIENCE_MS, shell, statusOf, waitForPod, waitGone } from "../support/static-pods.js";

/** Each has the only CPU that is not reserved. */
const OWNERS = ["second", "third"];
const RANDOM_CUTS = 1;

/** Positions are numbers of log entries. */
interface Promised {
  name: string;
  /** The pod ran. */
  from: number;
  /** Its removal began. */
  until: number;
}

function owner(name: string) {
  const limits = { cpu: "1", memory: "32Mi" };
  return manifest(name, [shell("app", IDLE, { resources: { limits } })]);
}

/**
 * The kubelet's root directory is `folder` for as long as `use` takes; no process or mount of the pods is left then.
 */
async function onDisk(node: TestNode, folder: string, use: () => Promise<void>): Promise<void> {
  await run("mount", ["--bind", folder, node.kubelet.rootDir]);
  try {
    await node.restart();
    await use();
  } finally {
    await node.kill9();
    await removeAllSandboxes(node.endpoint);
    await run("umount", [node.kubelet.rootDir]);
  }
}

/** The exclusive CPUs of a pod, as the pod resources service lists them. */
async function cpusOf(node: TestNode, name: string): Promise<string> {
  using service = new PluginConnection(`${node.kubelet.rootDir}/pod-resources/kubelet.sock`, systemClock);
  const { podResources } = await service.call(
    PodResourcesListerService.list,
    {},
    { timeoutMs: PATIENCE_MS, waitForReady: true },
  );
  const pod = podResources.find((one) => one.name.startsWith(`${name}-`));
  return (pod?.containers ?? []).flatMap(({ cpuIds }) => cpuIds).join();
}

const runs = (node: TestNode, name: string) =>
  waitForPod(node, name, (pod) => statusOf(pod, "app")?.state.running !== undefined, "runs");

/** Log lines about files that cannot be used. */
async function complaints(node: TestNode): Promise<string[]> {
  const lines = (await readFile(node.kubelet.log, "utf8")).split("\n");
  return lines.filter((line) => /set aside|damaged/.test(line));
}

/** Waits until each pod runs or is rejected. @returns those that run */
async function settled(node: TestNode, names: readonly string[]): Promise<string[]> {
  const ran: string[] = [];
  for (const name of names) {
    const pod = await waitForPod(
      node,
      name,
      (seen) => seen.status?.phase === "Failed" || statusOf(seen, "app")?.state.running !== undefined,
      "runs or is rejected",
    );
    if (pod.status?.phase !== "Failed") ran.push(name);
  }
  return ran;
}

/** Each pod in turn gets the CPU. */
async function handOut(node: TestNode, disk: RecordedDisk): Promise<Promised[]> {
  const promises: Promised[] = [];
  for (const name of OWNERS) {
    await node.writeManifest(name, owner(name));
    await runs(node, name);
    assert.notEqual(await cpusOf(node, name), "");
    const promised = { name, from: await disk.position(), until: Infinity };
    promises.push(promised);
    if (name === OWNERS.at(-1)) break;
    promised.until = await disk.position();
    await node.removeManifest(name);
    await waitGone(node, name);
  }
  return promises;
}

test("a kubelet that starts after a power cut gives no pod the CPU of another pod", async (t) => {
  const seed = chosenSeed();
  const random = randomFrom(seed);
  await using disk = await RecordedDisk.start();
  const node = await startNode({ start: false, config: { cpuManagerPolicy: "static", reservedSystemCPUs: "0" } });
  try {
    const folder = join(disk.root, "node");
    await mkdir(folder);
    await run("sync", ["-f", folder]);
    let promises: Promised[] = [];
    await onDisk(node, folder, async () => {
      promises = await handOut(node, disk);
    });
    for (const name of OWNERS.slice(-1)) await node.removeManifest(name);
    const log = await disk.log();
    const first = promises[0]?.from ?? 0;
    const cuts: { position: number; survival: Survival }[] = [
      ...promises.map(({ from }) => ({ position: from, survival: "none" as const })),
      ...Array.from({ length: RANDOM_CUTS }, () => ({
        position: first + Math.floor(random() * (log.length - first)),
        survival: "some" as const,
      })),
    ];
    t.diagnostic(`seed ${seed}: ${log.length} writes and flushes, cuts at ${cuts.map((cut) => cut.position).join()}`);
    for (const { position, survival } of cuts) {
      const valid = promises.filter(({ from, until }) => from <= position && position <= until).slice(0, 1);
      const names = [...valid.map(({ name }) => name), "newcomer"];
      for (const name of names) await node.writeManifest(name, owner(name));
      await disk.afterCut(log, position, survival, random, (root) =>
        onDisk(node, join(root, "node"), async () => {
          const ran = await settled(node, names);
          const owners = await Promise.all(names.map((name) => cpusOf(node, name)));
          const cut = `cut at ${position} of ${log.length} (${survival}): ${names.join()} have ${owners.join("|")}, ${ran.join()} ran`;
          assert.equal(ran.length, 1, cut);
          assert.equal(owners.filter((cpus) => cpus !== "").length, 1, cut);
          // Pod records are not synced: they may be damaged.
          assert.ok(!(await complaints(node)).some((line) => line.includes("cpu_manager_state")), cut);
        }),
      );
      for (const name of names) await node.removeManifest(name);
    }
  } finally {
    await node.stop();
  }
});
