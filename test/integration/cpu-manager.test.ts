// CPU manager policy static on real containers: which CPUs a process may run on, as it sees it itself.
// Needs two CPUs; CPU 0 is reserved.
// @promise Resources of the node: No CPU is allocated twice, and no reserved one, on any machine of 1 to 8 NUMA nodes;
//   allocations survive SIGKILL.
// @with test/main/resources/cpu-manager

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseCpuList, printCpuList } from "../../src/shared/kubernetes/api/cpu-list.js";
import type { Container, ResourceRequirements } from "../../src/shared/kubernetes/api/pod.js";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import {
  idOf,
  logLines,
  manifest,
  PATIENCE_MS,
  shell,
  statusOf,
  waitForPod,
  waitGone,
} from "../support/static-pods.js";

let node: TestNode;
let online: number[];

before(async () => {
  online = parseCpuList((await readFile("/sys/devices/system/cpu/online", "utf8")).trim()) ?? [];
  assert.ok(online.length > 1 && online.includes(0), "a machine with CPU 0 and another one");
  node = await startNode({ config: { cpuManagerPolicy: "static", reservedSystemCPUs: "0" } });
});
after(() => node.stop());

/** No process but the shell: the pods have the least share of a CPU that others use too. */
const WATCH = `trap 'exit 0' TERM
while true; do
  while read -r key value; do
    [ "$key" = Cpus_allowed_list: ] && now=$value
  done < /proc/self/status
  [ "$now" = "$last" ] || echo "$now"
  last=$now
  sleep 0.2
done`;
const ONE_CPU: ResourceRequirements = { limits: { cpu: "1", memory: "32Mi" } };

/** A container that prints the list of its CPUs whenever it changes. */
function watcher(resources: ResourceRequirements): Container {
  return shell("main", WATCH, { resources });
}

/** The lists that the pod's container has printed so far, once the last one is `last`. */
async function cpusSeen(pod: PodView, last?: string): Promise<string[]> {
  let lines: string[] = [];
  await waitFor(
    async () => {
      lines = (await logLines(node, pod, "main")).map(({ text }) => text);
      return lines.length > 0 && (last === undefined || lines.at(-1) === last);
    },
    {
      what: `CPUs ${last ?? "of any kind"} in ${pod.metadata.name}`,
      timeoutMs: PATIENCE_MS,
      lastSeen: () => lines.join(" "),
    },
  );
  return lines;
}

async function running(name: string): Promise<PodView> {
  return await waitForPod(node, name, (seen) => statusOf(seen, "main")?.state.running !== undefined, "running");
}

async function quotaOf(ending: string): Promise<string> {
  for (const folder of await cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? "")) {
    if (!folder.endsWith(ending)) continue;
    for (const file of ["cpu.cfs_quota_us", "cpu.max"]) {
      const text = await readFile(join(folder, file), "utf8").catch(() => undefined);
      if (text !== undefined) return text.trim().split(" ")[0] ?? "";
    }
  }
  throw new Error(`no CPU cgroup ends in ${ending}`);
}

describe("policy static", () => {
  let sharing: PodView;
  let owner: PodView;
  /** The owner's CPU, and the CPUs of the shared pool. */
  let own: string;
  let rest: string;

  test("a Guaranteed pod has its CPU alone, without a quota; a Burstable one is moved off it", async () => {
    await node.writeManifest("sharing", manifest("sharing", [watcher({ requests: { memory: "16Mi" } })]));
    sharing = await running("sharing");
    await cpusSeen(sharing, printCpuList(online));
    await node.writeManifest("owner", manifest("owner", [watcher(ONE_CPU)]));
    owner = await running("owner");
    own = (await cpusSeen(owner))[0] ?? "";
    rest = printCpuList(online.filter((cpu) => cpu !== Number(own)));
    assert.ok(own !== "0" && online.map(String).includes(own), `one CPU that is not reserved: ${own}`);
    assert.deepEqual(await cpusSeen(sharing, rest), [printCpuList(online), rest]);
    for (const cgroup of [idOf(statusOf(owner, "main")), `pod${owner.metadata.uid}`]) {
      assert.ok(["-1", "max"].includes(await quotaOf(cgroup)), `a quota in ${cgroup}`);
    }
  });

  test("a request for one CPU too many is refused and disturbs no other pod", async () => {
    const many: ResourceRequirements = { limits: { cpu: online.length - 1, memory: "32Mi" } };
    await node.writeManifest("many", manifest("many", [watcher(many)]));
    const refused = await waitForPod(node, "many", ({ status }) => status?.phase === "Failed", "refused");
    assert.equal(refused.status?.reason, "UnexpectedAdmissionError");
    const count = online.length - 1;
    assert.equal(
      refused.status.message,
      `Pod was rejected: Allocate failed due to not enough cpus available to satisfy request: requested=${count}, ` +
        `available=${count - 1}, which is unexpected`,
    );
    await node.removeManifest("many");
  });

  test("SIGKILL to the kubelet: CPU assignments are not lost", async () => {
    await node.kill9();
    await node.restart();
    const again = await running("owner");
    assert.equal(idOf(statusOf(again, "main")), idOf(statusOf(owner, "main")));
    await node.writeManifest("late", manifest("late", [watcher({ requests: { memory: "16Mi" } })]));
    assert.deepEqual(await cpusSeen(await running("late"), rest), [rest]);
    assert.deepEqual(await cpusSeen(owner, own), [own]);
    assert.deepEqual(await cpusSeen(sharing, rest), [printCpuList(online), rest]);
  });

  test("after its end the CPU is everybody's again", async () => {
    await node.removeManifest("owner");
    await waitGone(node, "owner");
    await cpusSeen(sharing, printCpuList(online));
  });

  test("with the state file of another policy the kubelet does not start, and the error names it", async () => {
    await node.kubelet.end("SIGTERM");
    const state = join(node.kubelet.rootDir, "cpu_manager_state");
    await writeFile(state, JSON.stringify({ policyName: "none", defaultCpuSet: "" }));
    await node.kubelet.start();
    await waitFor(() => node.kubelet.exitCode !== undefined, { what: "the kubelet's end", timeoutMs: PATIENCE_MS });
    assert.notEqual(node.kubelet.exitCode, 0);
    const log = await readFile(node.kubelet.log, "utf8");
    assert.match(log, /event KubeletSetupFailed of node .*: configured policy/);
    assert.match(
      log,
      /configured policy .*static.* differs from state checkpoint policy .*none.*delete the CPU manager/,
    );
  });
});
