// Pull policies, back-off and turns of image pulls, against the fake runtime and its registry.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { withDefaultTag } from "../../../../src/main/containers/images/image-name.js";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import { quote } from "../../../../src/shared/base/text/quote.js";
import { defaultPullPolicy } from "../../../../src/shared/kubernetes/api/image-name.js";
import type { Pod, PullPolicy } from "../../../../src/shared/kubernetes/api/pod.js";
import { CriUnavailableError } from "../../../../src/shared/kubernetes/cri/errors.js";
import type { ImageSpec } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { pod as makePod } from "../../../support/pods.js";
import { noCredentials } from "../../../support/silent.js";
import { until } from "../../../support/sources-kit.js";
import { build, BUSYBOX, never, REMOTE, sandbox, SECOND } from "./puller-kit.js";

function reason(expected: string, message: RegExp, retryAt?: number) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StartContainerError, String(error));
    assert.equal(error.reason, expected);
    assert.match(error.message, message);
    assert.equal(error.retryAt, retryAt);
    return true;
  };
}

const tags: [string, string, PullPolicy][] = [
  ["busybox", "busybox:latest", "Always"],
  ["busybox:latest", "busybox:latest", "Always"],
  ["busybox:1.36", "busybox:1.36", "IfNotPresent"],
  ["registry.test/team/tool", "registry.test/team/tool:latest", "Always"],
  ["registry.test:5000/tool", "registry.test:5000/tool:latest", "Always"],
  ["registry.test:5000/tool:3", "registry.test:5000/tool:3", "IfNotPresent"],
  [`tool:latest@sha256:${"0".repeat(64)}`, `tool:latest@sha256:${"0".repeat(64)}`, "Always"],
  [`tool@sha256:${"0".repeat(64)}`, `tool@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  ["tool@sha256:0123", "tool@sha256:0123", "IfNotPresent"],
  ["registry.test:5000/tool:3@sha256:0123", "registry.test:5000/tool:3@sha256:0123", "IfNotPresent"],
];
for (const [image, tagged, policy] of tags) {
  test(`${image} stands for ${tagged}, pulled ${policy} by default`, () => {
    assert.equal(withDefaultTag(image), tagged);
    assert.equal(defaultPullPolicy(image), policy);
  });
}

test("each pull policy with a present and with a missing image", async (t) => {
  const cases: [PullPolicy, string, number][] = [
    ["IfNotPresent", BUSYBOX, 0],
    ["Never", BUSYBOX, 0],
    ["Always", BUSYBOX, 1],
    ["IfNotPresent", REMOTE, 1],
    ["Always", REMOTE, 1],
  ];
  for (const [policy, image, expected] of cases) {
    const { fake, pulls, ensure } = await build(t);
    const ready = await ensure(image, policy);
    assert.equal(pulls(), expected, `${policy} ${image}`);
    assert.equal(ready.imageRef, fake.state.image(image)?.id);
  }
});

test("an image that is there needs no credentials, but missing secrets are still named", async (t) => {
  const warned: string[] = [];
  const warnOfMissing = (pod: Pod): Promise<void> => Promise.resolve(void warned.push(pod.metadata.name));
  const { pulls, ensure } = await build(t, { credentials: { ...noCredentials, warnOfMissing } });
  await ensure(BUSYBOX, "IfNotPresent");
  await ensure(BUSYBOX, "Never");
  assert.deepEqual([warned.length, pulls()], [2, 0]);
});

test("Never with an image that is not there is no pull, and is looked at again after 10 s", async (t) => {
  const { pulls, ensure } = await build(t);
  await assert.rejects(
    ensure(REMOTE, "Never"),
    reason("ErrImageNeverPull", /"registry.test\/tool:2" is not present with pull policy of Never/, 10_000),
  );
  assert.equal(pulls(), 0);
});

test("the image's user comes with it, as number or name", async (t) => {
  const { fake, ensure } = await build(t);
  fake.addImage("registry.test/number:1", { user: 1000 });
  fake.addImage("registry.test/name:1", { user: "www" });
  assert.deepEqual((await ensure("registry.test/number:1")).user, { uid: 1000n });
  assert.deepEqual((await ensure("registry.test/name:1")).user, { username: "www" });
});

test("an image volume is pulled by its own policy, and returns the resolved reference", async (t) => {
  const { fake, pulls, puller } = await build(t);
  const source = (reference: string, pullPolicy: PullPolicy) => ({ name: "data", image: { reference, pullPolicy } });
  const { imageRef } = await puller.ensureVolume(makePod(), source(REMOTE, "IfNotPresent"), sandbox, never);
  assert.equal(imageRef, fake.state.image(REMOTE)?.id);
  assert.equal(pulls(), 1);
  await assert.rejects(
    puller.ensureVolume(makePod(), source(SECOND, "Never"), sandbox, never),
    reason("ErrImageNeverPull", /"registry.test\/other:1" is not present/, 10_000),
  );
  await assert.rejects(puller.ensureVolume(makePod(), { name: "data", image: {} }, sandbox, never), {
    reason: "InvalidImageName",
  });
});

test("ImageStatus and PullImage of a pod's images name its runtime handler", async (t) => {
  const { fake, ensure, puller } = await build(t, { handler: "kata" });
  await ensure(REMOTE);
  await puller.ensureVolume(makePod(), { name: "data", image: { reference: SECOND } }, sandbox, never);
  const asked = fake.calls.map(({ verb, request }) => [verb, (request as { image?: ImageSpec }).image?.runtimeHandler]);
  const each = [
    ["ImageStatus", "kata"],
    ["PullImage", "kata"],
    ["ImageStatus", "kata"],
  ];
  assert.deepEqual(asked, [...each, ...each]);
});

const NAMES: [image: string, problem: string][] = [
  ["", "invalid reference format"],
  ["busy box", "invalid reference format"],
  ["busybox:1\n", "invalid reference format"],
  ["busybox:", "invalid reference format"],
  ["a\u0007b", "invalid reference format"],
  ["a@sha256:12", "invalid reference format"],
  ["a@b@c", "invalid reference format"],
  ["-a", "invalid reference format"],
  [`a:${"t".repeat(129)}`, "invalid reference format"],
  ["BusyBox", "invalid reference format: repository name (library/BusyBox) must be lowercase"],
  ["registry.test/Team/Tool:V1", "invalid reference format: repository name (Team/Tool) must be lowercase"],
  ["A__b.c/x", "repository name must be lowercase"],
  ["f".repeat(64), `invalid repository name (${"f".repeat(64)}), cannot specify 64-byte hexadecimal strings`],
  [`a/${"b".repeat(256)}`, "repository name must not be more than 255 characters"],
  [`a@sha256:${"0".repeat(32)}`, "invalid checksum digest length"],
  [`a@sha512:${"0".repeat(64)}`, "invalid checksum digest length"],
  [`a@sha256:${"A".repeat(64)}`, "invalid checksum digest format"],
  [`a@md5:${"0".repeat(32)}`, "unsupported digest algorithm"],
  [`a@MD5:${"0".repeat(32)}`, "invalid reference format: repository name (library/a@MD5) must be lowercase"],
  [`a:b@MD5:${"0".repeat(32)}`, "invalid checksum digest format"],
];
test("an image name that cannot be read has upstream's text, and causes no call of the runtime", async (t) => {
  const { fake, ensure } = await build(t);
  for (const [image, problem] of NAMES) {
    const shown = quote(image);
    const message = `Failed to apply default image tag ${shown}: couldn't parse image name ${shown}: ${problem}`;
    await assert.rejects(ensure(image), { reason: "InvalidImageName", message }, image);
  }
  assert.deepEqual(fake.calls, []);
});

test("failed pulls back off 10 s, 20 s, … to 5 min, per pod and image, and a success forgets it", async (t) => {
  const { fake, clock, pulls, ensure } = await build(t, { fake: { registry: {} } });
  let expected = 0;
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    const retryAt = clock.now() + seconds * 1000;
    await assert.rejects(ensure(REMOTE), reason("ErrImagePull", /not found/, retryAt));
    assert.equal(pulls(), ++expected);
    clock.step(seconds * 1000 - 1);
    await assert.rejects(
      ensure(REMOTE),
      reason(
        "ImagePullBackOff",
        /^Back-off pulling image "registry.test\/tool:2": ErrImagePull: .*not found$/,
        retryAt,
      ),
    );
    assert.equal(pulls(), expected, "no pull while it backs off");
    clock.step(1);
  }
  await assert.rejects(ensure(REMOTE, undefined, makePod({}, "other")), { reason: "ErrImagePull" });
  await assert.rejects(ensure(SECOND), { reason: "ErrImagePull" });
  fake.settings.registry.set(REMOTE, {});
  await ensure(REMOTE);
  fake.settings.registry.delete(REMOTE);
  await assert.rejects(ensure(REMOTE, "Always"), reason("ErrImagePull", /./, clock.now() + 10_000));
});

test("known failures of the registry keep their own reason", async (t) => {
  for (const [details, expected] of [
    ["RegistryUnavailable: 503", "image pull failed for registry.test/tool:2 because the registry is unavailable: 503"],
    [
      "SignatureValidationFailed: no key",
      "image pull failed for registry.test/tool:2 because the signature validation failed: no key",
    ],
    ["manifest unknown", "manifest unknown"],
  ] as const) {
    const { fake, ensure } = await build(t);
    fake.failpoint("PullImage", `error(UNKNOWN: ${details})`);
    const known = details.startsWith("manifest") ? "ErrImagePull" : (details.split(":", 1)[0] ?? "");
    await assert.rejects(ensure(REMOTE), reason(known, new RegExp(`^${expected}$`), 10_000));
  }
});

test("an abort while the image is looked at is not the image's fault", async (t) => {
  const { fake, ensure } = await build(t);
  fake.failpoint("ImageStatus", "1*hang");
  const controller = new AbortController();
  const looking = ensure(BUSYBOX, "IfNotPresent", makePod(), controller.signal);
  await until("it is looked at", () => fake.calls.length === 1);
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(looking, (error: unknown) => !(error instanceof StartContainerError));
});

test("an image that cannot be inspected is ImageInspectError; an unavailable runtime is not", async (t) => {
  const { fake, pulls, ensure } = await build(t);
  fake.failpoint("ImageStatus", "error(INTERNAL: database is closed)");
  await assert.rejects(
    ensure(BUSYBOX, "IfNotPresent"),
    reason("ImageInspectError", /^Failed to inspect image "": .*busybox:1.*database is closed/),
  );
  fake.failpoint("ImageStatus", "error(UNAVAILABLE: restarting)");
  await assert.rejects(ensure(BUSYBOX, "IfNotPresent"), CriUnavailableError);
  fake.failpoint("ImageStatus", "off");
  fake.failpoint("PullImage", "1*error(UNAVAILABLE: restarting)");
  await assert.rejects(ensure(REMOTE), CriUnavailableError);
  await ensure(REMOTE);
  assert.equal(pulls(), 2, "the runtime's absence starts no back-off");
});

test("an image that is pulled but then not listed is an error, not a wrong image", async (t) => {
  const { fake, ensure } = await build(t, { fake: { latency: { ImageStatus: 50 } } });
  const pulling = assert.rejects(
    ensure(REMOTE, "Always"),
    reason("ErrImagePull", /was pulled but the runtime does not list it/),
  );
  await until("the pull is over", () => fake.calls.some((call) => call.verb === "PullImage" && call.code === "OK"));
  fake.state.images.clear();
  await pulling;
});

async function overlap(t: TestContext, serialize: boolean): Promise<boolean> {
  const { fake, ensure } = await build(t, { fake: { latency: { PullImage: 50 } }, limit: serialize ? 1 : undefined });
  await Promise.all([ensure(REMOTE), ensure(SECOND)]);
  const [first, second] = fake.calls.filter((call) => call.verb === "PullImage");
  assert.ok(first?.endedAt !== undefined && second !== undefined);
  return second.startedAt < first.endedAt;
}

test("serialized pulls take turns; without that they overlap", async (t) => {
  assert.equal(await overlap(t, true), false);
  assert.equal(await overlap(t, false), true);
});

test("a failed pull gives the turn to the next", async (t) => {
  const { fake, ensure } = await build(t);
  fake.failpoint("PullImage", "1*error(UNKNOWN: broken pipe)");
  const [first, second] = await Promise.allSettled([ensure(REMOTE), ensure(SECOND)]);
  assert.equal(first.status, "rejected");
  assert.equal(second.status, "fulfilled");
});

test("an abort ends a pull under way without back-off, and the runtime hears of it", async (t) => {
  const { fake, pulls, ensure } = await build(t);
  fake.failpoint("PullImage", "1*hang");
  const controller = new AbortController();
  const pull = ensure(REMOTE, undefined, makePod(), controller.signal);
  await until("the pull is under way", () => pulls() === 1);
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(pull, (error: unknown) => !(error instanceof StartContainerError));
  await until("the runtime heard", () => fake.calls.at(-1)?.code === "CANCELLED");
  await ensure(REMOTE);
  assert.equal(pulls(), 2);
});

test("an abort ends the wait for another pod's pull at once, and the turns go on", async (t) => {
  const { fake, pulls, ensure } = await build(t);
  fake.failpoint("PullImage", "1*hang");
  const first = ensure(REMOTE, undefined, makePod({}, "slow"));
  await until("the first pull is under way", () => pulls() === 1);
  const controller = new AbortController();
  const waiting = ensure(SECOND, undefined, makePod({}, "impatient"), controller.signal);
  const third = ensure(SECOND, undefined, makePod({}, "patient"));
  await until("both have found their image absent and wait for the turn", () => {
    const looks = fake.calls.filter((call) => call.verb === "ImageStatus" && call.endedAt !== undefined);
    return looks.length === 3;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(waiting, (error: unknown) => !(error instanceof StartContainerError));
  assert.equal(pulls(), 1, "the first still holds the turn");
  fake.failpoint("PullImage", "off");
  await first;
  await third;
  assert.equal(pulls(), 2);
});
