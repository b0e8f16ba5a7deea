import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { UnsupportedVolumeError, VolumeSetUpError } from "../../../src/main/volumes/errors.js";
import type { Volume } from "../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { manager, never, podWith, temporaryRoot } from "./temporary-root.js";

test("unsupported sources are refused by pod, volume and source, before anything is made", async (t) => {
  const root = await temporaryRoot(t);
  const sources: [Volume, string][] = [
    [{ name: "s", secret: { secretName: "x" } }, "secret"],
    [{ name: "c", configMap: { name: "x" } }, "configMap"],
    [{ name: "n" }, "(none)"],
  ];
  for (const [volume, source] of sources) {
    await assert.rejects(
      manager(root).setUpPod(podWith([{ name: "ok", emptyDir: {} }, volume]), never),
      (error) =>
        error instanceof UnsupportedVolumeError &&
        error.source === source &&
        error.message.includes("web_default(uid-1)") &&
        error.volume === volume.name,
    );
  }
  assert.ok(!existsSync(`${root}/pods`));
});

test("volumes that no container uses are not set up, for every source", async (t) => {
  const root = await temporaryRoot(t);
  const pod = podWith([{ name: "used", emptyDir: {} }]);
  pod.spec.volumes?.push({ name: "unused", secret: {} });
  const volumes = manager(root);
  const heard: string[] = [];
  volumes.onSetUp((uid) => heard.push(uid));
  assert.equal(volumes.areSetUp(pod), false);
  assert.deepEqual([...(await volumes.setUpPod(pod, never)).keys()], ["used"]);
  assert.equal(volumes.areSetUp(pod), true);
  assert.deepEqual(heard, [pod.metadata.uid]);
  await volumes.tearDownPod(pod.metadata.uid);
  assert.equal(volumes.areSetUp(pod), false);
});

test("an aborted set-up rejects with the signal's reason", async (t) => {
  const root = await temporaryRoot(t);
  const reason = new Error("pod removed");
  await assert.rejects(
    manager(root).setUpPod(podWith([{ name: "a", emptyDir: {} }]), AbortSignal.abort(reason)),
    reason,
  );
});

test("names that are paths never reach the disk", async (t) => {
  const root = await temporaryRoot(t);
  await assert.rejects(manager(root).setUpPod(podWith([{ name: "../x", emptyDir: {} }]), never), VolumeSetUpError);
  await assert.rejects(manager(root).setUpPod(podWith([{ name: "a", emptyDir: {} }], {}, "../x"), never), {
    name: "OperatorError",
  });
  await assert.rejects(manager(root).tearDownPod(podUid("..")), { name: "OperatorError" });
  await assert.rejects(manager(root).removePodDirectory(podUid("")), { name: "OperatorError" });
});

test("pods on disk are listed; a pod's directory goes with all it holds", async (t) => {
  const root = await temporaryRoot(t);
  const volumes = manager(root);
  assert.deepEqual(await volumes.listPods(), []);
  await volumes.setUpPod(podWith([{ name: "a", emptyDir: {} }], {}, "u1"), never);
  mkdirSync(`${root}/pods/u2`);
  await volumes.setUpPod(podWith([], {}, "u2"), never);
  assert.deepEqual((await volumes.listPods()).sort(), ["u1", "u2"]);
  mkdirSync(`${root}/pods/u1/containers/main`, { recursive: true });
  writeFileSync(`${root}/pods/u1/etc-hosts`, "");
  mkdirSync(`${root}/pods/u1/volumes/example.com~other/x`, { recursive: true });
  await volumes.removePodDirectory(podUid("u1"));
  assert.deepEqual(await volumes.listPods(), ["u2"]);
});
