// The API server is unreachable, its storage is lost, or the machine reboots. Pods keep running, static pods start, and
// no change is lost. The kubelet does not overload the returned server.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { cgroupProcesses } from "../../tools/standalone/cgroups.js";
import { connectCri } from "../../tools/standalone/cri.js";
import { mountsBelow } from "../../tools/standalone/mounts.js";
import { isRunning } from "../../tools/standalone/pods.js";
import { sendSignal } from "../../tools/standalone/processes.js";
import { PATIENCE, sleep, waitFor } from "../../tools/standalone/wait.js";
import type { Fields } from "../fake-api/fake-api.js";
import { boundPod, NODE_NAME, statusOf } from "../support/cluster-node.js";
import {
  agentCalls,
  askToEnd,
  isNodeReady,
  livesOf,
  PATIENCE_MS,
  podIn,
  rate,
  settled,
  startFaultyCluster,
  still,
  unready,
  type FaultyCluster,
} from "../support/faulty-cluster.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";
import { runtimeTraces } from "../support/traces.js";

const NAMES = Array.from({ length: 10 }, (_, index) => `c${index}`);
/** While the server is away the kubelet may knock so often in a second, all its threads together. */
const KNOCKS_PER_SECOND = 15;
const AWAY_MS = 4000;
const STATIC = ["static-before", "static-meanwhile"] as const;
const mirror = (name: string): string => `${name}-${NODE_NAME}`;

describe("a cluster whose API server stops", () => {
  let cluster: FaultyCluster;
  let ctl: string;

  before(async () => {
    cluster = await startFaultyCluster({ node: { config: { crashLoopBackOff: { maxContainerRestartPeriod: "1s" } } } });
    ctl = join(cluster.node.kubelet.dir, "ctl");
    await mkdir(ctl);
  });
  after(() => cluster.stop());

  const put = (name: string, script: string, spec: Fields = {}): void => {
    const pod = boundPod(name, script, spec);
    cluster.fixture.store.put("pods", { ...pod, metadata: { name, namespace: "default" } });
  };
  const known = async (name: string): Promise<boolean> =>
    (await cluster.node.pods()).some(({ metadata }) => metadata.name === name);

  test("the API server is killed and restarted under churn", { timeout: 3 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture, node } = cluster;
    await node.writeManifest(STATIC[0], manifest(STATIC[0], [shell("app", IDLE)]));
    const volumes = [{ name: "ctl", hostPath: { path: ctl, type: "Directory" } }];
    const mounted = { volumeMounts: [{ name: "ctl", mountPath: "/ctl" }] };
    for (const name of NAMES) put(name, IDLE);
    const waits = "until [ -e /ctl/end ]; do sleep 0.1; done; exit 5";
    put("ends", "", { restartPolicy: "Never", volumes, containers: [{ ...shell("app", waits), ...mounted }] });
    await settled("ten pods", () => unready(fixture, [...NAMES, "ends", mirror(STATIC[0])]));

    const [goneBefore, goneMeanwhile, live] = [NAMES.slice(0, 2), NAMES.slice(2, 4), NAMES.slice(4)];
    const before = livesOf(fixture, [...live, mirror(STATIC[0])]);
    for (const name of goneBefore) await askToEnd(cluster, name);
    put("made-before", IDLE);
    await fixture.stop();
    const knocks = await away(async () => {
      for (const name of goneMeanwhile) fixture.store.remove("pods", "default", name);
      put("made-meanwhile", IDLE);
      await writeFile(join(ctl, "end"), "");
      await node.writeManifest(STATIC[1], manifest(STATIC[1], [shell("app", IDLE)]));
      await node.waitFor((pods) => pods.some((pod) => pod.metadata.name === mirror(STATIC[1]) && isRunning(pod)), {
        what: "a static pod runs while the server is away",
        timeoutMs: PATIENCE_MS,
      });
    });
    const limit = KNOCKS_PER_SECOND * knocks.seconds;
    assert.ok(knocks.count <= limit, `${knocks.count} connections in ${knocks.seconds} s`);

    const since = Date.now();
    await fixture.restart();
    const wanted = [...live, "made-before", "made-meanwhile", ...STATIC.map(mirror)];
    await settled("everybody Ready", () => unready(fixture, wanted));
    await settled("what was deleted is gone", () => still(fixture, goneBefore));
    await node.waitFor(
      (pods) => !pods.some(({ metadata }) => [...goneBefore, ...goneMeanwhile].includes(metadata.name)),
      {
        what: "pods that are no more end",
        timeoutMs: PATIENCE_MS,
      },
    );
    await settled("an end that nobody saw", () => {
      const { phase, containerStatuses } = statusOf(podIn(fixture, "ends"));
      return phase === "Failed" && containerStatuses?.[0]?.state.terminated?.exitCode === 5 ? "" : `phase ${phase}`;
    });
    assert.deepEqual(livesOf(fixture, [...live, mirror(STATIC[0])]), before, "no pod was touched");
    await settled("the heartbeat goes on", () =>
      agentCalls(fixture, since).some(({ verb, resource }) => verb === "update" && resource === "leases")
        ? ""
        : "no renewal",
    );
    fixture.store.remove("pods", "default", "ends");
  });

  test(
    "the server's storage is lost: static pods stay, pods it has lost end",
    { timeout: 3 * PATIENCE_MS * PATIENCE },
    async () => {
      const { fixture, node } = cluster;
      const ids = async (): Promise<unknown> =>
        (await node.pods())
          .filter(({ metadata }) => metadata.name.startsWith("static-"))
          .map(({ metadata, status }) => [metadata.uid, status?.containerStatuses?.[0]?.containerID])
          .sort();
      const before = await ids();
      await fixture.stop();
      fixture.store.wipe();
      const since = Date.now();
      await fixture.restart();
      await node.waitFor((pods) => pods.length === STATIC.length, {
        what: "pods that the storage has lost end",
        timeoutMs: PATIENCE_MS,
      });
      assert.deepEqual(await ids(), before);
      // As upstream: who deletes a node means it, until the kubelet starts again.
      assert.equal(fixture.store.get("nodes", "", NODE_NAME), undefined);
      await node.restart();
      await settled("the node is registered anew", () => (isNodeReady(fixture) ? "" : "not Ready"));
      await settled("mirror pods anew", () => unready(fixture, STATIC.map(mirror)));
      const uid = fixture.store.get("nodes", "", NODE_NAME)?.metadata.uid;
      for (const name of STATIC.map(mirror)) {
        const owners = podIn(fixture, name)?.metadata["ownerReferences"] as { uid: string }[] | undefined;
        assert.deepEqual(
          owners?.map((owner) => owner.uid),
          [uid],
          `${name} belongs to the new node`,
        );
      }
      assert.deepEqual(await ids(), before, "static pods were not touched");
      const seconds = (Date.now() - since) / 1000;
      const { perMinute, kinds } = rate(agentCalls(fixture, since), seconds);
      assert.ok(agentCalls(fixture, since).length < 150 + 10 * seconds, `${perMinute} calls a minute: ${kinds}`);
      put("after", IDLE);
      await settled("a pod of the new storage", () => unready(fixture, ["after"]));
      fixture.store.remove("pods", "default", "after");
    },
  );

  test("the machine reboots: kubelet and containers die at once", { timeout: 3 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture, node } = cluster;
    const memory = { volumes: [{ name: "memory", emptyDir: { medium: "Memory" } }] };
    const mounted = { volumeMounts: [{ name: "memory", mountPath: "/memory" }] };
    const app = { ...shell("app", IDLE), ...mounted };
    put("always", "", { ...memory, containers: [app] });
    put("job", "", { restartPolicy: "OnFailure", containers: [app], ...memory });
    put("once", "", { restartPolicy: "Never", containers: [app], ...memory });
    put("done", "exit 0", { restartPolicy: "OnFailure" });
    const wanted = ["always", "job", ...STATIC.map(mirror)];
    await settled("pods before the reboot", () => unready(fixture, [...wanted, "once"]));
    await settled("one is done", () => (statusOf(podIn(fixture, "done")).phase === "Succeeded" ? "" : "not yet"));
    const idOf = (name: string): string | undefined =>
      statusOf(podIn(fixture, name)).containerStatuses?.[0]?.containerID;
    const restartsOf = (name: string): number | undefined =>
      statusOf(podIn(fixture, name)).containerStatuses?.[0]?.restartCount;
    const before = new Map(wanted.map((name) => [name, idOf(name)]));
    const restartsBefore = new Map(wanted.map((name) => [name, restartsOf(name) ?? 0]));
    await node.kill9();
    const dead = await cgroupProcesses(process.env["NODELET_CGROUP_ROOT"] ?? assert.fail("no cgroup root"));
    assert.ok(dead.size >= 2 * (wanted.length + 1), "containers and their sandboxes");
    for (const pid of dead) sendSignal(pid, "SIGKILL");
    assert.ok((await mountsBelow(node.kubelet.rootDir)).length >= 3, "the mounts of volumes are left");
    await runtimeKnows();
    await node.restart();
    await settled("pods run again", () => {
      const problem = unready(fixture, wanted);
      const old = wanted.find((name) => idOf(name) === before.get(name));
      return problem !== "" || old === undefined ? problem : `${old} is still shown with its old container`;
    });
    for (const name of wanted) {
      assert.equal(restartsOf(name), (restartsBefore.get(name) ?? 0) + 1, `${name}: one restart`);
    }
    await settled("who runs once has failed", () => {
      const { phase, containerStatuses } = statusOf(podIn(fixture, "once"));
      return phase === "Failed" && containerStatuses?.[0]?.state.terminated?.exitCode === 137 ? "" : `phase ${phase}`;
    });
    assert.equal(statusOf(podIn(fixture, "done")).phase, "Succeeded");
    assert.equal(await known("once"), true);
  });

  /** The runtime of a machine that boots starts after the deaths: no sandbox is ready, and no container runs. */
  async function runtimeKnows(): Promise<void> {
    const cri = connectCri(cluster.node.endpoint);
    try {
      await waitFor(
        async () => {
          const { readySandboxes, running } = await runtimeTraces(cri);
          return readySandboxes.length === 0 && running.size === 0;
        },
        { what: "the runtime to know that all died", timeoutMs: PATIENCE_MS, intervalMs: 50 },
      );
    } finally {
      cri.close();
    }
  }

  /** Stands at the server's door while it is away, and counts who knocks. */
  async function away(meanwhile: () => Promise<void>): Promise<{ count: number; seconds: number }> {
    const began = performance.now();
    let count = 0;
    const door = createServer((socket) => {
      count++;
      socket.on("error", () => undefined).destroy();
    });
    door.listen(Number(new URL(cluster.fixture.url).port), "127.0.0.1");
    await once(door, "listening");
    try {
      await meanwhile();
      await sleep(Math.max(0, AWAY_MS - (performance.now() - began)));
      await settled("the kubelet to go on asking", () => (count > 0 ? "" : "no connection"));
    } finally {
      door.close();
      await once(door, "close");
    }
    return { count, seconds: (performance.now() - began) / 1000 };
  }
});
