// The cache never shows a pod from before main's change, and a wait for a new state always ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InspectionError, PodCache } from "../../../../src/main/pods/sync/pod-cache.js";
import type { InspectRequest, PlegRecord, RuntimeState } from "../../../../src/shared/contracts/pleg.js";
import type { ObservedPod } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { emptyObservation, settle } from "../../../support/sync-kit.js";
import { criContainer, criSandbox } from "../status/fixtures.js";

const never = new AbortController().signal;

function build() {
  const clock = new SteppedClock();
  const asked: InspectRequest[] = [];
  const pods: string[] = [];
  const runtimes: [RuntimeState, RuntimeState | undefined][] = [];
  const relists = { count: 0 };
  class KeptChanges extends PodCache {
    override onRecord(record: PlegRecord): ReturnType<PodCache["onRecord"]> {
      const change = super.onRecord(record);
      if (change?.kind === "pod") pods.push(change.uid);
      if (change?.kind === "runtime") runtimes.push([change.state, change.before]);
      if (change?.kind === "relisted") relists.count++;
      return change;
    }
  }
  const cache = new KeptChanges(clock, { inspect: (request) => asked.push(request) });
  return { clock, asked, pods, runtimes, relists, cache };
}

function full(uid: string, generation: number, containers = [criContainer("app")]): ObservedPod {
  return { ...emptyObservation(uid, generation), sandboxes: [criSandbox()], containers };
}

const pod = (observed: ObservedPod): PlegRecord => ({ kind: "pod", observed });
const failed = (uid: string, generation: number, code = "CriDeadlineExceededError"): PlegRecord => ({
  kind: "inspect-failed",
  uid: podUid(uid),
  generation,
  code,
  message: "it hangs",
});

test("a record from before the last change is dropped and counted, and no listener is called", () => {
  const { cache, pods } = build();
  cache.onRecord(pod(full("u", 0)));
  const generation = cache.bump(podUid("u"), []);
  cache.onRecord(pod(full("u", generation - 1, [])));
  assert.equal(cache.get(podUid("u")).containers.length, 1, "the stale picture is not believed");
  assert.equal(cache.staleRecords, 1);
  assert.deepEqual(pods, ["u"]);
  cache.onRecord(pod(full("u", generation, [])));
  assert.equal(cache.get(podUid("u")).containers.length, 0);
  assert.equal(cache.staleRecords, 1);
  assert.deepEqual(pods, ["u", "u"]);
});

test("generations rise across pods, and each change causes a request with its hints", () => {
  const { cache, asked } = build();
  const hints = [{ kind: "container", id: containerIdOf("c") }] as const;
  const first = cache.bump(podUid("a"), [...hints]);
  const second = cache.bump(podUid("b"), []);
  const third = cache.bump(podUid("a"), []);
  assert.ok(first < second && second < third);
  assert.deepEqual(asked, [
    { uid: "a", generation: first, hints },
    { uid: "b", generation: second, hints: [] },
    { uid: "a", generation: third, hints: [] },
  ]);
});

test("latest waits for the reply to the last change; without a change it resolves at once", async () => {
  const { cache } = build();
  assert.deepEqual(await cache.latest(podUid("u"), never), emptyObservation("u", 0));
  const first = cache.bump(podUid("u"), []);
  const second = cache.bump(podUid("u"), []);
  let seen: ObservedPod | undefined;
  const latest = cache.latest(podUid("u"), never).then((observed) => (seen = observed));
  cache.onRecord(pod(full("u", first)));
  await settle();
  assert.equal(seen, undefined, "the first change's reply is not the last one's");
  cache.onRecord(pod(full("u", second)));
  assert.equal((await latest).generation, second);
  assert.equal((await cache.latest(podUid("u"), never)).generation, second, "known: nothing to wait for");
});

test("a change that a pass waits for goes to it alone; a change that only shows progress goes to the listener", async () => {
  const { cache, pods } = build();
  const generation = cache.bump(podUid("u"), []);
  const pass = cache.latest(podUid("u"), never);
  cache.onRecord(pod(full("u", generation)));
  assert.equal((await pass).generation, generation);
  assert.deepEqual(pods, []);
  const next = cache.bump(podUid("u"), []);
  const progress = cache.waitFor(podUid("u"), next, never);
  cache.onRecord(pod(full("u", next)));
  await progress;
  assert.deepEqual(pods, ["u"]);
  cache.onRecord(pod(full("u", next, [])));
  assert.deepEqual(pods, ["u", "u"]);
});

test("the count of changes grows with each observation that is kept, and with a pod that is forgotten", () => {
  const { cache } = build();
  const counts = [cache.changes];
  const count = (): void => void counts.push(cache.changes);
  const generation = cache.bump(podUid("u"), []);
  count();
  cache.onRecord(pod(full("u", generation)));
  count();
  cache.onRecord(pod(full("u", generation - 1)));
  count();
  cache.onRecord(pod(full("u", generation, [])));
  count();
  cache.onRecord(pod(emptyObservation("u", generation)));
  cache.forget(podUid("u"));
  count();
  assert.deepEqual(counts, [0, 0, 1, 1, 2, 4]);
});

test("a later generation resolves every earlier wait", async () => {
  const { cache, clock } = build();
  const one = cache.waitFor(podUid("u"), cache.bump(podUid("u"), []), never);
  const two = cache.waitFor(podUid("u"), cache.bump(podUid("u"), []), never);
  cache.onRecord(pod(full("u", 99)));
  assert.deepEqual([(await one).generation, (await two).generation], [99, 99]);
  assert.equal(clock.pending, 0, "no timer is left");
});

test("a wait without a reply repeats its request every 10 s and fails after the third", async () => {
  const { cache, clock, asked } = build();
  const generation = cache.bump(podUid("u"), []);
  const wait = assert.rejects(cache.waitFor(podUid("u"), generation, never), (error: unknown) => {
    assert.ok(error instanceof InspectionError);
    assert.equal(error.code, "TIMEOUT");
    assert.match(error.message, /pod u .*30 s/);
    return true;
  });
  for (const expected of [1, 2, 3]) {
    await settle();
    assert.equal(asked.length, expected);
    assert.equal(asked.at(-1)?.generation, generation);
    clock.step(10_000);
  }
  await wait;
  assert.equal(clock.pending, 0);
});

test("a reply after the second request counts", async () => {
  const { cache, clock, asked } = build();
  const wait = cache.waitFor(podUid("u"), cache.bump(podUid("u"), []), never);
  clock.step(10_000);
  await settle();
  assert.equal(asked.length, 2);
  cache.onRecord(pod(full("u", 1)));
  assert.equal((await wait).generation, 1);
});

test("a failed inspection rejects waits up to its generation only", async () => {
  const { cache } = build();
  const first = cache.bump(podUid("u"), []);
  const early = cache.waitFor(podUid("u"), first, never);
  const second = cache.bump(podUid("u"), []);
  const late = cache.waitFor(podUid("u"), second, never);
  const rejected = assert.rejects(early, { name: "InspectionError", code: "CriDeadlineExceededError", uid: "u" });
  cache.onRecord(failed("u", first));
  await rejected;
  cache.onRecord(pod(full("u", second)));
  assert.equal((await late).generation, second);
});

test("after a failed inspection the next wait sends a request at once, not after the 10 s of a lost one", async () => {
  const { cache, asked, clock } = build();
  const generation = cache.bump(podUid("u"), []);
  const rejected = assert.rejects(cache.latest(podUid("u"), never), { name: "InspectionError" });
  cache.onRecord(failed("u", generation));
  await rejected;
  assert.equal(asked.length, 1);
  const second = cache.latest(podUid("u"), never);
  assert.equal(asked.length, 2, "requested at the next call");
  assert.equal(asked.at(-1)?.generation, generation);
  cache.onRecord(pod(full("u", generation)));
  assert.equal((await second).containers.length, 1);
  assert.equal(clock.pending, 0);
});

test("an aborted wait rejects with the signal's reason and leaves nothing behind", async () => {
  const { cache, clock } = build();
  const controller = new AbortController();
  const wait = cache.waitFor(podUid("u"), cache.bump(podUid("u"), []), controller.signal);
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(wait, /being terminated/);
  await assert.rejects(cache.waitFor(podUid("u"), 1, controller.signal), /being terminated/);
  assert.equal(clock.pending, 0);
});

test("a new pleg thread gets a request for every pod that main changed, waited for or not", async () => {
  const { cache, asked } = build();
  const idle = cache.bump(podUid("idle"), []);
  cache.onRecord(pod(full("idle", idle)));
  const open = cache.bump(podUid("open"), []);
  const wait = cache.latest(podUid("open"), never);
  asked.length = 0;
  cache.resend();
  // Were "idle" not asked for, the new thread would publish its exits with generation 0: stale, dropped for ever.
  assert.deepEqual(
    asked.map(({ uid, generation }) => [uid, generation]),
    [
      ["idle", idle],
      ["open", open],
    ],
  );
  cache.onRecord(pod(full("open", open)));
  await wait;
});

test("complete: only after the first relist, when each of its pods has been looked at", () => {
  const { cache, relists } = build();
  assert.equal(cache.complete, false);
  cache.onRecord(pod(full("early", 0)));
  assert.equal(cache.complete, false, "a pod seen alone says nothing of the others");
  cache.onRecord({ kind: "relisted", uids: [podUid("early"), podUid("a"), podUid("b")], durationMs: 1 });
  assert.equal(relists.count, 1);
  cache.onRecord(pod(full("a", 0)));
  assert.equal(cache.complete, false);
  cache.onRecord({ kind: "relisted", uids: [podUid("early"), podUid("a"), podUid("b"), podUid("c")], durationMs: 1 });
  cache.onRecord(pod(full("b", 0)));
  assert.equal(cache.complete, true, "pods of later relists do not count");
  cache.onRecord({ kind: "relisted", uids: [podUid("d")], durationMs: 1 });
  assert.equal(cache.complete, true);
});

test("complete at once when the runtime has no pods", () => {
  const { cache } = build();
  cache.onRecord({ kind: "relisted", uids: [], durationMs: 1 });
  assert.equal(cache.complete, true);
});

test("a pod that hangs at the first look does not hold up the others, yet is never taken for empty", async () => {
  const { cache, asked } = build();
  cache.onRecord({ kind: "relisted", uids: [podUid("stuck")], durationMs: 1 });
  cache.onRecord(failed("stuck", 0));
  assert.equal(cache.complete, true);
  let seen: ObservedPod | undefined;
  const latest = cache.latest(podUid("stuck"), never).then((observed) => (seen = observed));
  await settle();
  assert.equal(seen, undefined, "an empty picture would start a second sandbox");
  assert.equal(asked.at(-1)?.uid, "stuck");
  cache.onRecord(pod(full("stuck", asked.at(-1)?.generation ?? -1)));
  assert.equal((await latest).containers.length, 1);
});

test("runtime states reach the loop with the one before", () => {
  const { cache, runtimes } = build();
  const state: RuntimeState = {
    reachable: true,
    runtimeReady: true,
    networkReady: true,
    name: "fake",
    version: "1",
    events: false,
    message: "",
  };
  cache.onRecord({ kind: "runtime", state });
  const down = { ...state, reachable: false };
  cache.onRecord({ kind: "runtime", state: down });
  assert.deepEqual(runtimes, [
    [state, undefined],
    [down, state],
  ]);
  assert.equal(cache.runtime, down);
});

test("forgetting: an empty pod is removed, one that the runtime still has stays until it is removed there", () => {
  const { cache } = build();
  const generation = cache.bump(podUid("u"), []);
  cache.onRecord(pod(full("u", generation)));
  cache.forget(podUid("u"));
  assert.deepEqual(cache.uids(), ["u"]);
  cache.onRecord(pod(emptyObservation("u", 0)));
  assert.deepEqual(cache.uids(), [], "no request: the end of the pod removes its entry");
  cache.onRecord(pod(emptyObservation("v", cache.bump(podUid("v"), []))));
  assert.deepEqual(cache.uids(), ["v"]);
  cache.forget(podUid("v"));
  assert.deepEqual(cache.uids(), []);
});
