// The probe manager: its messages to the thread, the effects of the records, and the results that outlive the kubelet.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { EventInput } from "../../../../src/main/model/event-recorder.js";
import { ProbeCheckpoint } from "../../../../src/main/pods/probes/checkpoint.js";
import { ProbeKills } from "../../../../src/main/pods/probes/probe-kills.js";
import { ProbeManager } from "../../../../src/main/pods/probes/probe-manager.js";
import { Verdicts } from "../../../../src/main/pods/probes/verdicts.js";
import type { ProbedPod, ProbeRecord } from "../../../../src/shared/contracts/prober.js";
import type { Probe } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { c, criContainer, makePod, observedPod } from "../status/fixtures.js";

const tcp: Probe = { tcpSocket: { port: 80 } };
const pod = makePod({ containers: [c("a", { startupProbe: tcp, livenessProbe: tcp, readinessProbe: tcp })] });
const plain = makePod({ containers: [c("a", { readinessProbe: tcp })] });

class World {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  readonly published: ProbedPod[] = [];
  readonly gone: string[] = [];
  readonly events: EventInput[] = [];
  readonly results: string[] = [];
  stale = 0;
  readonly verdicts = new Verdicts();
  readonly kills = new ProbeKills();
  readonly manager: ProbeManager;

  constructor(path: string) {
    this.manager = new ProbeManager({
      results: this.verdicts,
      kills: this.kills,
      checkpoint: new ProbeCheckpoint(path, this.verdicts, this.kills, this.clock, this.kept.log),
      forgetsResults: false,
      prober: { setPod: (one) => this.published.push(one), podRemoved: (uid) => this.gone.push(uid) },
      events: { pod: (_pod, event) => this.events.push(event), node: () => undefined },
      nodeIPs: () => [],
      clock: this.clock,
      onStale: () => this.stale++,
    });
  }

  /** "kind#generation[=verdict]" of the last set that the thread received. */
  get set(): string[] {
    return (this.published.at(-1)?.probes ?? []).map(
      ({ kind, generation, verdict }) => `${kind}#${generation}${verdict === undefined ? "" : `=${verdict}`}`,
    );
  }

  record(more: Partial<ProbeRecord> = {}): void {
    const changed = this.manager.onRecord({
      uid: podUid("u1"),
      containerId: containerIdOf("a-id"),
      kind: "readiness",
      generation: 1,
      outcome: "success",
      output: "",
      inARow: 1,
      lateMs: 0,
      at: 0,
      ...more,
    });
    if (changed !== undefined) this.results.push(changed);
  }
}

async function world(t: TestContext): Promise<World> {
  const managers: ProbeManager[] = [];
  // Before the folder is removed: a pending write would create files in it.
  t.after(() => Promise.all(managers.map((manager) => manager.stop())));
  const it = new World(join(await temporaryFolder(t), "probes", "results.json"));
  managers.push(it.manager);
  return it;
}

const observed = observedPod([criContainer("a")]);

describe("the probes that the thread receives", () => {
  test("a pod's set, again only when it is another one", async (t) => {
    const it = await world(t);
    it.manager.podSynced(plain, observed, "syncing");
    assert.deepEqual(it.set, ["readiness#1"]);
    it.manager.podSynced(plain, observed, "syncing");
    it.manager.podSynced(plain, { ...observed, generation: 9 }, "syncing");
    assert.equal(it.published.length, 1);
    it.manager.podSynced(plain, observedPod([criContainer("a", { id: "next" }), criContainer("a")]), "syncing");
    assert.deepEqual(it.set, ["readiness#2"]);
    it.manager.podSynced(plain, observedPod([]), "syncing");
    assert.deepEqual(it.published.at(-1), { uid: "u1", namespace: "ns", name: "web", probes: [] });
    it.manager.podRemoved(podUid("u1"));
    assert.deepEqual(it.gone, ["u1"]);
  });

  test("nothing of pods without probes", async (t) => {
    const it = await world(t);
    it.manager.podSynced(makePod(), observed, "syncing");
    it.manager.podRemoved(podUid("u1"));
    assert.deepEqual([it.published, it.gone, it.manager.probedPods()], [[], [], []]);
  });

  test("startup's success brings liveness and readiness at once", async (t) => {
    const it = await world(t);
    it.manager.podSynced(pod, observed, "syncing");
    assert.deepEqual(it.set, ["startup#1"]);
    it.record({ kind: "startup", verdict: "Success" });
    assert.deepEqual(it.set, ["liveness#2", "readiness#3"]);
    assert.deepEqual(it.results, ["u1"]);
  });

  test("a new thread gets all probes, with the results so far", async (t) => {
    const it = await world(t);
    it.manager.podSynced(pod, observed, "syncing");
    it.record({ kind: "startup", verdict: "Success" });
    it.record({ kind: "readiness", generation: 3, verdict: "Success" });
    const [all] = it.manager.probedPods();
    assert.deepEqual(
      all?.probes.map(({ kind, generation, verdict }) => [kind, generation, verdict]),
      [
        ["liveness", 2, undefined],
        ["readiness", 3, "Success"],
      ],
    );
  });

  test("liveness stops with the termination, readiness with the containers", async (t) => {
    const it = await world(t);
    it.manager.podSynced(pod, observed, "syncing");
    it.record({ kind: "startup", verdict: "Success" });
    it.manager.podSynced(pod, observed, "terminating");
    assert.deepEqual(it.set, ["readiness#3"]);
    it.manager.podSynced(
      pod,
      observedPod([criContainer("a", { state: ContainerState.CONTAINER_EXITED })]),
      "terminating",
    );
    assert.deepEqual(it.set, []);
  });
});

describe("handling of a record", () => {
  test("a verdict is kept and passed on once", async (t) => {
    const it = await world(t);
    it.manager.podSynced(plain, observed, "syncing");
    it.record({ verdict: "Success" });
    it.record({ verdict: "Success" });
    assert.equal(it.manager.results.readiness(containerIdOf("a-id")), "Success");
    assert.deepEqual(it.results, ["u1"]);
  });

  for (const [name, more] of Object.entries({
    "another generation": { generation: 7 },
    "another container": { containerId: containerIdOf("old") },
    "another pod": { uid: podUid("u2") },
    "a kind that does not run": { kind: "liveness" },
  } satisfies Record<string, Partial<ProbeRecord>>)) {
    test(`outdated, ${name}: dropped and counted`, async (t) => {
      const it = await world(t);
      it.manager.podSynced(plain, observed, "syncing");
      it.record({ ...more, outcome: "failure", verdict: "Failure" });
      assert.deepEqual([it.stale, it.results, it.events], [1, [], []]);
      assert.equal(it.manager.results.readiness(containerIdOf("a-id")), undefined);
    });
  }

  test("the events of runs that did not succeed", async (t) => {
    const it = await world(t);
    it.manager.podSynced(plain, observed, "syncing");
    it.record();
    it.record({ outcome: "failure", output: "no" });
    it.record({ outcome: "error", output: "away" });
    it.record({ outcome: "warning", output: "moved" });
    const common = { type: "Warning", container: "a" };
    assert.deepEqual(it.events, [
      { ...common, reason: "Unhealthy", message: "Readiness probe failed: no" },
      { ...common, reason: "Unhealthy", message: "Readiness probe errored and resulted in unknown state: away" },
      { ...common, reason: "ProbeWarning", message: "Readiness probe warning: moved" },
    ]);
  });

  test("while the pod is terminated readiness may go and does not come back", async (t) => {
    const it = await world(t);
    it.manager.podSynced(plain, observed, "syncing");
    it.record({ verdict: "Success" });
    it.manager.podSynced(plain, observed, "terminating");
    assert.equal(it.manager.results.readiness(containerIdOf("a-id")), "Success");
    it.record({ outcome: "failure", verdict: "Failure" });
    it.record({ verdict: "Success" });
    assert.equal(it.manager.results.readiness(containerIdOf("a-id")), "Failure");
  });

  test("results of a container are forgotten with it, not before", async (t) => {
    const it = await world(t);
    it.manager.podSynced(plain, observed, "syncing");
    it.record({ verdict: "Failure", outcome: "failure" });
    const ended = criContainer("a", { state: ContainerState.CONTAINER_EXITED });
    it.manager.podSynced(plain, observedPod([criContainer("a", { id: "next" }), ended]), "syncing");
    assert.equal(it.manager.results.readiness(containerIdOf("a-id")), "Failure");
    it.manager.podSynced(plain, observedPod([criContainer("a", { id: "next" })]), "syncing");
    assert.equal(it.manager.results.readiness(containerIdOf("a-id")), undefined);
  });
});

describe("the next kubelet", () => {
  async function lives(t: TestContext): Promise<{ path: string; next: () => Promise<World> }> {
    const path = join(await temporaryFolder(t), "probes", "results.json");
    const next = async (): Promise<World> => {
      const it = new World(path);
      await it.manager.load();
      return it;
    };
    return { path, next };
  }

  test("starts with the stored results; the thread continues from them", async (t) => {
    const { next } = await lives(t);
    const first = await next();
    first.manager.podSynced(pod, observed, "syncing");
    first.record({ kind: "startup", verdict: "Success" });
    first.record({ kind: "readiness", generation: 3, verdict: "Success" });
    await first.manager.stop();
    const second = await next();
    assert.equal(second.manager.results.readiness(containerIdOf("a-id")), "Success");
    second.manager.podSynced(pod, observed, "syncing");
    assert.deepEqual(second.set, ["liveness#1", "readiness#2=Success"]);
    await second.manager.stop();
  });

  test("knows which probe stopped a container, until the pod is removed", async (t) => {
    const { next } = await lives(t);
    const first = await next();
    first.manager.podSynced(pod, observed, "syncing");
    first.record({ kind: "startup", verdict: "Failure", outcome: "failure", output: "not yet", inARow: 3, at: 7 });
    await first.manager.stop();
    const second = await next();
    const kill = { container: "a", probe: "startup", containerId: "a-id", kills: 1, lastAt: 7, inARow: 3 };
    const answers = [{ text: "not yet", count: 1 }];
    assert.deepEqual(second.manager.kills.of(podUid("u1")).probeKills, [{ ...kill, answers }]);
    second.manager.podSynced(pod, observed, "syncing");
    second.manager.podRemoved(podUid("u1"));
    assert.deepEqual(second.manager.kills.of(podUid("u1")).probeKills, []);
    await second.manager.stop();
  });

  test("forgets removed containers at once, and unknown pods in time", async (t) => {
    const { path, next } = await lives(t);
    const pods = {
      u1: { "a-id": { readiness: "Success" }, old: { readiness: "Success" } },
      u9: { x: { startup: "Success" } },
    };
    const first = await next();
    await first.manager.stop();
    await writeFile(path, JSON.stringify({ version: 1, pods }));
    const second = await next();
    second.manager.podSynced(plain, observed, "syncing");
    assert.equal(second.manager.results.readiness(containerIdOf("old")), undefined);
    assert.equal(second.manager.results.startup(containerIdOf("x")), "Success");
    second.clock.step(10 * 60_000);
    assert.equal(second.manager.results.startup(containerIdOf("x")), undefined);
    assert.equal(second.manager.results.readiness(containerIdOf("a-id")), "Success");
    await second.manager.stop();
    assert.deepEqual(JSON.parse(await readFile(path, "utf8")), {
      version: 1,
      pods: { u1: { "a-id": { readiness: "Success" } } },
      kills: {},
    });
    assert.equal(second.clock.pending, 0);
  });

  for (const [name, text] of Object.entries({
    "no JSON": "{",
    "another version": '{"version":2,"pods":{}}',
    "no verdict": '{"version":1,"pods":{"u1":{"a-id":{"readiness":"Maybe"}}}}',
    "no kind": '{"version":1,"pods":{"u1":{"a-id":{"mood":"Success"}}}}',
    "no object": '{"version":1,"pods":[]}',
    "no stops by probes": '{"version":1,"pods":{},"kills":{"u1":[{"container":"a"}]}}',
  })) {
    test(`garbage is set aside: ${name}`, async (t) => {
      const { path, next } = await lives(t);
      await (await next()).manager.stop();
      await writeFile(path, text);
      const it = await next();
      assert.deepEqual(it.manager.results.uids(), []);
      assert.match(it.kept.warnings().join(), /is not usable: set aside as/);
      await it.manager.stop();
    });
  }

  test("many results become few writes, and a failing disk is reported once and tried again", async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, "file", "results.json");
    await writeFile(join(folder, "file"), "in the way");
    const it = new World(path);
    await it.manager.load();
    it.manager.podSynced(plain, observed, "syncing");
    for (let round = 0; round < 50; round++) {
      it.record({ verdict: round % 2 === 0 ? "Success" : "Failure" });
    }
    await it.manager.stop();
    assert.equal(it.kept.errors().length, 1);
    assert.match(it.kept.errors()[0] ?? "", /cannot write probe results to .*; after a restart/);
    assert.equal(it.manager.results.readiness(containerIdOf("a-id")), "Failure");
  });
});
