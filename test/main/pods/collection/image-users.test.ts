// Users of an image: containers by each of the image's names, wanted pods by definition, and pods with prepared images.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ImageUsers } from "../../../../src/main/pods/collection/image-users.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerStatus } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedPod, observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { emptyObservation } from "../../../support/sync-kit.js";

function build(wanted: Pod[], statuses: Parameters<typeof ContainerStatus.fromPartial>[0][] = []) {
  const containers = statuses.map((status) => observedContainer(ContainerStatus.fromPartial(status)));
  const observed: ObservedPod[] = [{ ...emptyObservation("uid-seen", 1), containers }];
  const users = new ImageUsers({ observed: () => observed, wanted: () => wanted });
  const used = (id: string, ...repoTags: string[]): boolean =>
    users.used([{ id, repoTags, repoDigests: [`registry.test/x@sha256:${"d".repeat(64)}`] }]).length > 0;
  return { users, used };
}

test("a container uses its image by reference, digest, id or tag, whether it runs or not", () => {
  const cases: Parameters<typeof ContainerStatus.fromPartial>[0][] = [
    { imageRef: `registry.test/x@sha256:${"d".repeat(64)}` },
    { imageRef: "sha256:1a" },
    { imageId: "sha256:1a" },
    { image: { image: "registry.test/x:1" } },
  ];
  for (const status of cases)
    assert.ok(build([], [status]).used("sha256:1a", "registry.test/x:1"), JSON.stringify(status));
  assert.ok(!build([], [{ imageRef: "sha256:2b", image: { image: "registry.test/x:2" } }]).used("sha256:1a"));
});

test("a wanted pod uses the images of all its containers and image volumes, before anything of it is made", () => {
  const spec = {
    containers: [container("app")],
    initContainers: [container("init")],
    ephemeralContainers: [container("debug")],
    volumes: [{ name: "data", image: { reference: "registry.test/data:1" } }],
  };
  const { used } = build([pod(spec)]);
  for (const name of ["app", "init", "debug", "data"]) assert.ok(used("sha256:1a", `registry.test/${name}:1`), name);
  assert.ok(!used("sha256:1a", "registry.test/other:1"));
});

test("the image that a name resolved to counts while the pod is wanted, even if the name moves", () => {
  const wanted = [pod()];
  const { users, used } = build(wanted);
  users.madeReady(podUid("uid-web"), "app", "sha256:1a");
  users.madeReady(podUid("uid-web"), "log", "sha256:2b");
  assert.deepEqual([used("sha256:1a"), used("sha256:2b"), used("sha256:3c")], [true, true, false]);
  users.madeReady(podUid("uid-web"), "app", "sha256:3c");
  assert.deepEqual([used("sha256:1a"), used("sha256:3c")], [false, true]);
  wanted.pop();
  assert.deepEqual([used("sha256:2b"), used("sha256:3c")], [false, false]);
});
