// A CSI volume's life against a real driver over a real socket, with real mounts.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { CsiStepError } from "../../../../src/main/volumes/csi/step-error.js";
import { CSI_DRIVERS, SECRETS } from "../../../../src/shared/kubernetes/api/client/kinds.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { csiKit, csiVolume, DRIVER, never, podOf } from "../../../support/csi/kit.js";
import { mountsBelow } from "../../../support/mounts.js";
import { until } from "../../../support/sources-kit.js";
import { isRoot } from "../temporary-root.js";

const skip = isRoot ? false : "needs root";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

test("stage, publish, unpublish, unstage: paths, notes and calls are upstream's", { skip }, async (t) => {
  const { root, api, driver, volumes } = await csiKit(t);
  api.put(SECRETS, {
    metadata: { name: "stage", namespace: "store" },
    data: { user: Buffer.from("me").toString("base64") },
  });
  const volume = csiVolume({
    fsType: "ext4",
    mountOptions: ["noatime"],
    stageSecret: { name: "stage", namespace: "store" },
  });
  const place = await volumes.setUpMount({ pod: podOf("u1"), volume, signal: never });
  const staged = `${root}/plugins/kubernetes.io/csi/${DRIVER}/${sha256("vol-1")}`;
  const published = `${root}/pods/u1/volumes/kubernetes.io~csi/pv-1`;
  assert.deepEqual(place, { hostPath: `${published}/mount`, volumeName: "pv-1", readOnly: undefined });
  assert.deepEqual(driver.did(), ["NodeStageVolume", "NodePublishVolume"]);
  const capability = {
    block: undefined,
    mount: { fsType: "ext4", mountFlags: ["noatime"], volumeMountGroup: "" },
    accessMode: { mode: 1 },
  };
  assert.deepEqual(driver.last("NodeStageVolume"), {
    volumeId: "vol-1",
    publishContext: {},
    stagingTargetPath: `${staged}/globalmount`,
    volumeCapability: capability,
    secrets: { user: "me" },
    volumeContext: { size: "big" },
  });
  assert.deepEqual(driver.last("NodePublishVolume"), {
    volumeId: "vol-1",
    publishContext: {},
    stagingTargetPath: `${staged}/globalmount`,
    targetPath: `${published}/mount`,
    volumeCapability: capability,
    readonly: false,
    secrets: {},
    volumeContext: { size: "big" },
  });
  assert.deepEqual(json(`${staged}/vol_data.json`), { driverName: DRIVER, volumeHandle: "vol-1" });
  assert.deepEqual(json(`${published}/vol_data.json`), {
    specVolID: "pv-1",
    volumeHandle: "vol-1",
    driverName: DRIVER,
    nodeName: "node-1",
    attachmentID: `csi-${sha256(`vol-1${DRIVER}node-1`)}`,
    volumeLifecycleMode: "Persistent",
  });
  writeFileSync(`${place.hostPath}/hello`, "there");
  assert.equal(readFileSync(`${root}/driver/volumes/vol-1/hello`, "utf8"), "there");
  assert.deepEqual(volumes.inUse(), []); // needs no attaching

  await volumes.setUpMount({ pod: podOf("u1"), volume, signal: never });
  assert.equal(driver.did().length, 2, "what is set up is not done again");

  await volumes.tearDownMount(podUid("u1"), "pv-1");
  await volumes.idle();
  assert.deepEqual(driver.did().slice(2), ["NodeUnpublishVolume", "NodeUnstageVolume"]);
  assert.deepEqual(mountsBelow(root), []);
  assert.ok(
    !existsSync(published) && !existsSync(staged) && !existsSync(`${root}/pods/u1/plugins/kubernetes.io~csi/pv-1`),
  );
  assert.ok(existsSync(`${root}/driver/volumes/vol-1/hello`), "the content is the volume's");
  await volumes.tearDownMount(podUid("u1"), "pv-1");
  assert.equal(driver.did().length, 4);
});

test("a volume for one pod waits for the end of the pod before, also after a restart", { skip }, async (t) => {
  const { volumes, restarted } = await csiKit(t);
  const volume = csiVolume({ accessModes: ["ReadWriteOncePod"] });
  const setUp = (uid: string, from = volumes) => from.setUpMount({ pod: podOf(uid), volume, signal: never });
  const message = "volume uses the ReadWriteOncePod access mode and is already in use by another pod";
  const refusal = { name: "CsiStepError", step: "MountVolume.SetUp", message };
  await setUp("u1");
  await assert.rejects(setUp("u2"), refusal);
  await setUp("u1");
  const later = restarted();
  await assert.rejects(setUp("u2", later), refusal);
  await later.tearDownMount(podUid("u1"), "pv-1");
  await setUp("u2", later);
  await later.tearDownMount(podUid("u2"), "pv-1");
  await later.idle();
});

test("a device for one pod waits for the end of the pod before, also after a restart", { skip }, async (t) => {
  const { volumes, restarted } = await csiKit(t);
  const volume = csiVolume({ accessModes: ["ReadWriteOncePod"] });
  const map = (uid: string, from = volumes) => from.map({ pod: podOf(uid), volume, signal: never });
  const message = "volume uses the ReadWriteOncePod access mode and is already in use by another pod";
  const refusal = { name: "CsiStepError", step: "MapVolume.SetUpDevice", message };
  await map("u1");
  await assert.rejects(map("u2"), refusal);
  await map("u1");
  const later = restarted();
  await assert.rejects(map("u2", later), refusal);
  await later.unmap(podUid("u1"), "pv-1");
  await map("u2", later);
  await later.unmap(podUid("u2"), "pv-1");
  await later.idle();
});

test("two pods share the staged volume; the last teardown unstages it", { skip }, async (t) => {
  const { driver, volumes, root } = await csiKit(t);
  const volume = csiVolume();
  await Promise.all(["u1", "u2"].map((uid) => volumes.setUpMount({ pod: podOf(uid), volume, signal: never })));
  assert.deepEqual(driver.did(), ["NodeStageVolume", "NodePublishVolume", "NodePublishVolume"]);
  await volumes.tearDownMount(podUid("u1"), "pv-1");
  await volumes.idle();
  assert.ok(!driver.did().includes("NodeUnstageVolume"));
  await volumes.tearDownMount(podUid("u2"), "pv-1");
  await volumes.idle();
  assert.equal(driver.did().at(-1), "NodeUnstageVolume");
  assert.deepEqual(mountsBelow(root), []);
});

test("another kubelet finds a published volume, changes nothing of it, and unpublishes it", { skip }, async (t) => {
  const { driver, volumes, restarted, root } = await csiKit(t);
  const volume = csiVolume();
  const place = await volumes.setUpMount({ pod: podOf("u1"), volume, signal: never });
  await volumes.stop();
  const next = restarted();
  await next.load();
  assert.deepEqual(next.inUse(), [`kubernetes.io/csi/${DRIVER}^vol-1`], "known before any pod asks");
  assert.deepEqual(await next.setUpMount({ pod: podOf("u1"), volume, signal: never }), place);
  assert.equal(driver.did().length, 2);
  await until("nobody attaches it", () => next.inUse().length === 0);
  await next.tearDownMount(podUid("u1"), "pv-1");
  await next.idle();
  assert.deepEqual(driver.did().slice(2), ["NodeUnpublishVolume", "NodeUnstageVolume"]);
  assert.deepEqual(mountsBelow(root), []);
});

test(
  "a volume that a kubelet killed between unpublish and unstage left staged is unstaged by the next",
  { skip },
  async (t) => {
    const { driver, volumes, restarted, root } = await csiKit(t);
    await volumes.setUpMount({ pod: podOf("u1"), volume: csiVolume(), signal: never });
    driver.faults.set("NodeUnstageVolume", { hang: true });
    await volumes.tearDownMount(podUid("u1"), "pv-1");
    await until("the driver is asked", () => driver.did().includes("NodeUnstageVolume"));
    await volumes.stop();
    assert.equal(mountsBelow(root).length, 1);
    driver.faults.clear();
    const next = restarted();
    await next.load();
    await next.idle();
    assert.deepEqual(mountsBelow(root), []);
  },
);

test("a call whose outcome is unknown is undone with the pod", { skip }, async (t) => {
  const { driver, volumes, root } = await csiKit(t);
  driver.faults.set("NodePublishVolume", { late: true, code: status.DEADLINE_EXCEEDED });
  const setUp = volumes.setUpMount({ pod: podOf("u1"), volume: csiVolume(), signal: never });
  await assert.rejects(setUp, (error) => {
    assert.ok(error instanceof CsiStepError);
    assert.equal(error.step, "MountVolume.SetUp");
    assert.equal(error.message, "rpc error: code = DeadlineExceeded desc = NodePublishVolume is told to fail");
    return true;
  });
  assert.equal(mountsBelow(root).length, 2, "the driver did it all the same");
  await volumes.tearDownMount(podUid("u1"), "pv-1");
  await volumes.idle();
  assert.deepEqual(mountsBelow(root), []);
  assert.ok(!existsSync(`${root}/pods/u1/volumes/kubernetes.io~csi/pv-1`));
});

test("a driver that does not stage a volume gets no call to undo it, and nothing is left", { skip }, async (t) => {
  const { driver, volumes, root } = await csiKit(t);
  driver.faults.set("NodeStageVolume", { code: status.INVALID_ARGUMENT });
  const setUp = volumes.setUpMount({ pod: podOf("u1"), volume: csiVolume(), signal: never });
  await assert.rejects(setUp, (error) => error instanceof CsiStepError && error.step === "MountVolume.MountDevice");
  assert.ok(!existsSync(`${root}/pods/u1/volumes/kubernetes.io~csi/pv-1`));
  assert.ok(!existsSync(`${root}/plugins/kubernetes.io/csi/${DRIVER}`) || volumes.inUse().length === 0);
  await volumes.tearDownMount(podUid("u1"), "pv-1");
  await volumes.idle();
  assert.deepEqual(driver.did(), ["NodeStageVolume"]);
});

test(
  "a driver that hangs holds up its own volume only, and a pod that is given up lets go of it",
  { skip },
  async (t) => {
    const { driver, volumes, root } = await csiKit(t, { timeoutMs: 60_000 });
    driver.faults.set("NodePublishVolume", { hang: true, times: 1 });
    const pod = new AbortController();
    const hung = volumes.setUpMount({ pod: podOf("u1"), volume: csiVolume(), signal: pod.signal });
    await until("the driver is asked", () => driver.did().includes("NodePublishVolume"));
    const other = csiVolume({ handle: "vol-2", name: "pv-2", spec: "pv-2" });
    await volumes.setUpMount({ pod: podOf("u2"), volume: other, signal: never });
    pod.abort(new Error("pod removed"));
    await assert.rejects(hung, /pod removed/);
    await volumes.tearDownMount(podUid("u1"), "pv-1");
    await volumes.tearDownMount(podUid("u2"), "pv-2");
    await volumes.idle();
    assert.deepEqual(mountsBelow(root), []);
  },
);

test(
  "a driver that is gone is waited for; its volumes stay mounted and noted until it is back",
  { skip },
  async (t) => {
    const { driver, volumes, root } = await csiKit(t);
    await volumes.setUpMount({ pod: podOf("u1"), volume: csiVolume(), signal: never });
    await driver.stop();
    await assert.rejects(volumes.tearDownMount(podUid("u1"), "pv-1"), /NodeUnpublishVolume at .*code = Unavailable/);
    assert.equal(mountsBelow(root).length, 2);
    await driver.start();
    await volumes.tearDownMount(podUid("u1"), "pv-1");
    await volumes.idle();
    assert.deepEqual(mountsBelow(root), []);
  },
);

test("a driver that has not registered is named", async (t) => {
  const { volumes, api, root } = await csiKit(t);
  api.put(CSI_DRIVERS, { metadata: { name: "absent.csi" }, spec: { attachRequired: false } });
  const volume = csiVolume({ driver: "absent.csi" });
  await assert.rejects(
    volumes.setUpMount({ pod: podOf("u1"), volume, signal: never }),
    (error) =>
      error instanceof CsiStepError &&
      error.step === "MountVolume.MountDevice" &&
      error.message.startsWith("driver name absent.csi not found in the list of registered CSI drivers"),
  );
  assert.ok(!existsSync(`${root}/pods`), "a driver that never was has nothing to undo");
});

test("fsGroup: files by policy, by the driver if it can, never on read-only volumes", { skip }, async (t) => {
  const { root, volumes } = await csiKit(t);
  const fsGroup = 4321;
  const group = (path: string): number => statSync(path).gid;
  const own = async (uid: string, fields: Parameters<typeof csiVolume>[0]): Promise<number> => {
    const { hostPath } = await volumes.setUpMount({
      pod: podOf(uid, { fsGroup }),
      volume: csiVolume(fields),
      signal: never,
    });
    return group(hostPath);
  };
  assert.equal(await own("u1", { handle: "a", name: "a", spec: "a", fsType: "ext4" }), fsGroup);
  assert.equal(await own("u2", { handle: "b", name: "b", spec: "b", fsType: "" }), 0);
  assert.equal(
    await own("u3", { handle: "c", name: "c", spec: "c", fsType: "ext4", accessModes: ["ReadWriteMany"] }),
    0,
  );
  assert.equal(await own("u4", { handle: "d", name: "d", spec: "d", fsType: "ext4", readOnly: true }), 0);
  for (const [uid, spec] of [
    ["u1", "a"],
    ["u2", "b"],
    ["u3", "c"],
    ["u4", "d"],
  ] as const) {
    await volumes.tearDownMount(podUid(uid), spec);
  }
  await volumes.idle();
  assert.deepEqual(mountsBelow(root), []);
});

test("a driver with VOLUME_MOUNT_GROUP receives the group", { skip }, async (t) => {
  const { driver, volumes } = await csiKit(t, {
    driver: { capabilities: ["STAGE_UNSTAGE_VOLUME", "VOLUME_MOUNT_GROUP"] },
  });
  const { hostPath } = await volumes.setUpMount({
    pod: podOf("u1", { fsGroup: 77 }),
    volume: csiVolume({ fsType: "ext4" }),
    signal: never,
  });
  const { volumeCapability } = driver.last("NodePublishVolume") as {
    volumeCapability: { mount: { volumeMountGroup: string } };
  };
  assert.equal(volumeCapability.mount.volumeMountGroup, "77");
  assert.equal(statSync(hostPath).gid, 0);
  await volumes.tearDownMount(podUid("u1"), "pv-1");
});

test("a driver without staging gets no staging path and no staging calls", { skip }, async (t) => {
  const { driver, volumes, root } = await csiKit(t, { driver: { capabilities: [] } });
  await volumes.setUpMount({ pod: podOf("u1"), volume: csiVolume(), signal: never });
  assert.equal(driver.last("NodePublishVolume")?.["stagingTargetPath"], "");
  await volumes.tearDownMount(podUid("u1"), "pv-1");
  await volumes.idle();
  assert.deepEqual(driver.did(), ["NodePublishVolume", "NodeUnpublishVolume"]);
  assert.deepEqual(mountsBelow(root), []);
});

test("an ephemeral volume's driver receives the pod and tokens, and must offer the mode", { skip }, async (t) => {
  const spec = {
    attachRequired: true,
    podInfoOnMount: true,
    volumeLifecycleModes: ["Ephemeral" as const],
    tokenRequests: [{ audience: "vault" }, { audience: "" }],
    requiresRepublish: true,
  };
  const { driver, volumes, root } = await csiKit(t, { spec });
  const volume = csiVolume({ lifecycle: "Ephemeral", handle: "csi-abc", name: "inline", spec: "inline" });
  const request = { pod: podOf("u1"), volume, signal: never };
  await volumes.setUpMount(request);
  assert.deepEqual(driver.did(), ["NodePublishVolume"]);
  assert.deepEqual(driver.last("NodePublishVolume")?.["volumeContext"], {
    size: "big",
    "csi.storage.k8s.io/pod.name": "pod-u1",
    "csi.storage.k8s.io/pod.namespace": "default",
    "csi.storage.k8s.io/pod.uid": "u1",
    "csi.storage.k8s.io/serviceAccount.name": "builder",
    "csi.storage.k8s.io/ephemeral": "true",
    "csi.storage.k8s.io/serviceAccount.tokens":
      '{"vault":{"token":"token for vault","expirationTimestamp":"1970-01-01T01:00:00Z"},' +
      '"":{"token":"token for api","expirationTimestamp":"1970-01-01T01:00:00Z"}}',
  });
  await volumes.republish(request);
  assert.deepEqual(driver.did(), ["NodePublishVolume", "NodePublishVolume"]);
  await assert.rejects(
    volumes.setUpMount({ pod: podOf("u2"), volume: csiVolume(), signal: never }),
    /volume mode "Persistent" not supported by driver test.csi.nodelet \(only supports \["Ephemeral"\]\)/,
  );
  await volumes.tearDownMount(podUid("u1"), "inline");
  assert.deepEqual(mountsBelow(root), []);
  assert.ok(!driver.did().includes("NodeUnstageVolume"));
});
