// Containers that resist their end: one ignores SIGTERM, one forks without end. Other pods are not affected, and the
// containers are removed completely when their pods terminate.
// @promise Hostile tenants and clients: A container that ignores SIGTERM, a fork bomb inside podPidsLimit: neighbours
//   are unaffected, both containers are removed.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { cgroupFolders } from "../../tools/standalone/cgroups.js";
import { connectCri, type CriConnection } from "../../tools/standalone/cri.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, identities, isError, runs, sleeper } from "../support/fault-node.js";
import { manifest, PATIENCE_MS, shell, statusOf, waitForPod, waitGone } from "../support/static-pods.js";
import { strayTraces } from "../support/traces.js";

const PIDS_LIMIT = 48;
const CALM = ["calm-0", "calm-1"];

describe("hostile containers", () => {
  let node: TestNode;
  let cri: CriConnection;
  let ctl: string;
  let calm: Record<string, string>;

  before(async () => {
    node = await startNode({ config: { podPidsLimit: PIDS_LIMIT } });
    cri = connectCri(node.endpoint);
    ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    for (const name of CALM) await node.writeManifest(name, sleeper(name));
    const pods = await node.waitFor((seen) => CALM.every((name) => runs(seen, name)), {
      what: "the neighbours to run",
      timeoutMs: PATIENCE_MS,
    });
    calm = identities(pods, CALM);
  });
  after(async () => {
    cri.close();
    await node.stop();
  });

  test("a container that ignores SIGTERM is killed at the end of its grace period, after an edit and after a removal", async () => {
    await node.writeManifest("deaf", deaf("first"));
    const first = await waitForPod(node, "deaf", (pod) => isUp(pod) && existsSync(join(ctl, "first.up")), "running");
    await node.writeManifest("deaf", deaf("second"));
    await waitForPod(
      node,
      "deaf",
      (pod) => pod.metadata.uid !== first.metadata.uid && isUp(pod) && existsSync(join(ctl, "second.up")),
      "running in its second version",
    );
    assert.ok(existsSync(join(ctl, "first.asked")), "the first got SIGTERM before SIGKILL");
    await node.removeManifest("deaf");
    await waitGone(node, "deaf");
    assert.ok(existsSync(join(ctl, "second.asked")), "the second got SIGTERM before SIGKILL");
    await onlyNeighbours();
  });

  test("forking without end: limited by podPidsLimit, adopted by the next kubelet, and terminated on removal", async () => {
    await node.writeManifest("bomb", bomb());
    const seen = await waitForPod(node, "bomb", isUp, "running");
    const folder = await pidsFolder(seen.metadata.uid);
    assert.equal(await read(folder, "pids.max"), PIDS_LIMIT);
    const full = async (): Promise<boolean> => (await read(folder, "pids.current")) >= PIDS_LIMIT - 1;
    await waitFor(full, { what: "the pod to be full of processes", timeoutMs: PATIENCE_MS, intervalMs: 5 });

    await node.writeManifest("beside", sleeper("beside"));
    await node.waitFor((pods) => runs(pods, "beside"), { what: "a pod to start beside it", timeoutMs: PATIENCE_MS });
    await node.kill9();
    await node.restart();
    const again = await waitForPod(node, "bomb", isUp, "adopted");
    assert.equal(statusOf(again, "app")?.containerID, statusOf(seen, "app")?.containerID);
    await waitFor(full, { what: "it to fork on", timeoutMs: PATIENCE_MS, intervalMs: 5 });

    await node.removeManifest("bomb");
    await node.removeManifest("beside");
    await waitGone(node, "bomb");
    await waitGone(node, "beside");
    await onlyNeighbours();
  });

  /** Untouched pods are unchanged; nothing remains of all others. */
  async function onlyNeighbours(): Promise<void> {
    let stray = "";
    await waitFor(
      async () => {
        const uids = (await node.pods()).map(({ metadata }) => metadata.uid);
        stray = await strayTraces(node, cri, { pods: uids, alive: uids, containers: uids, mounted: [] });
        return stray === "";
      },
      { what: "the neighbours' traces to be all there is", timeoutMs: PATIENCE_MS, lastSeen: () => stray },
    );
    const pods = await node.pods();
    assert.equal(pods.length, CALM.length);
    assert.deepEqual(identities(pods, CALM), calm);
    assert.deepEqual((await agentLog(node)).filter(isError), []);
  }

  const volumes = (): object => ({ volumes: [{ name: "ctl", hostPath: { path: ctl } }] });
  const volumeMounts = [{ name: "ctl", mountPath: "/ctl" }];

  function deaf(version: string): object {
    const script = `trap 'touch /ctl/${version}.asked' TERM; touch /ctl/${version}.up; while true; do sleep 1 & wait $!; done`;
    // The shell gets its signal and starts `touch` within the grace period, also on a slow machine.
    const spec = { ...volumes(), terminationGracePeriodSeconds: 8 };
    return manifest("deaf", [shell("app", script, { volumeMounts })], { spec });
  }

  /** A shell that may not fork ends, and begins anew in its place. A quota leaves the machine to others. */
  function bomb(): object {
    const again = `printf '%s\\n' "trap 'exec sh /bomb' EXIT" 'while true; do sh /bomb & done' > /bomb`;
    const script = `${again}; exec sh /bomb`;
    return manifest("bomb", [shell("app", script, { resources: { limits: { cpu: "200m" } } })]);
  }
});

function isUp(pod: PodView): boolean {
  return statusOf(pod, "app")?.state.running !== undefined;
}

/** The pod's own cgroup in the tree of the pids controller. */
async function pidsFolder(uid: string): Promise<string> {
  const folders = await cgroupFolders(process.env["NODELET_CGROUP_ROOT"] ?? "");
  const found = folders.find((folder) => folder.endsWith(`pod${uid}`) && existsSync(join(folder, "pids.max")));
  assert.ok(found !== undefined, `pod ${uid} has a cgroup that counts processes`);
  return found;
}

async function read(folder: string, file: string): Promise<number> {
  return Number(await readFile(join(folder, file), "utf8"));
}
