// A runtime that mixes up its responses. Invariant: the pod's observed state holds only objects with the pod's own
// UID. A response about another object proves neither that an object exists nor that it is removed.
// @promise Hostile tenants and clients: Objects of other pods in a pod's filtered list are ignored. If the runtime
//   answers with the status of another object, the inspection fails; no container of another pod stops.
// @with test/hostile/runtime.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Container,
  ContainerState,
  ContainerStatus,
  PodSandbox,
  PodSandboxStatus,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { PodInspector } from "../../../src/workers/pleg/pod-inspector.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const labels = (uid: string): Record<string, string> => ({
  "io.kubernetes.pod.uid": uid,
  "io.kubernetes.pod.name": uid,
  "io.kubernetes.pod.namespace": "default",
});
const sandbox = (id: string, uid: string): PodSandbox => PodSandbox.create({ id, labels: labels(uid) });
const container = (id: string, uid: string): Container => Container.create({ id, labels: labels(uid) });

/** One inspection of the pod "web" after which the runtime has answered with these lists and statuses. */
async function inspected(
  lists: { sandboxes: PodSandbox[]; containers: Container[] },
  statuses: Readonly<Record<string, { id: string; uid: string }>>,
): Promise<{ pod?: ObservedPod; error?: Error }> {
  const status = (id = ""): { id: string; labels: Record<string, string> } => {
    const answered = { id, uid: "web", ...statuses[id] };
    return { id: answered.id, labels: labels(answered.uid) };
  };
  const cri: ConstructorParameters<typeof PodInspector>[0]["cri"] = {
    listPodSandbox: () => Promise.resolve({ items: lists.sandboxes }),
    listContainers: () => Promise.resolve({ containers: lists.containers }),
    podSandboxStatus: ({ podSandboxId }) =>
      Promise.resolve({
        ...{ status: PodSandboxStatus.create(status(podSandboxId)), info: {} },
        ...{ containersStatuses: [], timestamp: 0n },
      }),
    containerStatus: ({ containerId }) =>
      Promise.resolve({
        status: ContainerStatus.create({ ...status(containerId), state: ContainerState.CONTAINER_RUNNING }),
        info: {},
      }),
  };
  return new Promise((resolve) => {
    const inspector = new PodInspector({
      ...{ cri, clock: new SteppedClock(), deadlineMs: 1_000, concurrency: 4 },
      outcome: {
        observed: (pod) => resolve({ pod }),
        failed: (_uid, _generation, error) => resolve({ error: error as Error }),
      },
    });
    inspector.request(podUid("web"), 1, []);
  });
}

test("objects of other pods in a pod's filtered list are not the pod's", async () => {
  const lists = {
    sandboxes: [sandbox("s1", "web"), sandbox("s2", "ghost")],
    containers: [container("c1", "web"), container("c2", "ghost"), Container.create({ id: "c3" })],
  };
  const { pod } = await inspected(lists, { s2: { id: "s2", uid: "ghost" }, c2: { id: "c2", uid: "ghost" } });
  assert.ok(pod);
  assert.deepEqual(
    pod.sandboxes.map(({ id }) => id),
    ["s1"],
  );
  assert.deepEqual(
    pod.containers.map(({ id }) => id),
    ["c1"],
  );
});

for (const [what, lists, statuses] of [
  ["a container's id that the runtime takes for the beginning of another one", "c", { c: { id: "c123", uid: "db" } }],
  ["a container's status with another id", "c1", { c1: { id: "c2", uid: "web" } }],
  ["a container's status with another pod's UID", "c1", { c1: { id: "c1", uid: "db" } }],
  ["a sandbox's status with another pod's UID", "c1", { s1: { id: "s1", uid: "db" } }],
] as const) {
  test(`${what} fails the inspection`, async () => {
    const { error } = await inspected(
      { sandboxes: [sandbox("s1", "web")], containers: [container(lists, "web")] },
      statuses,
    );
    assert.equal(error?.name, "OperatorError");
  });
}
