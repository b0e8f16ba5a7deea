// The parts of the kubelet that each transition of a pod notifies, in order, through the public interface of PodSync.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionVerdict } from "../../../../src/main/pods/admission/verdict.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { BUSYBOX } from "../../containers/runtime/runtime-kit.js";
import { NO_HELD_PODS, syncNode } from "./pod-sync-kit.js";

const web = (restartPolicy: "Always" | "Never" = "Always", metadata: Partial<Pod["metadata"]> = {}): Pod => {
  const made = pod({
    containers: [container("a", { image: BUSYBOX })],
    restartPolicy,
    terminationGracePeriodSeconds: 1,
  });
  return { ...made, metadata: { ...made.metadata, ...metadata } };
};

test("a pod that starts is accepted, then admitted, then shown; eviction hears of it before any container is looked at", async (t) => {
  const node = await syncNode(t, { cluster: true });
  node.change("add", web());
  await node.until("the pod to run", () => node.phase("uid-web") === "Running");
  // The server's thread gets its list by a timer, at any moment between the others.
  const first = node.received.filter((one) => !one.startsWith("server.")).slice(0, 7);
  assert.deepEqual(first, [
    "watch.accepted: uid-web new",
    "cluster.desired: uid-web",
    "watch.status: uid-web Pending",
    "cgroups.podsChanged",
    "follower.runs: uid-web",
    "probes.podSynced: uid-web syncing",
    "watch.seen: uid-web",
  ]);
  assert.deepEqual(node.receivedBy("follower", "cgroups"), ["cgroups.podsChanged", "follower.runs: uid-web"]);
  assert.deepEqual(node.receivedBy("watch").slice(-2), ["watch.running: uid-web", "watch.status: uid-web Running"]);
  assert.deepEqual(node.receivedBy("cluster"), [
    "cluster.desired: uid-web",
    "cluster.status: uid-web Pending",
    "cluster.status: uid-web Running",
  ]);
});

test("a pod that no source wants any more: terminated first, then removed, everywhere in one order", async (t) => {
  const node = await syncNode(t, { cluster: true });
  node.change("add", web());
  await node.until("the pod to run", () => node.phase("uid-web") === "Running");
  node.received.length = 0;
  node.change("remove", web());
  await node.until("the pod to be removed", () => node.received.includes("cluster.gone: uid-web"));
  assert.equal(node.received[0], "pleg.watch: uid-web 0", "exits that the kubelet causes are not watched for");
  assert.deepEqual(node.receivedBy("probes"), [
    "probes.podSynced: uid-web terminating",
    "probes.podSynced: uid-web finished",
    "probes.podRemoved: uid-web",
  ]);
  const terminated = node.received.indexOf("cgroups.podsChanged");
  assert.deepEqual(node.received.slice(terminated, terminated + 2), [
    "cgroups.podsChanged",
    "admission.release: uid-web",
  ]);
  const removed = node.received.lastIndexOf("cgroups.podsChanged");
  assert.ok(removed > terminated);
  assert.deepEqual(node.received.slice(removed), [
    "cgroups.podsChanged",
    "pleg.unwatch: uid-web",
    "admission.release: uid-web",
    "probes.podRemoved: uid-web",
    "watch.gone: uid-web",
    "follower.over: uid-web",
    "cluster.gone: uid-web",
  ]);
  assert.equal(node.state.records.get(podUid("uid-web")), undefined);
  assert.deepEqual([...node.state.pods.all()], []);
  assert.equal(node.world.cgroups.size, 0);
});

test("a pod that completed: eviction forgets it, the API server keeps it until its source drops it", async (t) => {
  const node = await syncNode(t, { cluster: true });
  node.change("add", web("Never"));
  await node.until("the pod to run", () => node.phase("uid-web") === "Running");
  const [id = ""] = node.world.fake.state.containers.keys();
  node.world.fake.exit(id, 0);
  node.state.cache.bump(podUid("uid-web"), [{ kind: "recheck", id: "" }]);
  await node.until("its clean-up", () => node.received.includes("follower.over: uid-web"));
  assert.equal(node.phase("uid-web"), "Succeeded");
  assert.deepEqual(node.receivedBy("follower"), ["follower.runs: uid-web", "follower.over: uid-web"]);
  assert.ok(!node.received.includes("cluster.gone: uid-web") && !node.received.includes("watch.gone: uid-web"));
  node.change("remove", web("Never"));
  await node.until("the pod to be removed", () => node.received.includes("cluster.gone: uid-web"));
});

test("a pod that admission refuses never runs: no eviction, no probes of a running pod, Failed in the API", async (t) => {
  const verdict = (): AdmissionVerdict => ({ admit: false, reason: "OutOfcpu", message: "no CPU is left" });
  const node = await syncNode(t, { cluster: true, verdict });
  node.change("add", web());
  await node.until("the refusal", () => node.phase("uid-web") === "Failed");
  await node.until("its clean-up", () => node.received.includes("follower.over: uid-web"));
  assert.deepEqual(node.receivedBy("follower"), ["follower.over: uid-web"]);
  assert.ok(!node.received.includes("probes.podSynced: uid-web syncing"));
  assert.equal(node.receivedBy("cluster").at(-1), "cluster.status: uid-web Failed");
  assert.deepEqual(node.world.calls("RunPodSandbox"), []);
});

test("a pod that runs and gets another definition is accepted again, and eviction gets the new one", async (t) => {
  const node = await syncNode(t, { cluster: true });
  node.change("add", web());
  await node.until("the pod to run", () => node.phase("uid-web") === "Running");
  node.received.length = 0;
  node.change("update", web("Always", { labels: { changed: "yes" } }));
  assert.deepEqual(node.received.slice(0, 3), [
    "watch.accepted: uid-web known",
    "cluster.desired: uid-web",
    "follower.runs: uid-web",
  ]);
});

test("a listener that joins late hears of the pods that run already", async (t) => {
  const node = await syncNode(t);
  node.change("add", web());
  await node.until("the pod to run", () => node.phase("uid-web") === "Running");
  const late: string[] = [];
  node.sync.join({
    statusOf: () => undefined,
    heldPods: NO_HELD_PODS,
    waits: () => false,
    subscriber: {
      accepted: ({ pod: { metadata } }) => late.push(`desired ${metadata.uid}`),
      statusComputed: ({ pod: { metadata }, status }) => late.push(`status ${metadata.uid} ${status.phase}`),
    },
  });
  assert.deepEqual(late, ["desired uid-web", "status uid-web Running"]);
});

test("an error of one listener keeps no other from hearing, and the pod starts", async (t) => {
  const node = await syncNode(t);
  node.state.subscribe("cluster", {
    accepted: () => assert.fail("this listener is broken"),
  });
  node.change("add", web());
  await node.until("the pod to run", () => node.phase("uid-web") === "Running");
});
