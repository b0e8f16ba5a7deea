// Resizes of a whole node under virtual time, with admission's own handlers.
// @promise Resources of the node: The sum of allocated resources never exceeds the node, for any requests, removals
//   and pending resizes.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PodEventStream } from "../../../../src/main/model/pod-events.js";
import { resourcesOf, sameResources } from "../../../../src/main/model/pod-resources.js";
import { AdmissionQueue } from "../../../../src/main/pods/admission/admission-queue.js";
import { NodeAdmission } from "../../../../src/main/pods/admission/node-admission.js";
import { Resizes } from "../../../../src/main/pods/admission/resizes.js";
import { Allocations } from "../../../../src/main/resources/allocation/allocations.js";
import type { ResizeRules } from "../../../../src/main/resources/allocation/resize-rules.js";
import { podRequests, sumOf } from "../../../../src/shared/kubernetes/api/pod-requests.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { milliValue } from "../../../../src/shared/kubernetes/api/quantity.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { defaultResizeRules } from "../../../support/resize-kit.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";
import { admissionNode } from "./kit.js";

const RETRY_MS = 180_000;
const FIRST_RETRY_MS = 30_000;

/** Makes a pod that requests this many millicores of a node with 2000. */
const asking = (name: string, milli: number): Pod =>
  pod({ containers: [container("app", { resources: { requests: { cpu: `${milli}m` } } })] }, name);

class World {
  readonly rules: ResizeRules = { ...defaultResizeRules };
  readonly clock = new SteppedClock();
  readonly log = keptLog().log;
  readonly events: string[] = [];
  readonly counted: string[] = [];
  readonly runs = new Map<string, Pod>();
  /** Admission has spoken of a resize, and the pod has not heard of it yet. */
  onAnswered: () => void = () => undefined;
  /** Pods that wait for admission. */
  readonly asked = new Map<string, AbortController>();
  readonly allocations = new Allocations("/dev/null/nowhere", this.clock, this.log);
  readonly admission = new AdmissionQueue(
    new NodeAdmission({
      apiStatus: () => undefined,
      node: () => Promise.resolve(admissionNode()),
      events: { pod: () => undefined, node: () => undefined },
      log: this.log,
      fail: () => Promise.resolve(),
      counters: { rejected: () => undefined, preempted: () => undefined },
    }),
  );
  readonly podEvents = new PodEventStream(this.log);
  readonly resizes = new Resizes({
    allocations: this.allocations,
    rules: this.rules,
    clock: this.clock,
    log: this.log,
    events: {
      pod: ({ metadata }, { reason, message }) => void this.events.push(`${metadata.name} ${reason} ${message}`),
    },
    counters: {
      requested: (...labels) => void this.counted.push(`requested ${labels.join(" ")}`),
      infeasible: (detail) => void this.counted.push(`infeasible ${detail}`),
      deferredAccepted: (trigger) => void this.counted.push(`accepted ${trigger}`),
      pending: () => undefined,
      inProgress: () => undefined,
      ended: (_ms, ok) => void this.counted.push(`ended ${ok}`),
    },
    admission: {
      resize: async (asked) => {
        const refusal = await this.admission.resize(asked);
        this.onAnswered();
        return refusal;
      },
    },
    podEvents: this.podEvents,
  });

  constructor() {
    this.podEvents.subscribe("workers", { resized: ({ pod: given }) => void this.runs.set(given.metadata.uid, given) });
  }

  /** A definition comes; the pod is admitted the first time. */
  async define(desired: Pod): Promise<void> {
    const { uid } = desired.metadata;
    const effective = this.resizes.onDesired(desired);
    this.admission.updated(effective);
    if (this.runs.has(uid)) this.runs.set(uid, effective);
    else if (!this.asked.has(uid)) {
      const removed = new AbortController();
      this.asked.set(uid, removed);
      const verdict = await this.admission.admit(effective, removed.signal).catch(() => undefined);
      if (this.asked.get(uid) === removed) this.asked.delete(uid);
      if (verdict?.admit === true && !removed.signal.aborted) {
        this.runs.set(uid, effective);
        this.resizes.onAdmitted(effective);
      }
    }
    await settle();
  }

  async remove({ metadata: { uid } }: Pod): Promise<void> {
    this.asked.get(uid)?.abort(new Error("removed"));
    this.asked.delete(uid);
    this.runs.delete(uid);
    this.admission.forget(uid);
    this.resizes.onRemoved(uid);
    await settle();
  }

  conditions({ metadata: { uid } }: Pod): string[] {
    return this.resizes
      .shown(uid)
      .conditions.map(({ type, reason }) => (reason === undefined ? type : `${type} ${reason}`));
  }

  milli({ metadata: { uid } }: Pod): number {
    const runs = this.runs.get(uid);
    return runs === undefined ? 0 : Number(milliValue(sumOf(podRequests(runs), "cpu")));
  }
}

test("a resize that fits is allocated at once, is in progress until it is observed, and is reported", async () => {
  const world = new World();
  const [before, after] = [asking("a", 100), asking("a", 300)];
  await world.define(before);
  assert.deepEqual(world.conditions(before), []);
  await world.define(after);
  assert.equal(world.milli(after), 300);
  assert.deepEqual(world.conditions(after), ["PodResizeInProgress"]);
  assert.equal(world.events.length, 1);
  assert.equal(
    world.events[0],
    'a ResizeStarted Pod resize started: {"containers":[{"name":"app","resources":{"requests":{"cpu":"300m"}}}],"generation":0}',
  );
  world.resizes.onSynced(before, false);
  assert.deepEqual(world.conditions(after), ["PodResizeInProgress"], "a look from before the decision says nothing");
  world.resizes.onSynced(after, true);
  world.resizes.onSynced(after, false);
  assert.deepEqual(world.conditions(after), []);
  assert.match(world.events[1] ?? "", /^a ResizeCompleted Pod resize completed: \{/);
  assert.deepEqual(world.counted, ["requested cpu requests increase", "ended true"]);
});

test("a resize without room is deferred, reported once, and granted when a pod goes", async () => {
  const world = new World();
  const [hog, small, desired] = [asking("hog", 1500), asking("a", 100), asking("a", 1000)];
  await world.define(hog);
  await world.define(small);
  await world.define(desired);
  assert.deepEqual(world.conditions(desired), ["PodResizePending Deferred"]);
  assert.equal(world.milli(desired), 100);
  assert.match(
    world.events[0] ?? "",
    /^a ResizeDeferred Pod resize OutOfcpu: .*"error":"Node didn't have enough resource/,
  );
  assert.equal(world.resizes.shown(podUid("uid-a")).desired, desired);
  await world.define(desired);
  assert.equal(world.events.length, 1);
  await world.remove(hog);
  assert.equal(world.milli(desired), 1000);
  assert.deepEqual(world.counted.slice(-1), ["accepted pods_removed"]);
});

test("a deferred resize is granted when another pod shrinks or has terminated, or at a retry", async () => {
  const world = new World();
  const desired = asking("a", 1000);
  await world.define(asking("hog", 1500));
  await world.define(asking("a", 100));
  await world.define(desired);
  await world.define(asking("hog", 900));
  assert.equal(world.milli(desired), 1000);
  assert.ok(world.counted.includes("accepted pod_resized"));

  await world.define(asking("a", 1500));
  assert.equal(world.milli(desired), 1000);
  world.runs.delete("uid-hog");
  world.admission.forget(podUid("uid-hog"));
  world.resizes.onOver(podUid("uid-hog"));
  await settle();
  assert.equal(world.milli(desired), 1500);
  assert.ok(world.counted.includes("accepted pod_terminated"));

  await world.define(asking("b", 400));
  await world.define(asking("b", 800));
  assert.equal(world.milli(asking("b", 0)), 400);
  world.resizes.start();
  // Resources that became free without an event.
  world.admission.forget(podUid("uid-a"));
  world.clock.step(FIRST_RETRY_MS);
  await settle();
  assert.equal(world.milli(asking("b", 0)), 800);
  assert.ok(world.counted.includes("accepted periodic_retry"));
  await world.resizes.stop();
  world.clock.step(RETRY_MS);
  assert.equal(world.clock.pending, 0);
});

test("a definition that comes between a grant and the pod hearing of it takes nothing back", async () => {
  const world = new World();
  await world.define(asking("hog", 1500));
  await world.define(asking("a", 100));
  let late: Promise<unknown> = Promise.resolve();
  world.onAnswered = () => {
    world.onAnswered = () => undefined;
    late = Promise.all([world.define(asking("a", 450)), world.define(asking("b", 400))]);
  };
  await world.define(asking("a", 500));
  await late;
  assert.equal(world.runs.has("uid-b"), false, "b would take the room that a was promised");
  assert.equal(world.milli(asking("a", 0)), 450);
});

test("an impossible resize is reported as infeasible and not tried again; taken back, it leaves nothing", async () => {
  const world = new World();
  const before = asking("a", 100);
  await world.define(before);
  await world.define(asking("a", 3000));
  assert.deepEqual(world.conditions(before), ["PodResizePending Infeasible"]);
  assert.match(world.events[0] ?? "", /^a ResizeInfeasible Pod resize Infeasible: /);
  assert.deepEqual(world.counted.slice(-1), ["infeasible insufficient_node_allocatable"]);
  await world.define(asking("b", 100));
  assert.equal(world.events.length, 1);
  await world.define(before);
  assert.deepEqual(world.conditions(before), []);
});

test("a failure is shown, reported once, and tried again after growing pauses", async () => {
  const world = new World();
  const [before, after] = [asking("a", 100), asking("a", 200)];
  await world.define(before);
  await world.define(after);
  world.resizes.onFailed(after, new Error("no"));
  assert.deepEqual(world.conditions(after), ["PodResizeInProgress Error"]);
  assert.equal(world.resizes.view(podUid("uid-a")).retryAt, 1000);
  world.resizes.onFailed(after, new Error("no"));
  assert.equal(world.resizes.view(podUid("uid-a")).retryAt, 2000);
  assert.equal(world.events.filter((line) => line.startsWith("a ResizeError Pod resize error: ")).length, 1);
  world.resizes.onResized(after, ["app"]);
  assert.equal(world.resizes.view(podUid("uid-a")).retryAt, undefined);
  world.resizes.onSynced(after, false);
  assert.deepEqual(world.conditions(after), []);
});

test("the next kubelet continues with the allocation, and requests the desired resources again", async () => {
  const world = new World();
  world.allocations.allocate(podUid("uid-a"), resourcesOf(asking("a", 100)));
  const desired = asking("a", 400);
  const effective = world.resizes.onDesired(desired);
  assert.ok(sameResources(resourcesOf(effective), resourcesOf(asking("a", 100))));
  assert.ok((await world.admission.admit(effective, new AbortController().signal)).admit);
  world.resizes.onAdmitted(effective);
  await settle();
  assert.equal(world.milli(desired), 400);
});

test("after a restart a resize is decided when the other pods of the earlier kubelet are admitted, or do not return", async () => {
  for (const how of ["admitted", "removed", "not on record any more", "late"] as const) {
    const world = new World();
    const [small, hog] = [asking("a", 100), asking("hog", 1500)];
    for (const pod of [small, hog]) world.allocations.allocate(pod.metadata.uid, resourcesOf(pod));
    world.resizes.start();
    const desired = asking("a", 1000);
    await world.define(desired);
    assert.equal(world.milli(desired), 100);
    assert.deepEqual(world.conditions(desired), [], "not decided");
    if (how === "admitted") await world.define(hog);
    else if (how === "removed") world.resizes.onRemoved(hog.metadata.uid);
    else if (how === "not on record any more") {
      world.allocations.forget(hog.metadata.uid);
      world.resizes.onSourcesSeen();
    } else world.clock.step(FIRST_RETRY_MS);
    await settle();
    assert.equal(world.milli(desired), how === "admitted" ? 100 : 1000, how);
    assert.deepEqual(
      world.conditions(desired),
      [how === "admitted" ? "PodResizePending Deferred" : "PodResizeInProgress"],
      how,
    );
    await world.resizes.stop();
  }
});

test("a terminated pod is admitted again with its desired resources", async () => {
  const world = new World();
  await world.define(asking("a", 100));
  await world.define(asking("a", 3000));
  world.resizes.onOver(podUid("uid-a"));
  assert.deepEqual(world.conditions(asking("a", 0)), []);
  assert.ok(sameResources(resourcesOf(world.resizes.onDesired(asking("a", 900))), resourcesOf(asking("a", 900))));
});

test("a change that needs a feature that the node does not declare is reported", async () => {
  const initContainers = (cpu: string) => [container("init", { resources: { requests: { cpu } } })];
  const changed = pod({ ...asking("a", 100).spec, initContainers: initContainers("2m"), resources: {} }, "a");
  const event = "a FailedNodeDeclaredFeaturesCheck Pod requires node features that are not available: ";
  const rows = [
    [["InPlacePodVerticalScalingInitContainers"], []],
    [[], [`${event}InPlacePodVerticalScalingInitContainers`]],
    [undefined, []],
  ] as const;
  for (const [declaredFeatures, told] of rows) {
    const world = new World();
    world.rules.declaredFeatures = declaredFeatures;
    await world.define(pod({ ...asking("a", 100).spec, initContainers: initContainers("1m") }, "a"));
    await world.define(changed);
    await world.define(changed);
    assert.deepEqual(
      world.events.filter((text) => text.includes("DeclaredFeatures")),
      told,
    );
    await world.resizes.stop();
  }
});

test("property: for any resizes and removals the allocated sum never exceeds the node", async () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const change = fc.oneof(
    { weight: 4, arbitrary: fc.record({ name, together: fc.boolean(), milli: fc.integer({ min: 1, max: 2500 }) }) },
    { weight: 1, arbitrary: fc.record({ name, together: fc.boolean() }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
      const world = new World();
      let burst: Promise<void>[] = [];
      for (const one of changes) {
        if ("milli" in one) burst.push(world.define(asking(one.name, one.milli)));
        else burst.push(world.remove(asking(one.name, 0)));
        if (one.together) continue;
        await Promise.all(burst);
        burst = [];
        const all = ["a", "b", "c", "d"].map((each) => world.milli(asking(each, 0)));
        assert.ok(all.reduce((sum, milli) => sum + milli, 0) <= 2000, all.join(" + "));
      }
      await Promise.all(burst);
      await world.resizes.stop();
    }),
    { numRuns: 30 },
  );
});
