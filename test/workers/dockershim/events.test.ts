// Events of containers: read from the Engine's stream, repaired after a gap, each change once.
// @promise Docker Engine: On a Docker Engine, CRI has container events (once each, also after the Engine was away),
//   statistics of pods, and lists as streams (`NODELET_TEST_RUNTIME=docker`).
// @with test/integration/cri-validation.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { ContainerEventType, type ContainerEventResponse } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ContainerChanges } from "../../../src/workers/dockershim/events/container-changes.js";
import { eventIn } from "../../../src/workers/dockershim/events/engine-events.js";
import { ContainerEvents } from "../../../src/workers/dockershim/events/verbs.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { FakeEngine, json } from "../../support/fake-engine.js";

const { CONTAINER_CREATED_EVENT: CREATED, CONTAINER_STARTED_EVENT: STARTED } = ContainerEventType;
const { CONTAINER_STOPPED_EVENT: STOPPED, CONTAINER_DELETED_EVENT: DELETED } = ContainerEventType;
const one = (id: string, type: ContainerEventType) => ({ id, type, name: id, labels: {} });
const types = (events: readonly { id: string; type: ContainerEventType }[]) => events.map(({ id, type }) => [id, type]);

test("a change is reported once, whether an event or the list after a gap shows it first", () => {
  const changes = new ContainerChanges();
  assert.deepEqual(changes.listed([one("old", STARTED)], 1n), []);
  assert.deepEqual(types(changes.seen({ ...one("old", STARTED), at: 2n })), []);
  assert.deepEqual(types(changes.seen({ ...one("old", STOPPED), at: 3n })), [["old", STOPPED]]);
  assert.deepEqual(types(changes.seen({ ...one("new", CREATED), at: 4n })), [["new", CREATED]]);
  // The Engine was away: one exited, one was removed, one came and exited.
  assert.deepEqual(types(changes.listed([one("new", STOPPED), one("late", STOPPED)], 5n)), [
    ["old", DELETED],
    ["new", STARTED],
    ["new", STOPPED],
    ["late", CREATED],
    ["late", STARTED],
    ["late", STOPPED],
  ]);
  assert.deepEqual(types(changes.seen({ ...one("late", STOPPED), at: 6n })), []);
  assert.deepEqual(types(changes.seen({ ...one("late", DELETED), at: 7n })), [["late", DELETED]]);
  assert.deepEqual(types(changes.seen({ ...one("late", DELETED), at: 8n })), []);
});

test("an event of the Engine: its container, its labels without the Engine's own words; garbage is an error", () => {
  const Attributes = { image: "app", exitCode: "3", name: "k8s_a", "io.kubernetes.pod.uid": "1" };
  const line = JSON.stringify({ Action: "die", Actor: { ID: "x", Attributes }, timeNano: 5_000_000_000 });
  assert.deepEqual(eventIn(line), [
    { id: "x", type: STOPPED, at: 5_000_000_000n, name: "k8s_a", labels: { "io.kubernetes.pod.uid": "1" } },
  ]);
  assert.deepEqual(eventIn('{"Action":"exec_create: sh"}'), []);
  for (const wrong of ["no json", "5", '{"Action":"die"}', '{"Action":"die","Actor":{"ID":5},"timeNano":1}'])
    assert.throws(() => eventIn(wrong), /the Docker Engine sent an event/);
});

test("clients get events with the pod's labels; the connection is made again, and missed events are sent", async () => {
  await using engine = await FakeEngine.start();
  const labels = { "io.kubernetes.docker.type": "podsandbox", "io.kubernetes.pod.uid": "u" };
  const listed = (State: string) => ({
    ...{ Id: "a".repeat(64), Names: ["/k8s_POD_web_default_u_0"], Image: "p", ImageID: "i", Created: 1, State },
    Labels: labels,
  });
  let state = "created";
  engine.answer("/containers/json", (request, response) => {
    const sandboxes = decodeURIComponent(request.url ?? "").includes("type=podsandbox");
    json(sandboxes ? [listed(state)] : [])(request, response);
  });
  let connections = 0;
  engine.answer("/events", (_request, response) => {
    connections++;
    response.writeHead(200).flushHeaders();
    // The first connection ends before anything happened.
    if (connections === 1) setTimeout(() => response.destroy(), 20);
    state = connections === 1 ? "created" : "running";
  });
  const events = new ContainerEvents(engine.shim);
  const got: ContainerEventResponse[] = [];
  const left = new AbortController();
  const served = events.verbs().getContainerEvents({}, (response) => got.push(response), left.signal);
  await waitFor(() => got.length > 0, { what: "the event" });
  assert.deepEqual(
    got.map(({ containerEventType, podSandboxStatus }) => [containerEventType, podSandboxStatus?.labels]),
    [[STARTED, { "io.kubernetes.pod.uid": "u" }]],
  );
  assert.deepEqual(got[0]?.podSandboxStatus?.metadata, { name: "web", namespace: "default", uid: "u", attempt: 0 });
  left.abort();
  await served;
  await events.stop();
});
