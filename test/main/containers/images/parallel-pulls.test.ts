// Number of pulls that the node's puller starts at once, by its configuration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeImages, type NodeImageSettings } from "../../../../src/main/containers/images/node-images.js";
import { ImageStatusResponse } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod } from "../../../support/pods.js";
import { noTrace } from "../../../support/silent.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { sandbox } from "./puller-kit.js";

const PODS = 40;

/** Pods want an image of their own each; resolves to the number of calls once no further one comes. */
async function atOnce(fields: Partial<NodeImageSettings>, expected: number): Promise<number> {
  const ending = new AbortController();
  let calls = 0;
  const pullImage = (): Promise<never> => {
    calls++;
    return new Promise((_resolve, reject) => {
      ending.signal.addEventListener("abort", () => reject(new Error("the test is over")));
    });
  };
  const settings: NodeImageSettings = {
    rootDir: "/nonexistent",
    serializeImagePulls: true,
    maxParallelImagePulls: undefined,
    registryPullQPS: 0,
    registryBurst: 1,
    kubeletEnsureSecretPulledImages: false,
    imagePullCredentialsVerificationPolicy: "NeverVerify",
    preloadedImagesVerificationAllowlist: [],
    runtimeClassInImageCriApi: false,
    maxPods: 110,
    ...fields,
  };
  const puller = nodeImages(settings, {
    cri: {
      pullImage,
      imageStatus: () => Promise.resolve(ImageStatusResponse.fromPartial({})),
      listImages: () => Promise.resolve({ images: [] }),
    },
    runtimeHandler: () => Promise.resolve(""),
    clock: new SteppedClock(),
    log: keptLog().log,
    events: { pod: () => undefined, node: () => undefined },
    trace: noTrace,
    registry: new ThreadRegistry("main"),
  });
  const wanted = Array.from({ length: PODS }, (_none, index) => {
    const subject = pod({}, `pod-${index}`);
    subject.metadata.uid = podUid(`uid-${index}`);
    const container = { name: "app", image: `registry.test/image-${index}:1` };
    return puller.ensure(subject, container, sandbox, ending.signal);
  });
  const settled = Promise.allSettled(wanted);
  await until("the first pulls", () => calls >= expected);
  const seen = calls;
  ending.abort(new Error("the test is over"));
  await settled;
  return seen;
}

test("unset, with serializeImagePulls false: no limit, as upstream", async () => {
  assert.equal(await atOnce({ serializeImagePulls: false }, PODS), PODS);
});

test("serializeImagePulls, and maxParallelImagePulls, bound them", async () => {
  assert.equal(await atOnce({}, 1), 1);
  assert.equal(await atOnce({ serializeImagePulls: false, maxParallelImagePulls: 3 }, 3), 3);
});
