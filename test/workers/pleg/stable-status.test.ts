// Go sends maps in random order: two looks at one state must still be equal bytes. Main gets the mounts that it shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeContainer, encodeSandboxes } from "../../../src/shared/contracts/pleg-codec.js";
import { ContainerStatus, PodSandboxStatus } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { observedContainer, observedSandbox } from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { stableContainer, stableSandbox } from "../../../src/workers/pleg/stable-status.js";

function bytesOf(entries: [string, string][]): string {
  const map = Object.fromEntries(entries);
  const sandbox = PodSandboxStatus.fromPartial({ id: "s", labels: map, annotations: map });
  const container = ContainerStatus.fromPartial({
    id: "c",
    labels: map,
    annotations: map,
    resources: { linux: { unified: map } },
  });
  const head = { uid: podUid("u"), namespace: "n", name: "p", generation: 0, observedAt: 0 };
  const state = encodeSandboxes({ ...head, sandboxes: [observedSandbox(stableSandbox(sandbox))] });
  return Buffer.concat([state, encodeContainer(observedContainer(stableContainer(container)))]).toString("hex");
}

test("the order of map entries on the wire makes no difference", () => {
  const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.string()), { selector: ([key]) => key, maxLength: 8 });
  fc.assert(
    fc.property(
      entries.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([one, other]) => {
        assert.equal(bytesOf(one), bytesOf(other));
      },
    ),
  );
  assert.notEqual(bytesOf([["a", "1"]]), bytesOf([["a", "2"]]));
});

test("main gets only mounts whose status says more than the spec, and those before them at the same path", () => {
  const mount = (containerPath: string, more = {}) => ({ containerPath, hostPath: "/v", ...more });
  const plain = Array.from({ length: 1000 }, (_, at) => mount(`/m/${at}`));
  const image = mount("/image", { image: { image: "i" } });
  const readOnly = mount("/m/7", { recursiveReadOnly: true });
  const { mounts } = stableContainer(ContainerStatus.fromPartial({ mounts: [...plain, image, readOnly] }));
  assert.deepEqual(
    mounts.map(({ containerPath, recursiveReadOnly }) => [containerPath, recursiveReadOnly]),
    [
      ["/m/7", false],
      ["/image", false],
      ["/m/7", true],
    ],
  );
});

test("main gets the mount of the termination message, at the path that the container's annotation names", () => {
  const mounts = ["/a", "/tmp/message", "/dev/termination-log"].map((containerPath) => ({
    containerPath,
    hostPath: "/v",
  }));
  const annotations = { "io.kubernetes.container.terminationMessagePath": "/tmp/message" };
  const shown = stableContainer(ContainerStatus.fromPartial({ annotations, mounts })).mounts;
  assert.deepEqual(
    shown.map(({ containerPath }) => containerPath),
    ["/tmp/message"],
  );
});

test("texts of a runtime without measure reach main in part, and all that main reads of them stays", () => {
  const long = "x".repeat(8 * 1024 * 1024);
  const labels = { "a/long": long, "b/own": "1", ...manyLabels(100_000) };
  const container = stableContainer(
    ContainerStatus.fromPartial({
      id: "c",
      image: { image: long },
      imageRef: long,
      imageId: long,
      reason: long,
      message: `${long.slice(0, 4094)}\u{1F600}${long}`,
      labels,
      annotations: labels,
    }),
  );
  assert.deepEqual(
    [container.image?.image, container.imageRef, container.imageId, container.reason].map((text) => text?.length),
    [4096, 4096, 4096, 256],
  );
  assert.equal(container.message, `${"x".repeat(4094)}…`, "no half of a character");
  assert.equal(container.labels["b/own"], "1");
  assert.ok(encodeContainer(observedContainer(container)).length < 2 * 1024 * 1024);
  const addresses = Array.from({ length: 100_000 }, () => ({ ip: long.slice(0, 300) }));
  const sandbox = stableSandbox(
    PodSandboxStatus.fromPartial({ id: "s", labels, network: { ip: long, additionalIps: addresses } }),
  );
  assert.deepEqual([sandbox.network?.ip.length, sandbox.network?.additionalIps.length], [256, 16]);
  assert.equal(sandbox.network?.additionalIps[0]?.ip.length, 256);
  assert.equal(sandbox.labels["b/own"], "1");
});

function manyLabels(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`c/${index}`, "value"]));
}
