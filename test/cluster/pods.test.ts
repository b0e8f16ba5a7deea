// Pods from the API server on a real runtime: what a user of the API sees of their lives.
// @promise Cluster: A pod that the kubelet terminates (preemption, eviction, node shutdown) is Succeeded when all its
//   containers exit with 0, else Failed with the reason; after its active deadline it is Failed.
// @with test/main/pods/status/pod-status.test.ts
// @promise Cluster: A pod's object is deleted only after its containers, volumes and cgroup; force deletion, shorter
//   grace periods, the same name again, kubelets killed in between.
// @with test/main/pods/sync
// @promise Cluster: Mirror pods never delay static pods, and are repaired.
// @with test/main/pods/status/mirror
// @promise Cluster: Objects travel in protobuf in both directions (contentType; patches in JSON); a server without
//   protobuf (406, 415, or JSON answers) is used with JSON.
// @with test/cluster/volumes.test.ts, test/shared/kubernetes/api/client/protobuf.test.ts

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { waitFor } from "../harness/node.js";
import type { ApiObject, Fields } from "../support/api-kit.js";
import { boundPod, isReady, NODE_NAME, startClusterNode, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

/** Grace period of pods that must exit by themselves. */
const LONG_GRACE = { terminationGracePeriodSeconds: 60 };
let cluster: ClusterNode;

before(async () => {
  cluster = await startClusterNode({ contentType: "application/vnd.kubernetes.protobuf" });
});
after(() => cluster.stop());

const pod = (name: string): Promise<ApiObject | undefined> => cluster.api.find("pods", "default", name);
const until = (
  name: string,
  holds: (pod: ApiObject | undefined) => boolean,
  what: string,
): Promise<ApiObject | undefined> => cluster.api.waitFor("pods", "default", name, holds, { what: `${name} ${what}` });
const ready = (name: string): Promise<ApiObject | undefined> => until(name, isReady, "Ready");
const gone = (name: string): Promise<unknown> => until(name, (one) => one === undefined, "gone");

describe("pods of the API server", { concurrency: 8 }, () => {
  test("created, Ready, deleted, removed; its exit is in the status before the object is removed", async () => {
    const { api } = cluster;
    const made = await api.create(
      "pods",
      boundPod("first", "trap 'exit 3' TERM; while true; do sleep 3600 & wait $!; done", LONG_GRACE),
    );
    const seen = statusOf(await ready("first"));
    assert.equal(seen.phase, "Running");
    assert.match(seen.podIP ?? "", /^\d+\.\d+\.\d+\.\d+$/);
    assert.equal(seen.observedGeneration, 1);
    const types = (seen.conditions ?? []).map(({ type, status }) => `${type}=${status}`).sort();
    assert.deepEqual(types, [
      "ContainersReady=True",
      "Initialized=True",
      "PodReadyToStartContainers=True",
      "PodScheduled=True",
      "Ready=True",
    ]);
    const ends: string[] = [];
    const { metadata } = await api.list("pods", "default");
    const query = { fieldSelector: "metadata.name=first", resourceVersion: metadata.resourceVersion };
    await api.delete("pods", "default", "first");
    for await (const { type, object } of api.watch("pods", "default", query, AbortSignal.timeout(60_000))) {
      const { phase, containerStatuses } = statusOf(object);
      ends.push(`${type} ${phase} ${containerStatuses?.[0]?.state.terminated?.exitCode ?? "-"}`);
      if (type === "DELETED") break;
    }
    assert.equal(ends[0], "MODIFIED Running -");
    assert.equal(ends.at(-1), "DELETED Failed 3");
    assert.ok(ends.includes("MODIFIED Failed 3"), ends.join());
    // The kubelet's own list follows in a batch of its own.
    await cluster.node.waitFor((pods) => pods.every(({ metadata: { uid } }) => uid !== made.metadata.uid), {
      what: "the kubelet to list it no more",
    });
    // Events are sent one after another, beside the statuses.
    let reasons: string[] = [];
    const expected = ["Created", "Started", "Killing"];
    const sent = async (): Promise<boolean> => {
      const { items } = await api.list("events", "default", { fieldSelector: "involvedObject.name=first" });
      reasons = items.map((event) => String(event["reason"]));
      return expected.every((reason) => reasons.includes(reason));
    };
    await waitFor(sent, { what: `the events ${expected.join()}`, timeoutMs: 60_000, lastSeen: () => reasons.join() });
  });

  test("a pod that needs cluster DNS gets a warning while the kubelet's configuration names none", async () => {
    const { api } = cluster;
    await api.create("pods", boundPod("resolver", IDLE, { dnsPolicy: "ClusterFirst" }));
    await ready("resolver");
    const warned = async (): Promise<boolean> => {
      const { items } = await api.list("events", "default", { fieldSelector: "involvedObject.name=resolver" });
      return items.some((event) => event["reason"] === "MissingClusterDNS");
    };
    await waitFor(warned, { what: "MissingClusterDNS", timeoutMs: 60_000 });
    await api.delete("pods", "default", "resolver");
    await gone("resolver");
  });

  test("deleted by force: the object is removed at once, the container after it", async () => {
    const { api, node } = cluster;
    const made = await api.create("pods", boundPod("forced", IDLE));
    await ready("forced");
    await api.delete("pods", "default", "forced", { gracePeriodSeconds: 0 });
    assert.equal(await pod("forced"), undefined);
    await node.waitFor((pods) => pods.every(({ metadata: { uid } }) => uid !== made.metadata.uid), {
      what: "removal of the forced pod",
    });
  });

  test("a deletion under way is hurried by a shorter grace", async () => {
    const { api } = cluster;
    const deaf = "trap '' TERM; while true; do sleep 1; done";
    await api.create("pods", boundPod("slow", deaf, { terminationGracePeriodSeconds: 600 }));
    await ready("slow");
    await api.delete("pods", "default", "slow");
    await until("slow", (one) => one?.metadata.deletionTimestamp !== undefined, "being deleted");
    await api.delete("pods", "default", "slow", { gracePeriodSeconds: 1 });
    await gone("slow");
  });

  test("the same name again, at once: another pod, after the first", async () => {
    const { api } = cluster;
    const first = await api.create("pods", boundPod("again", IDLE));
    await ready("again");
    await api.delete("pods", "default", "again", { gracePeriodSeconds: 0 });
    await api.create("pods", boundPod("again", IDLE));
    const second = await ready("again");
    assert.notEqual(second?.metadata.uid, first.metadata.uid);
    await api.delete("pods", "default", "again");
    await gone("again");
  });

  test("a pod that came to its end stays until it is deleted; its verdict is final", async () => {
    const { api } = cluster;
    await api.create("pods", boundPod("done", "exit 0", { restartPolicy: "Never" }));
    await api.create("pods", boundPod("lost", "exit 4", { restartPolicy: "Never" }));
    const done = statusOf(await until("done", (one) => statusOf(one).phase === "Succeeded", "Succeeded"));
    assert.equal(done.conditions?.find(({ type }) => type === "Ready")?.reason, "PodCompleted");
    await until("lost", (one) => statusOf(one).phase === "Failed", "Failed");
    for (const name of ["done", "lost"]) {
      await api.delete("pods", "default", name);
      await gone(name);
    }
  });

  test("a pod that does not belong here is refused", async () => {
    const { api } = cluster;
    await api.create("pods", boundPod("foreign", IDLE, { nodeSelector: { "example.com/no": "such" } }));
    const seen = statusOf(await until("foreign", (one) => statusOf(one).phase === "Failed", "Failed"));
    assert.equal(seen.reason, "NodeAffinity");
    assert.match(seen.message ?? "", /^Pod was rejected: /);
    await api.delete("pods", "default", "foreign");
    await gone("foreign");
  });

  test("a pod with resource claims waits and starts no container without its devices", async () => {
    const { api, node } = cluster;
    const resourceClaims = [{ name: "gpu", resourceClaimName: "one-gpu" }];
    await api.create("pods", boundPod("claiming", IDLE, { resourceClaims }));
    const { message } = await waitFor(
      async () => {
        const { items } = await api.list("events", "default", { fieldSelector: "involvedObject.name=claiming" });
        return items.find((event) => event["reason"] === "FailedPrepareDynamicResources");
      },
      { what: "the event FailedPrepareDynamicResources" },
    );
    assert.match(String(message), /^Failed to prepare dynamic resources: .*gpu/);
    assert.equal(statusOf(await pod("claiming")).phase, "Pending");
    assert.ok((await node.pods()).every(({ metadata, status }) => metadata.name !== "claiming" || !status?.podIP));
    await api.delete("pods", "default", "claiming");
    await gone("claiming");
  });

  test("a readiness gate keeps the pod not Ready until another client sets its condition", async () => {
    const { api } = cluster;
    const gate = "example.com/gate";
    await api.create("pods", boundPod("gated", IDLE, { readinessGates: [{ conditionType: gate }] }));
    const condition = (one: ApiObject | undefined, type: string) =>
      statusOf(one).conditions?.find((each) => each.type === type);
    await until("gated", (one) => condition(one, "ContainersReady")?.status === "True", "containers ready");
    assert.equal(condition(await pod("gated"), "Ready")?.reason, "ReadinessGatesNotReady");
    const status = { conditions: [{ type: gate, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] };
    await api.patch("pods", "default", "gated", { status }, { subresource: "status" });
    const open = await ready("gated");
    assert.equal(condition(open, gate)?.status, "True");
    await api.delete("pods", "default", "gated");
    await gone("gated");
  });

  test("an ephemeral container is started, and a resize reaches the running container", async () => {
    const { api } = cluster;
    const resources = { requests: { cpu: "10m" }, limits: { cpu: "100m" } };
    const bound = boundPod("grown", IDLE);
    const { containers } = bound["spec"] as { containers: Fields[] };
    Object.assign(containers[0] ?? {}, { resources });
    await api.create("pods", bound);
    const first = statusOf(await ready("grown")).containerStatuses?.[0];
    const debug = { ...containers[0], name: "debug", targetContainerName: "app" };
    delete (debug as Fields)["resources"];
    const spec = { ephemeralContainers: [debug] };
    await api.patch("pods", "default", "grown", { spec }, { subresource: "ephemeralcontainers" });
    const resize = { containers: [{ name: "app", resources: { requests: { cpu: "20m" }, limits: { cpu: "200m" } } }] };
    await api.patch("pods", "default", "grown", { spec: resize }, { subresource: "resize" });
    const seen = statusOf(
      await until(
        "grown",
        (one) => {
          const { containerStatuses, ephemeralContainerStatuses, conditions, resources } = statusOf(one);
          const pending = conditions?.some(({ type }) => type.startsWith("PodResize")) === true;
          const isDebugged = ephemeralContainerStatuses?.[0]?.state.running !== undefined;
          return (
            isDebugged &&
            !pending &&
            resources?.limits?.["cpu"] === "200m" &&
            containerStatuses?.[0]?.resources?.limits?.["cpu"] === "200m"
          );
        },
        "debugged and resized",
      ),
    );
    assert.equal(seen.containerStatuses?.[0]?.containerID, first?.containerID, "in place");
    assert.deepEqual(seen.allocatedResources, { cpu: "20m" });
    assert.equal(seen.observedGeneration, 3);
    await api.delete("pods", "default", "grown", { gracePeriodSeconds: 1 });
    await gone("grown");
  });

  test("a static pod has a mirror pod, which is created again after a deletion and removed with the pod", async () => {
    const { api, node } = cluster;
    const name = `mirrored-${NODE_NAME}`;
    const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "1", controller: true };
    // As an exported pod has it.
    const metadata = { generateName: "mirrored-", creationTimestamp: "2020-01-02T03:04:05Z", ownerReferences: [owner] };
    await node.writeManifest("mirrored", manifest("mirrored", [shell("app", IDLE)], { metadata }));
    const shown = await ready(name);
    const annotations = shown?.metadata.annotations ?? {};
    assert.deepEqual(
      shown?.metadata.ownerReferences?.map(({ kind, name: of }) => [kind, of]),
      [["Node", NODE_NAME]],
      "the node is the only owner",
    );
    assert.equal((shown.metadata as Fields)["generateName"], "mirrored-");
    assert.deepEqual(
      (shown.spec?.["containers"] as Fields[]).map(({ securityContext }) => securityContext),
      [undefined],
      "nothing is added to the container's security context",
    );
    const own = (await node.pods()).find(({ metadata: { name: found } }) => found === name);
    assert.deepEqual(
      [own?.metadata.creationTimestamp, own?.metadata.ownerReferences],
      [metadata.creationTimestamp, [owner]],
      "the kubelet shows the manifest's",
    );
    assert.equal(annotations["kubernetes.io/config.mirror"], annotations["kubernetes.io/config.hash"]);
    const id = statusOf(shown).containerStatuses?.[0]?.containerID;
    await api.delete("pods", "default", name, { gracePeriodSeconds: 0 });
    const healed = await until(
      name,
      (one) => one !== undefined && isReady(one) && one.metadata.uid !== shown.metadata.uid,
      "shown again",
    );
    assert.equal(statusOf(healed).containerStatuses?.[0]?.containerID, id, "the static pod ran on");
    await node.removeManifest("mirrored");
    await gone(name);
  });
});

test("pods preempted for a critical pod: Succeeded when their containers exit with 0, else Failed", async () => {
  const { api, node } = cluster;
  const resources = { requests: { cpu: "50m" } };
  const wait = "while true; do sleep 3600 & wait $!; done";
  for (const [name, code] of Object.entries({ polite: 0, rude: 3 })) {
    const container = { ...shell("app", `trap 'exit ${code}' TERM; ${wait}`), resources };
    await api.create("pods", boundPod(name, IDLE, { containers: [container], ...LONG_GRACE }));
    await ready(name);
  }
  const { allocatable } = (await api.find("nodes", "", NODE_NAME))?.["status"] as { allocatable: { cpu: string } };
  const all = { requests: { cpu: allocatable.cpu } };
  await node.writeManifest("critical", manifest("critical", [shell("app", IDLE, { resources: all })]));
  const ended = async (name: string): Promise<unknown[]> => {
    const {
      phase,
      reason,
      conditions = [],
    } = statusOf(await until(name, (one) => ["Succeeded", "Failed"].includes(statusOf(one).phase ?? ""), "terminated"));
    const target = conditions.find(({ type }) => type === "DisruptionTarget");
    return [phase, reason, target?.reason];
  };
  assert.deepEqual(await ended("polite"), ["Succeeded", undefined, "TerminationByKubelet"]);
  assert.deepEqual(await ended("rude"), ["Failed", "Preempting", "TerminationByKubelet"]);
  await node.removeManifest("critical");
  for (const name of ["polite", "rude"]) {
    await api.delete("pods", "default", name);
    await gone(name);
  }
});

test("a deletion inspects the pod after each change, and seldom otherwise", async () => {
  const { api, node } = cluster;
  const asked = async (): Promise<number> => {
    const page = await (await fetch(`${node.kubelet.url}/metrics`)).text();
    return Number(/^kubelet_runtime_operations_total\{operation_type="podsandbox_status"\} (\d+)$/m.exec(page)?.[1]);
  };
  const names = ["quiet-1", "quiet-2", "quiet-3", "quiet-4"];
  await Promise.all(
    names.map((name) => api.create("pods", boundPod(name, "trap 'exit 0' TERM; sleep 3600 & wait $!"))),
  );
  await Promise.all(names.map(ready));
  const before = await asked();
  await Promise.all(names.map((name) => api.delete("pods", "default", name)));
  await Promise.all(names.map(gone));
  const each = ((await asked()) - before) / names.length;
  assert.ok(
    each >= 1 && each <= 6,
    `${each} calls for each pod: 3 by its steps, others by relists; 12 with a watch kept`,
  );
});

test("a restart of the kubelet: pods run on, times stay, and pods that were deleted meanwhile end", async () => {
  const { api, node } = cluster;
  for (const name of ["stays", "goes", "over"]) {
    const script = name === "over" ? "exit 0" : IDLE;
    await api.create("pods", boundPod(name, script, { restartPolicy: name === "over" ? "Never" : "Always" }));
  }
  const before = statusOf(await ready("stays"));
  await ready("goes");
  await until("over", (one) => statusOf(one).phase === "Succeeded", "Succeeded");
  await node.kill9();
  await api.delete("pods", "default", "goes");
  await node.restart();
  await gone("goes");
  await waitFor(async () => (await node.pods()).some(({ metadata }) => metadata.name === "stays"), {
    what: "stays is known",
  });
  const now = statusOf(await ready("stays"));
  assert.deepEqual(now.containerStatuses, before.containerStatuses);
  assert.deepEqual(now.conditions, before.conditions);
  assert.equal(now.startTime, before.startTime);
  assert.equal(statusOf(await pod("over")).phase, "Succeeded");
  for (const name of ["stays", "over"]) {
    await api.delete("pods", "default", name);
    await gone(name);
  }
});

test("objects travel in protobuf in both directions, and patches in JSON", (t) => {
  const { fixture } = cluster;
  if (fixture === undefined) {
    t.skip("a real server does not show its requests");
    return;
  }
  const calls = fixture.calls
    .matching({ user: `system:node:${NODE_NAME}` })
    .filter(({ code }) => code === 200 || code === 201);
  const inJson = (type: string): boolean => type.includes("json");
  const kindOf = ({ verb, resource, subresource }: (typeof calls)[number]): string =>
    `${verb} ${resource}/${subresource}`;
  assert.deepEqual([...new Set(calls.filter(({ answerType }) => inJson(answerType)).map(kindOf))], []);
  assert.deepEqual(
    [...new Set(calls.filter(({ requestType, verb }) => inJson(requestType) && verb !== "patch").map(kindOf))],
    [],
  );
  const seen = new Set(calls.map(kindOf));
  for (const one of ["watch pods/", "patch pods/status", "create events/", "update leases/", "create nodes/"]) {
    assert.ok(seen.has(one), `${one} is among ${[...seen].join(", ")}`);
  }
});

test("a kubelet that starts while the server is away: static pods run, pods of the API live on", async (t) => {
  const { api, node, fixture } = cluster;
  if (fixture === undefined) {
    t.skip("a real server is not ours to stop");
    return;
  }
  await api.create("pods", boundPod("kept", IDLE));
  const before = statusOf(await ready("kept"));
  await node.kill9();
  await fixture.stop();
  await node.writeManifest("alone", manifest("alone", [shell("app", IDLE)]));
  await node.restart();
  await node.waitFor((pods) => pods.some(({ status }) => status?.phase === "Running"), { what: "alone runs" });
  await fixture.restart();
  await ready(`alone-${NODE_NAME}`);
  await node.waitFor((pods) => pods.some(({ metadata }) => metadata.name === "kept"), { what: "kept is known" });
  assert.deepEqual(statusOf(await ready("kept")).containerStatuses, before.containerStatuses);
  await fixture.stop();
  fixture.store.wipe();
  await fixture.restart();
  const left = await node.waitFor((pods) => pods.every(({ metadata }) => metadata.name !== "kept"), {
    what: "a pod that the storage has lost ends",
  });
  assert.deepEqual(
    left.map(({ metadata, status }) => [metadata.name, status?.phase]),
    [[`alone-${NODE_NAME}`, "Running"]],
  );
});
