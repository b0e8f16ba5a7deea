// The API server's pods as a source: definitions to the sync path, every sighting to the status side.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiSource } from "../../../../src/main/pods/sources/api-source.js";
import { ApiView } from "../../../../src/main/pods/status/manager/api-view.js";
import type { PodStatus } from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { withDigits } from "../../../../src/shared/kubernetes/api/wide-integers.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";

function build() {
  const changes: string[] = [];
  const delivered: Pod[] = [];
  const view = new ApiView();
  const ended = new Map<string, PodStatus>();
  const taken = new Set<string>();
  const kept = new Map<string, Pod>();
  const room = { isThere: true };
  const decided: string[] = [];
  const source = new ApiSource(
    {
      deliver: (_source, pods, complete) => {
        changes.push(`${complete ? "replace" : "first"} ${pods.map(({ metadata }) => metadata.uid).join(" ")}`);
        delivered.push(...pods);
      },
      set: (_source, one) => {
        changes.push(`set ${one.metadata.uid}`);
        delivered.push(one);
      },
      drop: (_source, uid) => changes.push(`drop ${uid}`),
    },
    view,
    {
      seen: ({ metadata }) => changes.push(`seen ${metadata.uid} ${metadata.resourceVersion}`),
      dropped: ({ metadata }) => changes.push(`dropped ${metadata.uid}`),
      synced: () => changes.push("synced"),
    },
    keptLog().log,
    ({ metadata }) => ended.get(metadata.uid),
    { takes: () => room.isThere, decided: (uid) => void decided.push(uid) },
    { isTakenOn: (uid) => taken.has(uid), keptDefinition: (uid) => kept.get(uid) },
  );
  const take = (): string[] => changes.splice(0);
  return { source, view, take, delivered, ended, taken, kept, room, decided };
}

let version = 0;
function object(name: string, change: (pod: Pod) => void = () => undefined): Pod {
  const made = pod({}, name);
  made.metadata.annotations = {};
  made.metadata.resourceVersion = String(++version);
  made.status = { phase: "Pending" };
  Object.assign(made.metadata, { managedFields: [{ manager: "kubectl" }] });
  change(made);
  return made;
}

test("nothing is delivered before the node is known and the first list is there, and then all of it", () => {
  const { source, take, delivered } = build();
  source.onReplace([object("a")]);
  source.onEvent({ type: "ADDED", object: object("b") });
  assert.deepEqual(
    take().filter((line) => !line.startsWith("seen")),
    [],
  );
  source.start();
  assert.deepEqual(take(), ["replace uid-a uid-b", "synced"]);
  const [first] = delivered;
  assert.equal(first?.metadata.annotations?.["kubernetes.io/config.source"], "api");
  assert.equal(first.status, undefined);
  assert.equal("managedFields" in first.metadata, false);
});

test("a change of the status is no change of the definition", () => {
  const { source, take, view } = build();
  source.start();
  source.onReplace([object("a")]);
  take();
  source.onEvent({ type: "MODIFIED", object: object("a", (one) => (one.status = { phase: "Running" })) });
  assert.deepEqual(take(), [`seen uid-a ${version}`]);
  assert.equal(view.get(podUid("uid-a"))?.status?.phase, "Running");
  for (const change of [
    (one: Pod): void => void (one.spec.activeDeadlineSeconds = 5),
    (one: Pod): void => void (one.metadata.labels = { a: "b" }),
    (one: Pod): void => void (one.metadata.deletionTimestamp = "2026-01-01T00:00:00Z"),
    (one: Pod): void => void (one.metadata.deletionGracePeriodSeconds = 1),
  ]) {
    source.onEvent({ type: "MODIFIED", object: object("a", change) });
    assert.deepEqual(take(), ["set uid-a", `seen uid-a ${version}`]);
  }
});

test("a pod that is deleted, or gets a label, keeps its spec as the same object", () => {
  const { source, delivered } = build();
  source.start();
  source.onReplace([object("a")]);
  const remove = (one: Pod): void => void (one.metadata.deletionTimestamp = "2026-01-01T00:00:00Z");
  source.onEvent({ type: "MODIFIED", object: object("a", remove) });
  assert.equal(delivered.length, 2);
  assert.equal(delivered[1]?.spec, delivered[0]?.spec);
  assert.equal(delivered[1]?.metadata.deletionTimestamp, "2026-01-01T00:00:00Z");
});

test("a list after a break: missing objects are dropped, equal ones stay the same object", () => {
  const { source, take, delivered } = build();
  source.start();
  source.onReplace([object("a"), object("b")]);
  source.onReplace([object("b"), object("c")]);
  assert.deepEqual(
    take().filter((line) => !line.startsWith("seen")),
    ["replace uid-a uid-b", "synced", "dropped uid-a", "replace uid-b uid-c", "synced"],
  );
  assert.equal(delivered[1], delivered[2]);
});

test("a server whose storage was put back is believed, though its versions are older", () => {
  const { source, view } = build();
  source.start();
  source.onReplace([object("a", (one) => (one.status = { phase: "Running" }))]);
  const back = object("a");
  back.metadata.resourceVersion = "1";
  source.onEvent({ type: "MODIFIED", object: back });
  assert.equal(view.get(podUid("uid-a"))?.status?.phase, "Running", "an event may be late");
  source.onReplace([back]);
  assert.equal(view.get(podUid("uid-a"))?.status?.phase, "Pending");
});

test("the echo of a response is recognised and not delivered; later changes are", () => {
  const { source, take, view } = build();
  source.start();
  source.onReplace([object("a")]);
  const answer = object("a", (one) => (one.status = { phase: "Running" }));
  const at = version;
  assert.equal(source.isKnown(podUid("uid-a"), String(at)), false);
  view.put(answer);
  assert.equal("managedFields" in (view.get(podUid("uid-a"))?.metadata ?? {}), false);
  assert.equal(source.isKnown(podUid("uid-a"), String(at)), true);
  assert.equal(
    source.isKnown(podUid("uid-b"), String(at)),
    false,
    "of a pod that was never delivered nothing is known",
  );
  take();
  source.onEvent({ type: "MODIFIED", object: structuredClone(answer) });
  assert.deepEqual(take(), []);
  assert.equal(view.get(podUid("uid-a"))?.metadata.resourceVersion, answer.metadata.resourceVersion);
  source.onEvent({ type: "MODIFIED", object: object("a", (one) => (one.metadata.labels = { a: "b" })) });
  assert.deepEqual(take(), ["set uid-a", `seen uid-a ${version}`]);
});

test("an event that is older than the response to our patch changes no definition, from any writer", () => {
  const { source, take, view } = build();
  source.start();
  source.onReplace([object("a")]);
  const event = object("a");
  view.put(object("a"));
  take();
  source.onEvent({ type: "MODIFIED", object: event });
  assert.deepEqual(take(), [`seen uid-a ${version}`]);
});

test("a change from before the response to our patch counts, though the watch delivers it later", () => {
  const { source, take, view } = build();
  source.start();
  source.onReplace([object("a")]);
  const change = (one: Pod): void => void (one.metadata.deletionTimestamp = "2026-01-01T00:00:00Z");
  const event = object("a", change);
  view.put(object("a", change));
  take();
  source.onEvent({ type: "MODIFIED", object: event });
  assert.deepEqual(take(), ["set uid-a", `seen uid-a ${version}`]);
});

test("mirror pods are shown to the status side only", () => {
  const { source, take, view } = build();
  source.start();
  const mirror = object("m", (one) => (one.metadata.annotations = { "kubernetes.io/config.mirror": "h" }));
  source.onReplace([mirror]);
  source.onEvent({
    type: "MODIFIED",
    object: { ...mirror, metadata: { ...mirror.metadata, resourceVersion: String(++version) } },
  });
  assert.equal(view.mirror("default/m")?.metadata.uid, "uid-m");
  source.onEvent({ type: "DELETED", object: mirror });
  assert.deepEqual(
    take().filter((line) => !line.startsWith("seen")),
    ["replace ", "synced", "dropped uid-m", "drop uid-m"],
  );
  assert.equal(view.mirror("default/m"), undefined);
});

test("a removed pod does not come back by late events of the watch", () => {
  const { source, view } = build();
  source.start();
  const mirror = object("m", (one) => (one.metadata.annotations = { "kubernetes.io/config.mirror": "h" }));
  source.onReplace([mirror]);
  view.markDeleted(podUid("uid-m"));
  const next = { ...mirror, metadata: { ...mirror.metadata, uid: podUid("next") } };
  view.put(next);
  source.onEvent({
    type: "MODIFIED",
    object: { ...mirror, metadata: { ...mirror.metadata, resourceVersion: "999999" } },
  });
  source.onEvent({ type: "DELETED", object: mirror });
  assert.equal(view.mirror("default/m")?.metadata.uid, "next");
});

test("an error of one pod in a list keeps no other pod of it from being delivered", (t) => {
  const { source, view, take } = build();
  source.start();
  const list = view.list.bind(view);
  t.mock.method(view, "list", (object: Pod) => {
    if (object.metadata.uid === "uid-bad") throw new Error("a defect");
    list(object);
  });
  source.onReplace([object("a"), object("bad"), object("b")]);
  assert.ok(take().includes("replace uid-a uid-b"));
});

test("a pod that is over is delivered again without its definition, and once", () => {
  const { source, take, delivered, ended } = build();
  const large = (one: Pod): void => {
    one.metadata.annotations = { text: "a".repeat(1e6) };
    one.status = failed;
  };
  source.start();
  source.onReplace([object("a", large)]);
  ended.set("uid-a", failed);
  take();
  delivered.length = 0;
  source.slim(podUid("uid-a"));
  source.slim(podUid("uid-a"));
  assert.deepEqual(take(), ["set uid-a"]);
  assert.ok(JSON.stringify(delivered).length < 1000, "nothing of the megabyte");
  assert.deepEqual(delivered[0]?.spec.containers, [{ name: "app" }]);
  source.onEvent({ type: "MODIFIED", object: object("a", large) });
  assert.deepEqual(take(), [`seen uid-a ${version}`], "the whole text in a later event is no change");
  const remove = (one: Pod): void => {
    large(one);
    one.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  };
  source.onEvent({ type: "MODIFIED", object: object("a", remove) });
  assert.deepEqual(take(), ["set uid-a", `seen uid-a ${version}`], "its deletion is");
});

test("of a list, no definition of a pod that is over is kept", () => {
  const { source, ended, delivered, view } = build();
  ended.set("uid-a", failed);
  const large = object("a", (one) => {
    one.spec.containers = [{ name: "main", env: [{ name: "A", value: "a".repeat(1e6) }] }];
    one.status = failed;
  });
  source.start();
  source.onReplace([source.trim(large)]);
  assert.ok(JSON.stringify([delivered, view.get(podUid("uid-a"))]).length < 2000);
  assert.equal(view.get(podUid("uid-a"))?.status?.phase, "Failed");
});

test("a new pod for whose definition there is no room is seen, and delivered when it arrives again", () => {
  const { source, take, delivered, room, view } = build();
  room.isThere = false;
  const text = (one: Pod): void => void (one.metadata.labels = { text: "a".repeat(1e6) });
  source.start();
  source.onReplace([object("a", text)].map((one) => source.trim(one)));
  assert.deepEqual(take(), [`seen uid-a ${version}`, "replace ", "synced"]);
  assert.equal(view.get(podUid("uid-a"))?.status?.phase, "Pending");
  source.onEvent({ type: "MODIFIED", object: object("a", text) });
  assert.deepEqual(take(), [`seen uid-a ${version}`], "there is no room yet");
  room.isThere = true;
  source.onEvent({ type: "MODIFIED", object: object("a", text) });
  assert.deepEqual(take(), ["set uid-a", `seen uid-a ${version}`]);
  assert.equal(delivered.at(-1)?.metadata.labels?.["text"]?.length, 1e6);
});

test("without room a pod that may be on the node, or was delivered, keeps its definition; one that is deleted goes without it", () => {
  const { source, take, delivered, room, taken, decided } = build();
  source.start();
  source.onReplace([object("known")]);
  room.isThere = false;
  taken.add("uid-taken");
  take();
  source.onEvent({ type: "ADDED", object: object("taken") });
  source.onEvent({ type: "MODIFIED", object: object("known", (one) => (one.metadata.labels = { a: "b" })) });
  assert.deepEqual(
    take().filter((line) => line.startsWith("set")),
    ["set uid-taken", "set uid-known"],
  );
  const gone = (one: Pod): void => {
    one.metadata.labels = { text: "a".repeat(1e6) };
    one.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  };
  source.onEvent({ type: "ADDED", object: object("gone", gone) });
  assert.deepEqual(take(), ["set uid-gone", `seen uid-gone ${version}`]);
  assert.ok(JSON.stringify(delivered.at(-1)).length < 1000);
  source.onEvent({ type: "DELETED", object: object("gone", gone) });
  assert.ok(decided.includes("uid-gone"));
});

test("the view of the API keeps identity and status of pods that run, too", () => {
  const { source, view, delivered } = build();
  source.start();
  source.onReplace([object("a", (one) => (one.metadata.labels = { text: "a".repeat(1e6) }))]);
  assert.ok(JSON.stringify(view.get(podUid("uid-a"))).length < 1000);
  assert.equal(delivered[0]?.metadata.labels?.["text"]?.length, 1e6);
});

const failed: PodStatus = {
  phase: "Failed",
  containerStatuses: [
    { name: "app", ready: false, restartCount: 0, image: "i", imageID: "", state: {}, lastState: {} },
  ],
};

test("pods that have not ended are delivered before the whole set, which decides what has gone", () => {
  const { source, take, view } = build();
  const mirror = object("m", ({ metadata }) => {
    metadata.annotations = { "kubernetes.io/config.mirror": "h" };
  });
  const [a, b] = [object("a"), object("b")];
  source.onUnfinished([a, mirror, b]);
  const unseen = (): string[] => take().filter((line) => !line.startsWith("seen"));
  assert.deepEqual(unseen(), [], "the node is not known yet");
  source.start();
  assert.deepEqual(unseen(), ["first uid-a uid-b"]);
  assert.equal(
    view.has(podUid("uid-m"), mirror.metadata.resourceVersion ?? ""),
    false,
    "mirror pods wait for the whole set",
  );
  source.onReplace([a, object("c")]);
  assert.deepEqual(unseen(), ["dropped uid-b", "replace uid-a uid-c", "synced"]);
  source.onUnfinished([a, b]);
  assert.deepEqual(unseen(), [], "one that comes later is dropped");
});

test("pods that have not ended are delivered at once when the node is known already", () => {
  const { source, take } = build();
  source.start();
  source.onUnfinished([object("a")]);
  assert.deepEqual(
    take().filter((line) => !line.startsWith("seen")),
    ["first uid-a"],
  );
});

test("digits of 64 bits are delivered beside the definition, and a change of them alone is a change", () => {
  const { source, take, delivered } = build();
  source.start();
  source.onReplace([]);
  const withGrace = (digits: string): Pod =>
    withDigits(
      object("a", ({ spec }) => (spec.terminationGracePeriodSeconds = Number.MAX_SAFE_INTEGER)),
      [{ path: ["spec", "terminationGracePeriodSeconds"], digits }],
    );
  for (const digits of ["9223372036854775807", "9223372036854775807", "9223372036854775806"]) {
    source.onEvent({ type: "MODIFIED", object: withGrace(digits) });
  }
  assert.deepEqual(
    take().filter((line) => line.startsWith("set")),
    ["set uid-a", "set uid-a"],
  );
  assert.deepEqual(
    delivered.map(({ wideIntegers }) => wideIntegers?.[0]?.digits),
    ["9223372036854775807", "9223372036854775806"],
  );
});

test("a pod that became too large to be read keeps its definition, and its deletion counts", () => {
  const { source, take, view, delivered } = build();
  source.start();
  const small = object("a", (one) => (one.status = { phase: "Running" }));
  source.onReplace([small]);
  take();
  const { name, namespace } = small.metadata;
  const head = { name, namespace, uid: "uid-a", resourceVersion: String(++version) };
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const restored = source.restore({ ...head, deletionTimestamp, deletionGracePeriodSeconds: 1 });
  assert.ok(restored);
  source.onEvent({ type: "MODIFIED", object: restored });
  assert.deepEqual(take(), ["set uid-a", `seen uid-a ${version}`]);
  assert.equal(delivered.at(-1)?.metadata.deletionTimestamp, deletionTimestamp);
  assert.equal(delivered.at(-1)?.spec, delivered[0]?.spec);
  assert.equal(view.get(podUid("uid-a"))?.status?.phase, "Running");
  source.onEvent({ type: "DELETED", object: source.restore(head) ?? object("none") });
  assert.deepEqual(take(), ["dropped uid-a", "drop uid-a"]);
  assert.equal(source.restore({ ...head, uid: "uid-unknown" }), undefined);
});

test("a pod that was too large before this kubelet started keeps the definition of its record", () => {
  const { source, take, delivered, taken, kept } = build();
  const uid = podUid("uid-a");
  const own = object("a");
  own.spec.containers = [{ name: "from-the-record", image: "img" }];
  kept.set(uid, own);
  taken.add(uid);
  const head = { uid, name: "a", namespace: own.metadata.namespace, resourceVersion: "77" };
  const restored = source.restore(head);
  assert.ok(restored);
  source.onReplace([restored]);
  source.start();
  assert.deepEqual(take().at(-2), "replace uid-a");
  assert.deepEqual(delivered[0]?.spec.containers, own.spec.containers);
  source.onEvent({ type: "DELETED", object: source.restore(head) ?? object("none") });
  assert.deepEqual(take().at(-1), "drop uid-a");
});

test("the record of another pod, or of a static one, is no definition of a pod that is too large", () => {
  const { source, kept } = build();
  const uid = podUid("uid-a");
  const head = { uid, name: "a", namespace: object("a").metadata.namespace };
  kept.set(
    uid,
    object("a", ({ metadata }) => {
      metadata.annotations = { "kubernetes.io/config.source": "file" };
    }),
  );
  assert.equal(source.restore(head), undefined);
  kept.set(uid, object("a"));
  assert.equal(source.restore({ ...head, name: "b" }), undefined);
  assert.equal(source.restore({ ...head, namespace: "other" }), undefined);
  assert.ok(source.restore(head));
});
