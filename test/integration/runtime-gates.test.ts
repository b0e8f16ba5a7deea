// Feature gates that change calls to the container runtime: the whole kubelet on the fake runtime, which keeps each
// request.
// @promise Images and logs: Gate CRIListStreaming: lists come through the streams of the runtime; from a runtime
//   without streams the kubelet requests whole lists.
// @with test/shared/kubernetes/cri/streamed-lists.test.ts
// @promise Images and logs: Gate RuntimeClassInImageCriApi: the kubelet asks for, pulls and removes images by the pod's
//   runtime handler.
// @with test/workers/image-gc

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ImageSpec } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeCri } from "../fake-cri/fake-cri.js";
import { testImage, waitFor, type PodView } from "../harness/node.js";
import { fakeNode } from "../support/fake-runtime-node.js";
import { firstStatus, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";

const REMOTE = "registry.test/tool:2";
const UNUSED = "registry.test/unused:1";
const FEATURES = { recursiveReadOnlyMounts: false, userNamespaces: false };

/** Returns the runtime handlers that calls for this image name. */
function handlers({ calls }: FakeCri, verb: string, image: string): (string | undefined)[] {
  const specs = calls
    .filter((call) => call.verb === verb)
    .map(({ request }) => (request as { image?: ImageSpec }).image);
  return specs.filter((spec) => spec?.image === image).map((spec) => spec?.runtimeHandler);
}

for (const on of [true, false]) {
  const name = on ? "kata" : "";
  test(`RuntimeClassInImageCriApi=${on}: images are pulled and removed for the handler "${name}"`, async (t) => {
    const { fake, node } = await fakeNode(
      t,
      {
        featureGates: { RuntimeClassInImageCriApi: on },
        imageGCHighThresholdPercent: 1,
        imageGCLowThresholdPercent: 0,
        imageMinimumGCAge: "0s",
      },
      {
        registry: { [REMOTE]: {} },
        runtimeHandlers: ["", "kata"].map((handler) => ({ name: handler, features: FEATURES })),
      },
    );
    fake.addImage(UNUSED, { runtimeHandler: "kata" });
    const unused = fake.state.image(UNUSED)?.id ?? "";
    const pod = sleeper("sealed") as { spec: { runtimeClassName?: string; containers: object[] } };
    pod.spec.runtimeClassName = "kata";
    pod.spec.containers = [{ name: "app", image: REMOTE }];
    await node.writeManifest("sealed", pod);
    await node.restart();
    await node.waitFor((pods) => runs(pods, "sealed"), { what: "the pod to run", timeoutMs: PATIENCE_MS });
    assert.deepEqual(handlers(fake, "PullImage", REMOTE), [name]);
    assert.deepEqual(new Set(handlers(fake, "ImageStatus", REMOTE)), new Set([name]));
    await waitFor(() => handlers(fake, "RemoveImage", unused).length > 0, {
      what: "the unused image to be removed",
      timeoutMs: PATIENCE_MS,
    });
    assert.deepEqual(handlers(fake, "RemoveImage", unused), [name]);
  });
}

for (const [on, mountDigests] of [
  [true, true],
  [true, false],
  [false, true],
] as const) {
  const shows = on && mountDigests;
  test(`ImageVolumeWithDigest=${on}, runtime with${mountDigests ? "" : "out"} digests of mounts: the status ${shows ? "shows" : "hides"} that of an image volume`, async (t) => {
    const { fake, node } = await fakeNode(t, { featureGates: { ImageVolumeWithDigest: on } }, { mountDigests });
    const pod = sleeper("files") as { spec: { volumes?: object[]; containers: object[] } };
    pod.spec.volumes = [{ name: "files", image: { reference: testImage(), pullPolicy: "Never" } }];
    pod.spec.containers = [{ ...pod.spec.containers[0], volumeMounts: [{ name: "files", mountPath: "/files" }] }];
    await node.writeManifest("files", pod);
    await node.restart();
    const pods = await node.waitFor((all) => runs(all, "files"), { what: "the pod to run", timeoutMs: PATIENCE_MS });
    const image = fake.state.image(testImage());
    const imageRef = image?.repoDigests[0] ?? image?.id;
    assert.deepEqual(podOf(pods, "files")?.status?.containerStatuses?.[0]?.volumeMounts, [
      { name: "files", mountPath: "/files", ...(shows && { volumeStatus: { image: { imageRef } } }) },
    ]);
  });
}

test("a container that waits shows IfPossible as the handler of its pod resolves it", async (t) => {
  const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
  const runtimeHandlers = [
    { name: "", features: FEATURES },
    { name: "kata", features },
  ];
  const { node } = await fakeNode(t, {}, { runtimeHandlers });
  for (const runtimeClassName of [undefined, "kata"]) {
    const pod = sleeper(runtimeClassName ?? "plain") as { spec: Record<string, unknown> };
    const mount = { name: "data", mountPath: "/data", readOnly: true, recursiveReadOnly: "IfPossible" };
    pod.spec["containers"] = [{ name: "app", image: REMOTE, imagePullPolicy: "Never", volumeMounts: [mount] }];
    pod.spec["volumes"] = [{ name: "data", emptyDir: {} }];
    if (runtimeClassName !== undefined) pod.spec["runtimeClassName"] = runtimeClassName;
    await node.writeManifest(runtimeClassName ?? "plain", pod);
  }
  await node.restart();
  const waits = (pods: PodView[], name: string): boolean =>
    firstStatus(pods, name)?.state.waiting?.reason === "ErrImageNeverPull";
  const pods = await node.waitFor((all) => waits(all, "plain") && waits(all, "kata"), {
    what: "both containers to wait for their image",
    timeoutMs: PATIENCE_MS,
  });
  const shown = (name: string) =>
    firstStatus(pods, name)?.volumeMounts?.map(({ recursiveReadOnly }) => recursiveReadOnly);
  assert.deepEqual([shown("plain"), shown("kata")], [["Disabled"], ["Enabled"]]);
});

/** Lists of the fake runtime by the call that brought them. */
const LISTS = {
  unary: ["ListPodSandbox", "ListContainers", "ListImages"],
  streams: ["StreamPodSandboxes", "StreamContainers", "StreamImages"],
};
const rows: [name: string, on: boolean, listStreams: boolean, used: keyof typeof LISTS][] = [
  ["CRIListStreaming: lists come through streams", true, true, "streams"],
  ["CRIListStreaming: a runtime without the streams is asked for its lists", true, false, "unary"],
  ["without the gate CRIListStreaming lists come in one message", false, true, "unary"],
];
for (const [name, on, listStreams, used] of rows) {
  test(name, async (t) => {
    const { fake, node } = await fakeNode(t, { featureGates: { CRIListStreaming: on } }, { listStreams });
    await node.writeManifest("listed", sleeper("listed"));
    await node.restart();
    await node.waitFor((pods) => runs(pods, "listed"), { what: "the pod to run", timeoutMs: PATIENCE_MS });
    const times = (verb: string): number => fake.calls.filter((call) => call.verb === verb).length;
    await waitFor(() => LISTS[used].every((verb) => times(verb) > 0), {
      what: "a list of each kind",
      timeoutMs: PATIENCE_MS,
    });
    if (!on) assert.deepEqual(LISTS.streams.map(times), [0, 0, 0]);
    else if (listStreams) assert.deepEqual(LISTS.unary.map(times), [0, 0, 0]);
    // A killed container is seen by a list, too.
    const [id = ""] = fake.state.containers.keys();
    fake.exit(id, 3);
    await node.waitFor((pods) => (firstStatus(pods, "listed")?.restartCount ?? 0) > 0, {
      what: "the container to be started again",
      timeoutMs: PATIENCE_MS,
    });
  });
}
