// The status manager under virtual time, on an API server in memory whose watch shows every change at once.
// @headline Cluster | The API server gets the newest status of every pod. | finally
// @promise Cluster: The API server finally has the newest status of every pod after any failures; no final phase is
//   reverted.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { withGenerationDigits } from "../../../../../src/main/pods/status/generation-digits.js";
import { ApiView } from "../../../../../src/main/pods/status/manager/api-view.js";
import { StatusManager } from "../../../../../src/main/pods/status/manager/status-manager.js";
import { omitUndefined } from "../../../../../src/shared/base/objects/omit-undefined.js";
import { ApiError } from "../../../../../src/shared/kubernetes/api/client/errors.js";
import type { PodCondition, PodStatus } from "../../../../../src/shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../../../src/shared/kubernetes/api/pod.js";
import { digitsOf } from "../../../../../src/shared/kubernetes/api/wide-integers.js";
import { podUid } from "../../../../../src/shared/kubernetes/identifiers.js";
import { away, MemoryApi } from "../../../../support/memory-api.js";
import { pod } from "../../../../support/pods.js";
import { keptLog } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

const turn = async (turns = 12): Promise<void> => {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
};

function build(context?: TestContext) {
  const clock = new SteppedClock();
  const kept = keptLog();
  const api = new MemoryApi();
  const view = new ApiView();
  const synced: number[] = [];
  const manager = new StatusManager({
    client: api.client,
    view,
    clock,
    log: kept.log,
    synced: (seconds) => synced.push(seconds),
  });
  context?.after(() => manager.stop());
  const watch = (deaf = false): void => {
    api.onChange = ({ type, object }) => {
      if (deaf) return;
      if (type === "DELETED") {
        view.drop(object.metadata.uid);
        manager.onObjectDeleted(object);
      } else {
        view.put(object);
        manager.onObject(view.get(object.metadata.uid) ?? object);
      }
    };
  };
  watch();
  const pass = async (ms: number): Promise<void> => {
    clock.step(ms);
    await turn();
  };
  return { clock, kept, api, view, manager, synced, pass, watch };
}

function apiPod(name: string): Pod {
  const made = pod({}, name);
  made.metadata.annotations = { "kubernetes.io/config.source": "api" };
  return made;
}
/** As the server has it. */
const bare = (one: Pod): Pod => ({
  ...one,
  metadata: { ...one.metadata, annotations: {} },
  status: { phase: "Pending" },
});
const status = (phase: PodStatus["phase"], message?: string): PodStatus => ({
  phase,
  ...(message !== undefined && { message }),
});
const deleted = (one: Pod): void => {
  one.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
};

test("changes that follow closely go together; one that somebody waits for goes at once", async (context) => {
  const { api, manager, pass } = build(context);
  const web = apiPod("web");
  api.put(bare(web));
  manager.set(web, status("Pending", "one"));
  manager.set(web, status("Pending", "two"));
  await pass(50);
  assert.equal(api.count("patch"), 0);
  await pass(60);
  assert.deepEqual(api.patches, [{ status: { message: "two" } }]);
  manager.set(web, status("Running"));
  await turn();
  assert.deepEqual(api.patches[1], { status: { phase: "Running", message: null } });
});

test("the patch has the digits of an observed generation beyond 2^53", async (context) => {
  const { api, manager, pass } = build(context);
  const bodies: unknown[] = [];
  const { patch } = api.client;
  api.client.patch = (kind, name, body, options) => {
    bodies.push(digitsOf(body));
    return patch(kind, name, body, options);
  };
  const digits = "9223372036854775807";
  const web = { ...apiPod("web"), wideIntegers: [{ path: ["metadata", "generation"], digits }] };
  api.put(bare(web));
  manager.set(web, withGenerationDigits({ phase: "Running", observedGeneration: Number.MAX_SAFE_INTEGER }, web));
  await pass(200);
  assert.deepEqual(bodies, [[{ path: ["status", "observedGeneration"], digits }]]);
});

test("a status whose object is too large to be read counts as sent", async (context) => {
  const { api, manager, pass, view, kept } = build(context);
  const web = apiPod("web");
  const { patch } = api.client;
  let calls = 0;
  api.client.patch = async (kind, ref, body, options) => {
    calls += 1;
    const { metadata } = await patch(kind, ref, body, options);
    const { name, namespace, uid, resourceVersion } = metadata;
    const restored = options?.restore?.(omitUndefined({ name, namespace, uid, resourceVersion }));
    assert.ok(restored);
    return restored;
  };
  api.put(bare(web));
  api.onChange = () => undefined;
  manager.set(web, status("Running"));
  await pass(200);
  await pass(60_000);
  assert.equal(calls, 1);
  assert.equal(view.get(web.metadata.uid)?.status?.phase, "Running");
  assert.deepEqual(kept.lines, []);
});

/** The server refuses bodies from this length on. */
function refuseFrom(api: MemoryApi, length: number, refusal: ApiError): void {
  const { patch } = api.client;
  api.client.patch = (kind, ref, body, options) =>
    JSON.stringify(body).length >= length ? Promise.reject(refusal) : patch(kind, ref, body, options);
}

const refusals = [
  new ApiError(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
  new ApiError(500, "", "etcdserver: request is too large"),
  new ApiError(500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (9 vs. 8)"),
];
for (const refusal of refusals) {
  test(`a pod whose status is refused as "${refusal.message.slice(0, 40)}" still ends and leaves the API`, async (context) => {
    const { api, manager, pass, kept } = build(context);
    const web = apiPod("web");
    const ended = { terminated: { exitCode: 0, reason: "Completed" } };
    const long = (count: number, phase: PodStatus["phase"]): PodStatus => ({
      phase,
      containerStatuses: Array.from({ length: count }, (_, at) => ({
        ...{ name: `c${at}`, image: "i", imageID: "i", ready: false, restartCount: 0, state: ended, lastState: {} },
      })),
    });
    api.put(bare(web));
    refuseFrom(api, 2000, refusal);
    manager.set(web, long(100, "Running"));
    await pass(200);
    assert.equal(api.pod("web")?.status?.phase, "Running");
    assert.match(api.pod("web")?.status?.message ?? "", /statuses of the containers: they are too large/);
    assert.equal(api.pod("web")?.status?.containerStatuses, undefined);
    assert.equal(kept.warnings().length, 1);
    manager.set(web, long(2, "Running"));
    await pass(200);
    assert.equal(api.pod("web")?.status?.containerStatuses?.length, 2);
    assert.equal(api.pod("web")?.status?.message, undefined);
    manager.set(web, long(120, "Failed"));
    api.edit("web", deleted);
    manager.gone(web.metadata.uid);
    await pass(200);
    assert.equal(api.pod("web"), undefined);
    assert.match(kept.warnings().join("\n"), /^cannot update the status of .*, next try now without .*$/);
  });
}

test("a deleted pod goes though the watch shows its large object with an earlier status", async (context) => {
  const { api, manager, pass, view } = build(context);
  const web = apiPod("web");
  const { uid } = web.metadata;
  const { patch } = api.client;
  api.client.patch = async (kind, ref, body, options) => {
    const { metadata } = await patch(kind, ref, body, options);
    const { name, namespace, resourceVersion, deletionTimestamp } = metadata;
    const head = { name, namespace, uid, resourceVersion, deletionTimestamp };
    const restored = options?.restore?.(omitUndefined(head));
    assert.ok(restored);
    return restored;
  };
  api.onChange = ({ type, object }) => {
    if (type === "DELETED") return;
    const { status: seen } = view.get(uid) ?? object;
    view.put(omitUndefined({ ...object, status: seen }));
    manager.onObject(view.get(uid) ?? object);
  };
  api.put(bare(web));
  api.edit("web", deleted);
  manager.set(web, status("Failed"));
  manager.gone(uid);
  await pass(200);
  assert.equal(api.pod("web"), undefined);
});

test("the newest only, one call per pod, eight at once, urgent first", async (context) => {
  const { api, manager, pass } = build(context);
  let open = (): void => undefined;
  api.gate = new Promise((resolve) => {
    open = resolve;
  });
  const pods = Array.from({ length: 12 }, (_, i) => apiPod(`p${i}`));
  for (const one of pods) api.put(bare(one));
  for (const one of pods) manager.set(one, status("Pending", "x"));
  await pass(100);
  assert.equal(api.inFlight, 8);
  const [first, , , , , , , , ninth, tenth] = pods;
  assert.ok(first && ninth && tenth);
  manager.set(first, status("Pending", "y"));
  manager.set(first, status("Pending", "z"));
  manager.set(tenth, status("Failed"));
  await pass(100);
  assert.equal(api.inFlight, 8);
  open();
  await turn();
  await pass(200);
  assert.equal(api.most, 8);
  const order = api.calls.map((call) => call.split("/").at(-1));
  assert.equal(order[8], "p9", "the urgent one");
  assert.deepEqual(order.slice(9), ["p8", "p10", "p11", "p0"]);
  assert.equal(api.pod("p0")?.status?.message, "z");
});

test("a pod that is being deleted goes when its verdict is there and it is down", async (context) => {
  const { api, manager, pass, synced } = build(context);
  const web = apiPod("web");
  api.put(bare(web));
  manager.set(web, status("Running"));
  await turn();
  api.edit("web", deleted);
  manager.set(web, status("Running", "stopping"));
  await pass(200);
  manager.gone(web.metadata.uid);
  await pass(20_000);
  assert.ok(api.pod("web"), "without a verdict it stays");
  manager.set(web, status("Succeeded"));
  await turn();
  assert.equal(api.pod("web"), undefined);
  assert.equal(api.calls.at(-2), "patch status pods default/web");
  assert.equal(api.calls.at(-1), "delete pods default/web");
  assert.equal(synced.length, 3);
  assert.equal(manager.pending, 0);
});

test("a final phase before the containers exited does not delete the pod; nor does their exit without a deletion", async (context) => {
  const { api, manager, pass } = build(context);
  const [one, two] = [apiPod("one"), apiPod("two")];
  api.put(bare(one));
  api.put(bare(two));
  api.edit("one", deleted);
  manager.set(one, status("Failed"));
  manager.set(two, status("Failed"));
  manager.gone(two.metadata.uid);
  await pass(30_000);
  assert.equal(api.count("delete"), 0);
  api.edit("two", deleted);
  await turn();
  assert.deepEqual(
    api.pods().map(({ metadata }) => metadata.name),
    ["one"],
  );
});

test("another pod of the same name is left alone", async (context) => {
  const { api, manager, watch, pass } = build(context);
  const old = apiPod("web");
  api.put(bare(old));
  watch(true);
  api.take("web");
  api.put({ ...bare(old), metadata: { ...old.metadata, uid: podUid("new") } });
  manager.set(old, status("Failed"));
  await pass(1000);
  assert.equal(api.pod("web")?.status?.phase, "Pending");
  assert.equal(manager.pending, 0);
  assert.ok(api.calls.length <= 3);
});

test("a removed pod is forgotten", async (context) => {
  const { api, manager, watch, pass } = build(context);
  const web = apiPod("web");
  api.put(bare(web));
  watch(true);
  api.take("web");
  manager.set(web, status("Running"));
  await pass(60_000);
  assert.equal(api.calls.length, 1);
  assert.equal(manager.pending, 0);
});

test("the next check corrects fields that others changed, and their own conditions stay", async (context) => {
  const { api, manager, pass } = build(context);
  const web = apiPod("web");
  api.put(bare(web));
  manager.set(web, { phase: "Running", podIP: "10.0.0.1" });
  await turn();
  const before = api.count("patch");
  await pass(60_000);
  assert.equal(api.count("patch"), before, "our own echo is no reason");
  api.edit("web", (one) => {
    one.status = { phase: "Running", podIP: "6.6.6.6", conditions: [{ type: "example.com/gate", status: "True" }] };
  });
  await turn();
  assert.equal(api.count("patch"), before);
  await pass(10_200);
  assert.deepEqual(api.pod("web")?.status, {
    phase: "Running",
    podIP: "10.0.0.1",
    conditions: [{ type: "example.com/gate", status: "True" }],
  });
});

test("a verdict is not taken back", async (context) => {
  const { api, manager, pass, kept } = build(context);
  const web = apiPod("web");
  api.put(bare(web));
  manager.set(web, status("Failed", "over"));
  await turn();
  manager.set(web, status("Running"));
  await pass(20_000);
  assert.equal(api.pod("web")?.status?.phase, "Failed");
  assert.ok(kept.lines.some(({ msg }) => msg.includes("ignoring the status update")));
});

test("an hour without the server: few calls, and then the newest of all, in order", async (context) => {
  const { api, manager, pass, clock } = build(context);
  const pods = Array.from({ length: 30 }, (_, i) => apiPod(`p${i}`));
  for (const one of pods) api.put(bare(one));
  api.fail = away;
  for (let minute = 0; minute < 60; minute++) {
    for (const one of pods) manager.set(one, { phase: "Running", message: `minute ${minute}` });
    await pass(60_000);
  }
  assert.ok(api.calls.length < 8 * 60, `${api.calls.length} calls`);
  assert.ok(api.calls.length > 60, "it is tried");
  api.calls.length = 0;
  api.fail = () => undefined;
  for (let i = 0; i < 20; i++) await pass(1000);
  assert.deepEqual(new Set(api.pods().map((one) => one.status?.message)), new Set(["minute 59"]));
  assert.equal(api.calls.length, 30);
  assert.deepEqual(
    api.calls.map((call) => call.split("/").at(-1)),
    pods.map(({ metadata }) => metadata.name),
  );
  assert.equal(clock.pending, 1, "the look every ten seconds");
});

test("a refusal is tried again with a back-off, and does not hold up the others", async (context) => {
  const { api, manager, pass, kept } = build(context);
  const [bad, good] = [apiPod("bad"), apiPod("good")];
  api.put(bare(bad));
  api.put(bare(good));
  api.fail = (call) => (call.endsWith("/bad") ? new ApiError(422, "Invalid", "no such thing") : undefined);
  manager.set(bad, status("Running"));
  manager.set(good, status("Running"));
  await turn();
  assert.equal(api.pod("good")?.status?.phase, "Running");
  for (let i = 0; i < 60; i++) await pass(1000);
  const tries = api.calls.filter((call) => call.endsWith("/bad")).length;
  assert.ok(tries >= 6 && tries <= 10, `${tries} tries`);
  assert.equal(kept.lines.filter(({ msg }) => msg.includes("cannot update the status of")).length, 1);
});

test("a deletion that is refused is tried again with a back-off, with a status or without", async (context) => {
  const { api, view, manager, pass, kept } = build(context);
  const [known, stranger] = [apiPod("known"), apiPod("stranger")];
  for (const one of [known, stranger]) {
    api.put({ ...bare(one), status: status("Succeeded") });
    api.edit(one.metadata.name, deleted);
  }
  api.fail = (call) => (call.startsWith("delete ") ? new ApiError(500, "InternalError", "no") : undefined);
  manager.set(known, status("Succeeded"));
  await turn();
  assert.ok(view.get(stranger.metadata.uid) !== undefined);
  for (const { metadata } of [known, stranger]) manager.gone(metadata.uid);
  for (let i = 0; i < 60; i++) await pass(1000);
  for (const name of ["known", "stranger"]) {
    const tries = api.calls.filter((call) => call === `delete pods default/${name}`).length;
    assert.ok(tries >= 5 && tries <= 10, `${tries} tries of ${name}`);
  }
  assert.equal(kept.lines.filter(({ msg }) => msg.includes("cannot update the status of")).length, 2);
  api.fail = () => undefined;
  for (let i = 0; i < 40; i++) await pass(1000);
  assert.deepEqual([api.pod("known"), api.pod("stranger")], [undefined, undefined]);
});

test("a server that has started a moment ago finds nothing to delete: the object is looked for, and deleted", async (context) => {
  const { api, view, manager, pass } = build(context);
  const one = apiPod("one");
  api.put({ ...bare(one), status: status("Succeeded") });
  api.edit("one", deleted);
  let misses = 2;
  api.fail = (call) =>
    call.startsWith("delete ") && misses-- > 0 ? new ApiError(404, "NotFound", 'pod "one" not found') : undefined;
  manager.set(one, status("Succeeded"));
  await turn();
  manager.gone(one.metadata.uid);
  await turn();
  assert.ok(api.pod("one") !== undefined && view.get(one.metadata.uid) !== undefined);
  for (let i = 0; i < 5; i++) await pass(1000);
  assert.deepEqual([api.pod("one"), manager.pending], [undefined, 0]);
  assert.equal(api.calls.filter((call) => call.startsWith("delete ")).length, 3);
});

test("a static pod's status goes to its mirror, and again to the next one", async (context) => {
  const { api, manager, pass } = build(context);
  const web = pod();
  web.metadata.annotations = { "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "h1" };
  manager.set(web, status("Running"));
  await pass(60_000);
  assert.deepEqual(api.calls, []);
  const mirror = {
    ...pod({}, "web", "m1"),
    metadata: { ...web.metadata, uid: podUid("m1"), annotations: { "kubernetes.io/config.mirror": "h1" } },
  };
  api.put({ ...mirror, status: { phase: "Pending" } });
  await turn();
  assert.equal(api.pod("web")?.status?.phase, "Running");
  api.take("web");
  api.put({ ...mirror, metadata: { ...mirror.metadata, uid: podUid("m2") }, status: { phase: "Pending" } });
  await turn();
  assert.equal(api.pod("web")?.status?.phase, "Running");
  manager.gone(web.metadata.uid);
  manager.set(apiPod("other"), status("Running"));
  assert.equal(api.count("delete"), 0);
});

for (const outcome of ["a response", "404 Not Found"]) {
  test(`a mirror pod that replaces another during a call gets the status when the call ends with ${outcome}`, async (context) => {
    const { api, manager, pass } = build(context);
    const web = pod();
    web.metadata.annotations = { "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "h1" };
    const mirror = (uid: string): Pod => ({
      ...pod({}, "web", uid),
      metadata: { ...web.metadata, uid: podUid(uid), annotations: { "kubernetes.io/config.mirror": "h1" } },
      status: { phase: "Pending" },
    });
    let end = (): void => undefined;
    const late = new Promise<void>((resolve) => (end = resolve));
    const { patch } = api.client;
    api.client.patch = async (...call) => {
      const answer = await patch(...call);
      api.client.patch = patch;
      await late;
      if (outcome !== "a response") throw new ApiError(404, "NotFound", "web not found");
      return answer;
    };
    api.put(mirror("m1"));
    manager.set(web, status("Running"));
    await turn();
    assert.equal(api.pod("web")?.status?.phase, "Running");
    api.take("web");
    api.put(mirror("m2"));
    await turn();
    end();
    await turn();
    await pass(200);
    assert.deepEqual([api.pod("web")?.metadata.uid, api.pod("web")?.status?.phase], ["m2", "Running"]);
    assert.equal(manager.pending, 0);
  });
}

test("property: after any failures the server has the newest status of each pod, and verdicts are kept", async () => {
  const names = ["a", "b", "c"];
  const step = fc.oneof(
    fc.record({
      do: fc.constant("set" as const),
      pod: fc.nat(2),
      phase: fc.constantFrom("Pending", "Running", "Failed"),
      message: fc.nat(3),
    }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 150, 3000) }),
    fc.record({ do: fc.constant("fail" as const), with: fc.constantFrom("none", "away", "500", "409", "429") }),
    fc.record({ do: fc.constant("rewrite" as const), pod: fc.nat(2) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const world = build();
      const { api, manager, pass } = world;
      const pods = names.map(apiPod);
      for (const one of pods) api.put(bare(one));
      const newest = new Map<string, PodStatus>();
      const over = new Set<string>();
      const shown = api.onChange;
      api.onChange = (change) => {
        const { name } = change.object.metadata;
        if (change.object.status?.phase === "Failed") over.add(name);
        else assert.ok(!over.has(name), "a verdict was taken back");
        shown(change);
      };
      for (const one of steps) {
        if (one.do === "wait") await pass(one.ms);
        else if (one.do === "fail") {
          const error = {
            away: away(),
            "500": new ApiError(500, "", "x"),
            "409": new ApiError(409, "Conflict", "x"),
            "429": new ApiError(429, "TooManyRequests", "x"),
            none: undefined,
          }[one.with];
          api.fail = () => error;
        } else if (one.do === "rewrite") {
          const name = names[one.pod] ?? "";
          if (!over.has(name))
            api.edit(name, (object) => {
              object.status = { phase: "Pending", message: "other" };
            });
        } else {
          const subject = pods[one.pod];
          assert.ok(subject);
          const next = { phase: one.phase as PodStatus["phase"], message: String(one.message) };
          if (newest.get(subject.metadata.name)?.phase !== "Failed" || next.phase === "Failed")
            newest.set(subject.metadata.name, next);
          manager.set(subject, next);
        }
        await turn(2);
      }
      api.fail = () => undefined;
      for (let i = 0; i < 10; i++) await pass(10_000);
      assert.equal(manager.pending, 0);
      for (const [name, { phase, message }] of newest) {
        const now = api.pod(name)?.status;
        assert.deepEqual([now?.phase, now?.message], [phase, message]);
      }
      await manager.stop();
      assert.equal(world.clock.pending, 0);
    }),
    { numRuns: 20 },
  );
});

const conditions = (sandbox: "True" | "False", ready: "True" | "False"): PodCondition[] => [
  { type: "PodReadyToStartContainers", status: sandbox },
  { type: "Ready", status: ready },
];
const phases = (patches: readonly unknown[]): unknown[] =>
  patches.map((patch) => (patch as { status: Partial<PodStatus> }).status.phase ?? "same");

/** The status of a pod whose container waits for this reason. */
const creating = (reason: string): PodStatus => ({
  phase: "Pending",
  startTime: "2026-01-01T00:00:00Z",
  conditions: conditions("False", "False"),
  containerStatuses: [
    {
      name: "app",
      state: { waiting: { reason } },
      lastState: {},
      ready: false,
      restartCount: 0,
      image: "app",
      imageID: "",
    },
  ],
});

test("a new sandbox is reported with its containers, or after two seconds", async (context) => {
  const { api, manager, pass } = build(context);
  const [web, slow] = [apiPod("web"), apiPod("slow")];
  for (const one of [web, slow]) {
    api.put(bare(one));
    manager.set(one, { phase: "Pending", conditions: conditions("False", "False") });
  }
  await pass(100);
  assert.equal(api.count("patch"), 2);
  for (const one of [web, slow]) {
    manager.set(one, { phase: "Pending", podIP: "10.0.0.1", conditions: conditions("True", "False") });
  }
  await pass(1900);
  assert.equal(api.count("patch"), 2);
  manager.set(web, { phase: "Running", podIP: "10.0.0.1", conditions: conditions("True", "True") });
  await turn();
  assert.equal(api.count("patch"), 3);
  assert.deepEqual([api.pod("web")?.status?.podIP, api.pod("slow")?.status?.podIP], ["10.0.0.1", undefined]);
  await pass(200);
  assert.equal(api.count("patch"), 4);
  assert.equal(api.pod("slow")?.status?.podIP, "10.0.0.1");
});

test("each status that waits gives the statuses after it 100 ms more, at most 4 s", async (context) => {
  const { api, manager, pass } = build(context);
  const pods = Array.from({ length: 60 }, (_, index) => apiPod(`web-${index}`));
  for (const one of pods) {
    api.put(bare(one));
    manager.set(one, creating("ContainerCreating"));
  }
  await pass(1000);
  assert.equal(api.count("patch"), 1);
  await pass(2900);
  assert.equal(api.count("patch"), 30);
  await pass(1100);
  assert.equal(api.count("patch"), 60);
});

test("a pod's first status is reported with its start, after a second, or with what keeps a container from starting", async (context) => {
  const { api, manager, pass } = build(context);
  const [quick, slow, stuck] = [apiPod("quick"), apiPod("slow"), apiPod("stuck")];
  for (const one of [quick, slow, stuck]) {
    api.put(bare(one));
    manager.set(one, creating("ContainerCreating"));
  }
  await pass(500);
  assert.equal(api.count("patch"), 0);
  manager.set(quick, { ...creating("ContainerCreating"), phase: "Running", conditions: conditions("True", "True") });
  manager.set(stuck, creating("ErrImagePull"));
  await turn();
  assert.deepEqual(phases(api.patches), ["Running"]);
  await pass(100);
  assert.equal(api.pod("stuck")?.status?.containerStatuses?.[0]?.state.waiting?.reason, "ErrImagePull");
  assert.equal(api.pod("slow")?.status?.startTime, undefined);
  await pass(500);
  assert.equal(api.pod("slow")?.status?.startTime, "2026-01-01T00:00:00Z");
  assert.equal(api.count("patch"), 3, "one for each pod");
});

test("a change that says more takes along the one that waits long", async (context) => {
  const { api, manager, pass } = build(context);
  const web = apiPod("web");
  api.put(bare(web));
  manager.set(web, { phase: "Pending", conditions: conditions("False", "False") });
  await pass(100);
  manager.set(web, { phase: "Pending", podIP: "10.0.0.1", conditions: conditions("True", "False") });
  await pass(500);
  manager.set(web, { phase: "Pending", message: "m", podIP: "10.0.0.1", conditions: conditions("True", "False") });
  await pass(100);
  assert.equal(api.count("patch"), 2);
  assert.equal(api.pod("web")?.status?.message, "m");
});

async function running(context: TestContext) {
  const world = build(context);
  const web = apiPod("web");
  world.api.put(bare(web));
  world.manager.set(web, { phase: "Running", conditions: conditions("True", "True") });
  await turn();
  world.api.patches.length = 0;
  return { ...world, web };
}

test("the changes of a pod under deletion are one patch, when its sandbox has stopped", async (context) => {
  const { api, manager, pass, web } = await running(context);
  api.edit("web", deleted);
  manager.set(web, { phase: "Running", observedGeneration: 2, conditions: conditions("True", "True") });
  await pass(900);
  manager.set(web, { phase: "Succeeded", observedGeneration: 2, conditions: conditions("True", "False") });
  await pass(900);
  assert.deepEqual(phases(api.patches), []);
  manager.set(web, { phase: "Succeeded", observedGeneration: 2, conditions: conditions("False", "False") });
  await turn();
  assert.deepEqual(phases(api.patches), ["Succeeded"]);
  manager.gone(web.metadata.uid);
  await turn();
  assert.equal(api.pod("web"), undefined);
});

test("a final phase waits a second for its sandbox, and not at all once nothing is left", async (context) => {
  const { api, manager, pass, web } = await running(context);
  api.edit("web", deleted);
  manager.set(web, { phase: "Failed", conditions: conditions("True", "False") });
  await pass(999);
  assert.deepEqual(phases(api.patches), []);
  await pass(1);
  assert.deepEqual(phases(api.patches), ["Failed"]);
  manager.set(web, { phase: "Failed", conditions: conditions("False", "False") });
  await turn();
  assert.deepEqual(phases(api.patches), ["Failed"]);
  manager.gone(web.metadata.uid);
  await turn();
  assert.deepEqual(phases(api.patches), ["Failed", "same"]);
  assert.equal(api.pod("web"), undefined);
});

test("the final phase of a pod without a deletion, and a lost readiness, are sent at once", async (context) => {
  const { api, manager, web } = await running(context);
  manager.set(web, { phase: "Running", conditions: conditions("True", "False") });
  await turn();
  manager.set(web, { phase: "Succeeded", conditions: conditions("True", "False") });
  await turn();
  assert.deepEqual(phases(api.patches), ["same", "Succeeded"]);
});

test("an error in the comparison of one pod's status keeps no other pod's from being written again", async (context) => {
  const { api, view, manager, pass } = build(context);
  const pods = [apiPod("bad"), apiPod("good")];
  for (const one of pods) {
    api.put(bare(one));
    manager.set(one, status("Running"));
  }
  await pass(200);
  for (const one of pods) api.put({ ...bare(one), status: { phase: "Pending" } });
  const get = view.get.bind(view);
  context.mock.method(view, "get", (uid: string) => {
    if (uid === "uid-bad") throw new Error("a defect");
    return get(podUid(uid));
  });
  await pass(10_000);
  await pass(200);
  assert.equal(api.pod("good")?.status?.phase, "Running");
});
