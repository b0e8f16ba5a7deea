// Users' view of pulls: events word by word, metrics, and log lines of a long pull.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openAccess } from "../../../../src/main/containers/images/image-access.js";
import { imageSizeLabel } from "../../../../src/main/containers/images/metrics.js";
import { pod as makePod } from "../../../support/pods.js";
import { until } from "../../../support/sources-kit.js";
import { build, BUSYBOX, never, REMOTE, sandbox, SECOND } from "./puller-kit.js";

test("a pull: that it begins, how long it took and how big the image is", async (t) => {
  const { fake, clock, events, ensure } = await build(t, {
    fake: { registry: { [REMOTE]: { size: 12_345 } }, latency: { PullImage: 20 } },
  });
  const pulling = ensure(REMOTE);
  await until("the pull is under way", () => fake.calls.some((call) => call.verb === "PullImage"));
  clock.step(61_234.9);
  await pulling;
  assert.deepEqual(events, [
    'web/app Normal Pulling: Pulling image "registry.test/tool:2"',
    'web/app Normal Pulled: Successfully pulled image "registry.test/tool:2" in 1m1.234s (1m1.234s including waiting). Image size: 12345 bytes.',
  ]);
});

test("the time including the wait counts from the question", async (t) => {
  const { fake, clock, events, ensure, pulls, turns } = await build(t);
  fake.failpoint("PullImage", "1*hang");
  const first = ensure(REMOTE, "Always", makePod({}, "first"));
  await until("the first pull is under way", () => pulls() === 1);
  const second = ensure(SECOND, "Always", makePod({}, "second"));
  await until("the second waits", () => turns.waiting === 1);
  clock.step(5000);
  fake.failpoint("PullImage", "1*hang");
  await first;
  await until("the second pull is under way", () => pulls() === 2);
  clock.step(2000);
  fake.failpoint("PullImage", "off");
  await second;
  assert.match(events.at(-1) ?? "", /^second\/app .*other:1" in 2s \(7s including waiting\)/);
});

test("an image that is there: with the gate, that the pod may have it", async (t) => {
  const open = await build(t);
  await open.ensure(BUSYBOX, "IfNotPresent");
  assert.deepEqual(open.events, [`web/app Normal Pulled: Container image "${BUSYBOX}" already present on machine`]);
  const verified = await build(t, { access: { ...openAccess, verifies: true } });
  await verified.ensure(BUSYBOX, "Never");
  assert.deepEqual(verified.events, [
    `web/app Normal Pulled: Container image "${BUSYBOX}" already present on machine and can be accessed by the pod`,
  ]);
});

test("failures, and the tries that their back-off refuses", async (t) => {
  const { fake, events, ensure, puller } = await build(t, { fake: { registry: {} } });
  await assert.rejects(ensure(REMOTE));
  await assert.rejects(ensure(REMOTE));
  const why = 'failed to pull and unpack image "registry.test/tool:2": failed to resolve reference: not found';
  assert.deepEqual(events.splice(0), [
    'web/app Normal Pulling: Pulling image "registry.test/tool:2"',
    `web/app Warning Failed: Failed to pull image "registry.test/tool:2": ${why}`,
    'web/app Normal BackOff: Back-off pulling image "registry.test/tool:2"',
  ]);
  await assert.rejects(ensure("gone:1", "Never"));
  await assert.rejects(ensure("Gone"));
  fake.failpoint("ImageStatus", "error(INTERNAL: database is closed)");
  await assert.rejects(puller.ensureVolume(makePod(), { name: "v", image: { reference: BUSYBOX } }, sandbox, never));
  assert.deepEqual(events.slice(0, 2), [
    'web/app Warning ErrImageNeverPull: Container image "gone:1" is not present with pull policy of Never',
    'web/app Warning InspectFailed: Failed to apply default image tag "Gone": couldn\'t parse image name "Gone": invalid reference format: repository name (library/Gone) must be lowercase',
  ]);
  assert.match(events[2] ?? "", /^web\/- Warning InspectFailed: Failed to inspect image "": .*database is closed/);
});

test("metrics: requested images, and pulls by size", async (t) => {
  const { registry, ensure } = await build(t, { fake: { registry: { [REMOTE]: { size: 20 * 1024 * 1024 } } } });
  await ensure(BUSYBOX, "IfNotPresent");
  await ensure(REMOTE, "IfNotPresent");
  await ensure(REMOTE, "Always");
  await assert.rejects(ensure(SECOND, "Never"));
  const { families } = await registry.exportSnapshot();
  const samples = families.flatMap(({ name, samples }) =>
    samples.map(({ labels, value, metricName = name }) => `${metricName} ${Object.values(labels).join(",")} ${value}`),
  );
  const asked = "kubelet_image_manager_ensure_image_requests_total";
  for (const line of [
    `${asked} ifnotpresent,true,false 1`,
    `${asked} ifnotpresent,false,true 1`,
    `${asked} always,unknown,true 1`,
    `${asked} never,false,true 1`,
    "kubelet_image_pull_duration_seconds_count 10MB-100MB 2",
  ]) {
    assert.ok(samples.includes(line), `${line} in\n${samples.join("\n")}`);
  }
});

test("sizes have upstream's labels", () => {
  const mib = 1024n * 1024n;
  const labels = [0n, 1n, 10n * mib - 1n, 10n * mib, 500n * mib, 1024n * mib, 60n * 1024n * mib, 100n * 1024n * mib];
  assert.deepEqual(labels.map(imageSizeLabel), [
    "N/A",
    "0-10MB",
    "0-10MB",
    "10MB-100MB",
    "500MB-1GB",
    "1GB-5GB",
    "60GB-100GB",
    "GT100GB",
  ]);
});

test("a long pull is logged at growing intervals, a waiting pull too; no timer is left when they end", async (t) => {
  const { fake, clock, kept, ensure, pulls, turns } = await build(t);
  fake.failpoint("PullImage", "1*hang");
  const first = ensure(REMOTE, "Always", makePod({}, "first"));
  await until("the first pull is under way", () => pulls() === 1);
  const second = ensure(SECOND, "Always", makePod({}, "second"));
  await until("the second waits", () => turns.waiting === 1);
  clock.step(9999);
  assert.equal(kept.lines.length, 0);
  clock.step(60_001);
  const said = kept.lines.map(({ msg }) => msg);
  assert.deepEqual(
    said.filter((msg) => msg.includes("first")),
    [10, 30, 70].map(
      (s) => `the pull of image "${REMOTE}" for pod first_default(uid-first) has been going on for ${go(s)}`,
    ),
  );
  assert.deepEqual(
    said.filter((msg) => msg.includes("second")),
    [10, 30, 70].map(
      (s) =>
        `the pull of image "${SECOND}" for pod second_default(uid-second) has waited ${go(s)} for its turn (1 wait)`,
    ),
  );
  fake.failpoint("PullImage", "off");
  await Promise.all([first, second]);
  assert.equal(clock.pending, 0);
});

function go(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
