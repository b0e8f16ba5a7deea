// Volumes behind claims, through the volume manager: the pod's volumes, its events, and leftovers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { status as grpc } from "@grpc/grpc-js";
import { connectCsiNode } from "../../../../src/main/volumes/csi/node-client.js";
import { volumeMetrics } from "../../../../src/main/volumes/metrics.js";
import { PersistentVolumes } from "../../../../src/main/volumes/persistent/persistent-volumes.js";
import { createVolumeManager, type VolumeManager } from "../../../../src/main/volumes/volume-manager.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import {
  CSI_DRIVERS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  VOLUME_ATTACHMENTS,
} from "../../../../src/shared/kubernetes/api/client/kinds.js";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../src/shared/kubernetes/api/objects.js";
import type { Volume } from "../../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { TestCsiDriver } from "../../../support/csi/driver.js";
import { clusterOf, DRIVER, NODE } from "../../../support/csi/kit.js";
import { MemoryApi } from "../../../support/csi/memory-api.js";
import { flexDriver, SUCCESS } from "../../../support/flex-driver.js";
import { loopDevice } from "../../../support/loop-device.js";
import { mountsBelow } from "../../../support/mounts.js";
import { noCsiMetrics } from "../../../support/silent.js";
import { until } from "../../../support/sources-kit.js";
import { hostPathOf, isRoot, keptEvents, never, options, podWith, temporaryRoot } from "../temporary-root.js";

const skip = isRoot ? false : "needs root";
const CLAIM = { namespace: "default", name: "data" };

async function world(
  t: TestContext,
  { controllerAttaches = true, withDriver = true, registry = new ThreadRegistry("test") } = {},
) {
  const root = await temporaryRoot(t);
  const api = new MemoryApi();
  api.put(NODES, { metadata: { name: NODE, labels: { zone: "a" } } });
  const events = keptEvents();
  const cluster = clusterOf(api);
  const refused: [string, { reason: string; message: string }][] = [];
  const base = { ...options(root), events, nodeName: NODE, metrics: volumeMetrics(registry) };
  const persistent = new PersistentVolumes({
    ...base,
    cluster: () => cluster,
    controllerAttaches,
    statsPeriodMs: 60_000,
    volumeHealth: true,
    seLinuxEveryMode: false,
    registry,
  });
  const refuse = (uid: string, failure: { reason: string; message: string }): void => void refused.push([uid, failure]);
  const manager = createVolumeManager({ ...base, persistent, refuse }, () => cluster);
  const managers = [manager];
  /** A manager that has only the state on disk. */
  const next = (): VolumeManager => {
    const made = createVolumeManager({ ...base, persistent, refuse }, () => cluster);
    managers.push(made);
    return made;
  };
  t.after(async () => {
    for (const one of managers) await one.stop();
    await persistent.stop();
  });
  const driver = await TestCsiDriver.start({ name: DRIVER, rootDir: root, home: `${root}/driver` });
  t.after(() => driver[Symbol.asyncDispose]());
  if (withDriver) {
    const common = { clock: systemClock, metrics: noCsiMetrics, driver: DRIVER, endpoint: driver.endpoint };
    persistent.drivers.add({
      ...{ name: DRIVER, endpoint: driver.endpoint, version: "1.0.0" },
      node: connectCsiNode(common),
    });
  }
  const bind = (spec: PersistentVolume["spec"], claim: Partial<PersistentVolumeClaim> = {}, annotations = {}): void => {
    const bound = api.put<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
      metadata: { ...CLAIM, uid: "claim-uid", ...claim.metadata },
      spec: { volumeName: "pv-1", ...claim.spec },
      status: { phase: "Bound", ...claim.status },
    });
    api.put<PersistentVolume>(PERSISTENT_VOLUMES, {
      metadata: { name: "pv-1", annotations },
      spec: { claimRef: { uid: bound.metadata.uid ?? "" }, ...spec },
    });
  };
  const attachRequired = (needed: boolean): void =>
    void api.put(CSI_DRIVERS, { metadata: { name: DRIVER }, spec: { attachRequired: needed } });
  const { seen, ofObjects } = events;
  return { root, api, events: seen, ofObjects, refused, next, persistent, manager, driver, bind, attachRequired };
}

const claimed: Volume = { name: "data", persistentVolumeClaim: { claimName: "data" } };
const csiSpec = { csi: { driver: DRIVER, volumeHandle: "vol-1" }, accessModes: ["ReadWriteOnce"] };

test(
  "a claim's CSI volume: reported in use before its use, staged after its attachment, removed with its pod",
  { skip },
  async (t) => {
    const { api, manager, persistent, driver, bind, attachRequired, root, events } = await world(t);
    attachRequired(true);
    bind(csiSpec);
    const name = `kubernetes.io/csi/${DRIVER}^vol-1`;
    const reported: string[][] = [];
    persistent.onVolumesInUse((names) => {
      reported.push(names);
      api.put(NODES, { metadata: { name: NODE }, status: { volumesInUse: names } });
    });
    const setUp = manager.setUpPod(podWith([claimed]), never);
    await until("it is reported", () => reported.at(-1)?.includes(name) === true);
    assert.deepEqual(driver.did(), [], "not before it is attached");
    api.put(NODES, {
      metadata: { name: NODE },
      status: { volumesInUse: [name], volumesAttached: [{ name, devicePath: "" }] },
    });
    const asked = (): string | undefined => api.calls.find((call) => call.startsWith("get volumeattachments/"));
    // An object that does not exist is Forbidden to a node.
    api.failing.set("get volumeattachments/", new ApiError(403, "Forbidden", "no relationship found"));
    await until("the attachment is looked for", () => asked() !== undefined);
    api.failing.clear();
    api.put(VOLUME_ATTACHMENTS, {
      metadata: { name: asked()?.slice("get volumeattachments/".length) ?? "" },
      spec: { attacher: DRIVER, nodeName: NODE, source: { persistentVolumeName: "pv-1" } },
      status: { attached: true, attachmentMetadata: { devicePath: "/dev/x" } },
    });
    const places = await setUp;
    assert.equal(hostPathOf(places, "data"), `${root}/pods/uid-1/volumes/kubernetes.io~csi/pv-1/mount`);
    assert.deepEqual(driver.last("NodeStageVolume")?.["publishContext"], { devicePath: "/dev/x" });
    assert.deepEqual(events, []);
    assert.equal(persistent.stats(podUid("uid-1")).size, 0);
    await manager.removePodDirectory(podUid("uid-1"));
    await (await persistent.csi()).idle();
    assert.deepEqual(persistent.volumesInUse(), []);
    assert.deepEqual(reported.at(-1), []);
    assert.deepEqual(mountsBelow(root), []);
    assert.ok(!existsSync(`${root}/pods/uid-1`));
  },
);

test("without a controller the kubelet attaches and detaches by itself", { skip }, async (t) => {
  const { api, manager, persistent, bind, attachRequired, events } = await world(t, { controllerAttaches: false });
  attachRequired(true);
  bind(csiSpec);
  const setUp = manager.setUpPod(podWith([claimed]), never);
  await until("it is asked for", () => api.count("create volumeattachments/") > 0);
  const name = api.calls.find((call) => call.startsWith("create volumeattachments/"))?.split("/")[1] ?? "";
  const asked = api.find(VOLUME_ATTACHMENTS, { name });
  assert.deepEqual(asked?.spec, { attacher: DRIVER, nodeName: NODE, source: { persistentVolumeName: "pv-1" } });
  api.put(VOLUME_ATTACHMENTS, { ...asked, status: { attached: true } });
  await setUp;
  const message = 'AttachVolume.Attach succeeded for volume "pv-1" ';
  assert.deepEqual(events, [{ type: "Normal", reason: "SuccessfulAttachVolume", message }]);
  await manager.tearDownPod(podUid("uid-1"));
  await (await persistent.csi()).idle();
  assert.equal(api.find(VOLUME_ATTACHMENTS, { name }), undefined);
});

test("a node that can't have one more volume refuses the pod", { skip }, async (t) => {
  const { api, manager, events, refused, bind, attachRequired } = await world(t, { controllerAttaches: false });
  attachRequired(true);
  bind(csiSpec);
  const setUp = manager.setUpPod(podWith([claimed]), never);
  await until("it is asked for", () => api.count("create volumeattachments/") > 0);
  const name = api.calls.find((call) => call.startsWith("create volumeattachments/"))?.split("/")[1] ?? "";
  const asked = api.find(VOLUME_ATTACHMENTS, { name });
  api.put(VOLUME_ATTACHMENTS, {
    ...asked!,
    status: { attached: false, attachError: { message: "too many volumes", errorCode: 8 } },
  });
  await assert.rejects(setUp, /too many volumes/);
  const message =
    "Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[data], unattached volumes=[], " +
    "failed to process volumes=[]: too many volumes";
  assert.deepEqual(refused, [["uid-1", { reason: "VolumeAttachmentLimitExceeded", message }]]);
  assert.deepEqual(events, [{ type: "Warning", reason: "VolumeAttachmentLimitExceeded", message }]);
});

const claimFaults: [string, (w: Awaited<ReturnType<typeof world>>) => void, string][] = [
  ["no claim", () => undefined, 'failed to fetch PVC from API server: persistentvolumeclaims "data" not found'],
  ["unbound", ({ bind }) => bind(csiSpec, { status: { phase: "Pending" } }), "PVC is not bound"],
  [
    "going",
    ({ bind }) => bind(csiSpec, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    "PVC is being deleted",
  ],
  [
    "another's volume",
    ({ bind }) => bind({ ...csiSpec, claimRef: { uid: "other" } }),
    'found PV object pv-1 but its pvc.Spec.ClaimRef.UID "other" does not point to claim.UID "claim-uid"',
  ],
  [
    "a device that is mounted",
    ({ bind }) => bind({ ...csiSpec, volumeMode: "Block" }),
    "volume data has volumeMode Block, but is specified in volumeMounts",
  ],
];
for (const [title, arrange, problem] of claimFaults) {
  test(`an unusable claim is reported in upstream's words: ${title}`, async (t) => {
    const w = await world(t, { withDriver: false });
    arrange(w);
    const pod = new AbortController();
    const setUp = w.manager.setUpPod(podWith([claimed]), pod.signal);
    await until("the event", () => w.events.length > 0);
    pod.abort(new Error("pod removed"));
    await assert.rejects(setUp);
    assert.deepEqual(w.events[0], {
      type: "Warning",
      reason: "FailedMount",
      message:
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process " +
        `volumes=[data]: error processing PVC default/data: ${problem}`,
    });
  });
}

test("a volume of another zone is not mounted here", async (t) => {
  const { manager, bind, events } = await world(t, { withDriver: false });
  const terms = [{ matchExpressions: [{ key: "zone", operator: "In", values: ["b"] }] }];
  bind({ local: { path: "/" }, nodeAffinity: { required: { nodeSelectorTerms: terms } } });
  const pod = new AbortController();
  const setUp = manager.setUpPod(podWith([claimed]), pod.signal);
  await until("the event", () => events.length > 0);
  pod.abort(new Error("pod removed"));
  await assert.rejects(setUp);
  assert.equal(
    events[0]?.message,
    'MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms',
  );
});

test(
  "a local volume is mounted, owned by the group, read-only if requested, and otherwise unchanged",
  { skip },
  async (t) => {
    const { root, manager, bind } = await world(t, { withDriver: false });
    const directory = `${root}/disks/one`;
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${directory}/file`, "kept");
    bind({ local: { path: directory } });
    const pod = podWith([claimed], { securityContext: { fsGroup: 99 } });
    const hostPath = hostPathOf(await manager.setUpPod(pod, never), "data");
    assert.equal(hostPath, `${root}/pods/uid-1/volumes/kubernetes.io~local-volume/pv-1`);
    assert.equal(readFileSync(`${hostPath}/file`, "utf8"), "kept");
    assert.equal(statSync(hostPath).gid, 99);
    const reader = podWith(
      [{ name: "data", persistentVolumeClaim: { claimName: "data", readOnly: true } }],
      {},
      "uid-2",
    );
    const places = await manager.setUpPod(reader, never);
    assert.throws(() => writeFileSync(`${hostPathOf(places, "data")}/new`, ""), /EROFS/);
    assert.deepEqual({ ...places.get("data"), hostPath: "" }, { hostPath: "", volumeName: "pv-1", readOnly: true });
    await manager.removePodDirectory(podUid("uid-1"));
    await manager.removePodDirectory(podUid("uid-2"));
    assert.deepEqual(mountsBelow(root), []);
    assert.equal(readFileSync(`${directory}/file`, "utf8"), "kept");
  },
);

test(
  "annotations of a persistent volume: the group of the pod's processes, and mount options instead of the field's",
  { skip },
  async (t) => {
    const { root, manager, bind } = await world(t, { withDriver: false });
    mkdirSync(`${root}/disks/one`, { recursive: true });
    const annotations = {
      "pv.beta.kubernetes.io/gid": "4711",
      "volume.beta.kubernetes.io/mount-options": "nosuid,,nodev",
    };
    bind({ local: { path: `${root}/disks/one` }, mountOptions: ["noexec"] }, {}, annotations);
    const places = await manager.setUpPod(podWith([claimed]), never);
    const hostPath = hostPathOf(places, "data");
    assert.deepEqual(places.get("data"), { hostPath, volumeName: "pv-1", relabel: true, group: 4711 });
    const line = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .find((one) => one.includes(hostPath));
    const options = line?.split(" ")[5]?.split(",") ?? [];
    assert.deepEqual(
      ["nosuid", "nodev", "noexec"].filter((option) => options.includes(option)),
      ["nosuid", "nodev"],
    );
    await manager.removePodDirectory(podUid("uid-1"));
  },
);

test(
  "a local volume on a blank device: formatted once, mounted for all its pods, unmounted with the last",
  { skip },
  async (t) => {
    const { root, manager, next, persistent, bind } = await world(t, { withDriver: false });
    const device = loopDevice(`${root}/disk`, 16 << 20);
    if (device === undefined) {
      t.diagnostic("no loop device can be had here");
      return;
    }
    t.after(() => device.detach());
    bind({ local: { path: device.path } });
    const first = podWith([claimed], { securityContext: { fsGroup: 99 } });
    const hostPath = hostPathOf(await manager.setUpPod(first, never), "data");
    assert.equal(hostPath, `${root}/pods/uid-1/volumes/kubernetes.io~local-volume/pv-1`);
    const shared = `${root}/plugins/kubernetes.io/local-volume/mounts/pv-1`;
    assert.deepEqual(mountsBelow(root).sort(), [shared, hostPath].sort());
    assert.equal(statSync(hostPath).gid, 99);
    writeFileSync(`${hostPath}/file`, "kept");

    const second = podWith([claimed], {}, "uid-2");
    const other = hostPathOf(await manager.setUpPod(second, never), "data");
    assert.equal(readFileSync(`${other}/file`, "utf8"), "kept");
    await manager.removePodDirectory(podUid("uid-1"));
    assert.deepEqual(mountsBelow(root).sort(), [shared, other].sort());
    // As after a kill -9: the next kubelet unmounts only what no pod uses.
    await persistent.recover();
    assert.deepEqual(mountsBelow(root).sort(), [shared, other].sort());
    await next().removePodDirectory(podUid("uid-2"));
    assert.deepEqual(mountsBelow(root), []);

    const again = hostPathOf(await next().setUpPod(podWith([claimed], {}, "uid-3"), never), "data");
    assert.equal(readFileSync(`${again}/file`, "utf8"), "kept", "a device with a file system is not formatted");
    execFileSync("umount", [again]);
    rmSync(`${root}/pods/uid-3`, { recursive: true });
    await persistent.recover();
    assert.deepEqual(mountsBelow(root), [], "a device that the kubelet before left mounted");
  },
);

test(
  "a device with another file system than its volume requires causes an event of the volume",
  { skip },
  async (t) => {
    const { root, manager, ofObjects, bind } = await world(t, { withDriver: false });
    const device = loopDevice(`${root}/disk`, 16 << 20);
    if (device === undefined) {
      t.diagnostic("no loop device can be had here");
      return;
    }
    t.after(() => device.detach());
    execFileSync("mkfs.ext4", ["-q", "-F", device.path]);
    bind({ local: { path: device.path, fsType: "vfat" } });
    const pod = new AbortController();
    const setUp = manager.setUpPod(podWith([claimed]), pod.signal);
    await until("the event", () => ofObjects.length > 0);
    pod.abort(new Error("pod removed"));
    await assert.rejects(setUp);
    const [about, event] = ofObjects[0] ?? [];
    assert.deepEqual([about?.kind, about?.name, event?.type], ["PersistentVolume", "pv-1", "Warning"]);
    assert.equal(event?.reason, "FailedMountOnFilesystemMismatch");
    assert.match(
      event.message,
      /^MountVolume failed for volume "pv-1" device .* has file system ext4, but the volume requires vfat: /,
    );
    await manager.removePodDirectory(podUid("uid-1"));
  },
);

test("a host path behind a claim is that path", async (t) => {
  const { root, manager, bind } = await world(t, { withDriver: false });
  bind({ hostPath: { path: root } });
  assert.deepEqual([...(await manager.setUpPod(podWith([claimed]), never))], [["data", { hostPath: root }]]);
});

test("nfs without its mount helper: the error names the package", { skip }, async (t) => {
  const { manager, events } = await world(t, { withDriver: false });
  const pod = new AbortController();
  const volume = { name: "share", nfs: { server: "127.0.0.1", path: "/export" } };
  const setUp = manager.setUpPod(podWith([volume]), pod.signal);
  await until("the event", () => events.length > 0);
  pod.abort(new Error("pod removed"));
  await assert.rejects(setUp);
  assert.match(events[0]?.message ?? "", /MountVolume.SetUp failed for volume "share" : mounting nfs needs .* install/);
  await manager.removePodDirectory(podUid("uid-1"));
});

test("a generic ephemeral volume is the pod's own claim, never another's of that name", { skip }, async (t) => {
  const { api, root, manager, bind, events } = await world(t, { withDriver: false });
  const directory = `${root}/disk`;
  mkdirSync(directory);
  bind({ local: { path: directory } }, { metadata: { ...CLAIM, name: "web-scratch" } });
  const volume = { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: {} } } };
  const setUp = manager.setUpPod(podWith([volume]), never);
  await until("the event", () => events.length > 0);
  assert.match(
    events[0]?.message ?? "",
    /PVC default\/web-scratch was not created for pod default\/web \(pod is not owner\)$/,
  );
  const claim = api.find(PERSISTENT_VOLUME_CLAIMS, { namespace: "default", name: "web-scratch" });
  const owner = { apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-1", controller: true };
  api.put(PERSISTENT_VOLUME_CLAIMS, { ...claim!, metadata: { ...claim!.metadata, ownerReferences: [owner] } });
  manager.refreshPod(podUid("uid-1"));
  assert.ok(hostPathOf(await setUp, "scratch").endsWith("/pv-1"));
  await manager.removePodDirectory(podUid("uid-1"));
});

test("a volume that has grown is grown on the node, and the claim's status has the new size", { skip }, async (t) => {
  const { api, manager, driver, bind, attachRequired, events, ofObjects } = await world(t);
  attachRequired(false);
  bind(
    { ...csiSpec, capacity: { storage: "2Gi" } },
    {
      status: {
        phase: "Bound",
        capacity: { storage: "1Gi" },
        conditions: [{ type: "FileSystemResizePending", status: "True" }],
        allocatedResourceStatuses: { storage: "NodeResizePending" },
      },
    },
  );
  await manager.setUpPod(podWith([claimed]), never);
  const request = driver.last("NodeExpandVolume");
  assert.deepEqual(request?.["capacityRange"], { requiredBytes: 2n ** 31n, limitBytes: 0n });
  assert.match(String(request["stagingTargetPath"]), /globalmount$/);
  const status = api.find(PERSISTENT_VOLUME_CLAIMS, CLAIM)?.status;
  assert.deepEqual(status, {
    phase: "Bound",
    capacity: { storage: "2Gi" },
    conditions: [],
    allocatedResourceStatuses: {},
  });
  const event = {
    type: "Normal",
    reason: "FileSystemResizeSuccessful",
    message: `MountVolume.NodeExpandVolume succeeded for volume "pv-1" ${NODE}`,
  };
  assert.deepEqual(events, [event]);
  const claim = { kind: "PersistentVolumeClaim", apiVersion: "v1", ...CLAIM, uid: "claim-uid" };
  assert.deepEqual(ofObjects, [[claim, event]]);
  await manager.removePodDirectory(podUid("uid-1"));
});

test("an impossible size is reported once, and the pod runs", { skip }, async (t) => {
  const { api, manager, driver, bind, attachRequired, events } = await world(t);
  attachRequired(false);
  const allocatedResourceStatuses = { storage: "NodeResizePending" };
  const status = { phase: "Bound" as const, capacity: { storage: "1Gi" }, allocatedResourceStatuses };
  bind({ ...csiSpec, capacity: { storage: "2Gi" } }, { status });
  driver.faults.set("NodeExpandVolume", { code: grpc.OUT_OF_RANGE });
  await manager.setUpPod(podWith([claimed]), never);
  assert.equal(events[0]?.reason, "VolumeResizeFailed");
  const shown = api.find(PERSISTENT_VOLUME_CLAIMS, CLAIM)?.status;
  assert.deepEqual(shown?.allocatedResourceStatuses, { storage: "NodeResizeInfeasible" });
  assert.deepEqual(shown.capacity, { storage: "1Gi" });
  assert.equal(shown.conditions?.[0]?.type, "NodeResizeError");
  await manager.removePodDirectory(podUid("uid-1"));
});

test("a driver that expands no volume in use is called again after it registers again", { skip }, async (t) => {
  const { manager, driver, bind, attachRequired, events, persistent } = await world(t);
  attachRequired(false);
  bind({ ...csiSpec, capacity: { storage: "2Gi" } }, { status: { phase: "Bound", capacity: { storage: "1Gi" } } });
  driver.faults.set("NodeExpandVolume", { code: grpc.FAILED_PRECONDITION, times: 1 });
  const pod = podWith([claimed]);
  await manager.setUpPod(pod, never);
  await manager.setUpPod(pod, never);
  const asked = (): number => driver.did().filter((call) => call === "NodeExpandVolume").length;
  assert.equal(asked(), 1);
  assert.equal(events[0]?.reason, "VolumeResizeFailed");
  await manager.removePodDirectory(podUid("uid-1"));
  await (await persistent.csi()).idle();
  await manager.setUpPod(podWith([claimed], {}, "uid-2"), never);
  assert.equal(asked(), 2);
  assert.equal(events[1]?.reason, "FileSystemResizeSuccessful");
  await manager.removePodDirectory(podUid("uid-2"));
});

/** The claim of a volume of so many MiB that now has more. */
const growing = (mebibytes: number): Partial<PersistentVolumeClaim> => ({
  status: {
    phase: "Bound",
    capacity: { storage: `${mebibytes}Mi` },
    allocatedResourceStatuses: { storage: "NodeResizePending" },
  },
});

/** The kernel resizes a mounted ext4 for CAP_SYS_RESOURCE (bit 24) only: a container may lack it. */
const mayResize = (): boolean => {
  const set = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${set}`) >> 24n) & 1n) === 1n;
};

test(
  "the file system of a local device grows with its claim, before and while a pod uses it",
  {
    skip: skip || (mayResize() ? false : "needs CAP_SYS_RESOURCE"),
  },
  async (t) => {
    const { root, api, manager, bind, events } = await world(t);
    const file = `${root}/disk`;
    const device = loopDevice(file, 16 << 20);
    if (device === undefined) {
      t.diagnostic("no loop device can be had here");
      return;
    }
    t.after(() => device.detach());
    execFileSync("mkfs.ext4", ["-q", device.path], { stdio: "pipe" });
    const resize = (mebibytes: number): void => {
      execFileSync("truncate", ["--size", `${mebibytes}M`, file]);
      execFileSync("losetup", ["--set-capacity", device.path]);
      bind({ local: { path: device.path }, capacity: { storage: `${mebibytes}Mi` } }, growing(mebibytes / 2));
    };
    const shown = (): unknown => api.find(PERSISTENT_VOLUME_CLAIMS, CLAIM)?.status?.capacity?.["storage"];
    resize(32);
    const path = hostPathOf(await manager.setUpPod(podWith([claimed]), never), "data");
    const bytes = (): number => statfsSync(path).blocks * statfsSync(path).bsize;
    assert.ok(bytes() > 24 << 20, `${bytes()} bytes`);
    assert.equal(shown(), "32Mi");
    resize(64);
    manager.refreshPod(podUid("uid-1"));
    await until("the claim shows the new size", () => shown() === "64Mi");
    assert.ok(bytes() > 48 << 20, `${bytes()} bytes`);
    assert.deepEqual(
      events.map(({ reason }) => reason),
      ["FileSystemResizeSuccessful", "FileSystemResizeSuccessful"],
    );
    await manager.removePodDirectory(podUid("uid-1"));
  },
);

test(
  "a local directory has the size that its claim asks for: nothing is grown, and the claim shows it",
  { skip },
  async (t) => {
    const { root, api, manager, bind } = await world(t);
    mkdirSync(`${root}/disk`);
    bind({ local: { path: `${root}/disk` }, capacity: { storage: "2Mi" } }, growing(1));
    await manager.setUpPod(podWith([claimed]), never);
    assert.deepEqual(api.find(PERSISTENT_VOLUME_CLAIMS, CLAIM)?.status?.capacity, { storage: "2Mi" });
    await manager.removePodDirectory(podUid("uid-1"));
  },
);

test(
  "a flexVolume grows by its driver's expandfs; the claim names the driver's failure; a driver may say that its volumes never grow",
  {
    skip,
  },
  async (t) => {
    const { root, api, manager, bind, events } = await world(t);
    const driver = await flexDriver(`${root}/drivers`, "test/disk", `${root}/home`);
    const asked = async (): Promise<string[][]> => (await driver.calls()).filter(([command]) => command === "expandfs");
    const spec = { flexVolume: { driver: "test/disk" }, capacity: { storage: "2Mi" } };
    const status = () => api.find(PERSISTENT_VOLUME_CLAIMS, CLAIM)?.status;
    bind(spec, growing(1));
    await driver.answer("expandfs", `echo '{"status":"Failure","message":"the pool is full"}'`);
    const setUp = manager.setUpPod(podWith([claimed]), never);
    await until("the condition", () => status()?.conditions?.[0]?.type === "NodeResizeError");
    assert.match(status()?.conditions?.[0]?.message ?? "", /the pool is full/);
    assert.match(events[0]?.message ?? "", /^MountVolume.NodeExpandVolume failed for volume "pv-1" .*the pool is full/);
    await driver.answer("expandfs", SUCCESS);
    manager.refreshPod(podUid("uid-1"));
    const path = hostPathOf(await setUp, "data");
    assert.deepEqual((await asked()).at(-1)?.slice(2), ["", path, String(2 << 20), String(1 << 20)]);
    assert.deepEqual(status()?.capacity, { storage: "2Mi" });
    await manager.removePodDirectory(podUid("uid-1"));

    // The next driver of that name.
    await driver.remove();
    const other = await flexDriver(`${root}/drivers`, "test/disk", `${root}/other`);
    const capabilities = { attach: false, requiresFSResize: false };
    await other.answer("init", `echo '${JSON.stringify({ status: "Success", capabilities })}'`);
    bind(spec, growing(1));
    await manager.setUpPod(podWith([claimed], {}, "uid-2"), never);
    assert.deepEqual(status()?.capacity, { storage: "1Mi" });
    assert.ok(!(await other.calls()).some(([command]) => command === "expandfs"));
    await manager.removePodDirectory(podUid("uid-2"));
  },
);

test("a cloud's volume, behind a claim or the pod's own, is its CSI driver's", { skip }, async (t) => {
  const { api, root, manager, driver, persistent, bind } = await world(t, { withDriver: false });
  api.put(CSI_DRIVERS, { metadata: { name: "ebs.csi.aws.com" }, spec: { attachRequired: false } });
  persistent.drivers.add({
    ...{ name: "ebs.csi.aws.com", endpoint: driver.endpoint, version: "1.0.0" },
    node: connectCsiNode({ clock: systemClock, metrics: noCsiMetrics, driver: DRIVER, endpoint: driver.endpoint }),
  });
  bind({ awsElasticBlockStore: { volumeID: "aws://a/vol-7" }, accessModes: ["ReadWriteOnce"] });
  const own: Volume = { name: "own", awsElasticBlockStore: { volumeID: "vol-8", readOnly: true } };
  const places = await manager.setUpPod(podWith([claimed, own]), never);
  assert.equal(hostPathOf(places, "data"), `${root}/pods/uid-1/volumes/kubernetes.io~csi/pv-1/mount`);
  assert.ok(hostPathOf(places, "own").endsWith("/kubernetes.io~csi/ebs.csi.aws.com-vol-8/mount"));
  const published = driver.calls.filter(({ method }) => method === "NodePublishVolume").map(({ request }) => request);
  assert.deepEqual(published.map(({ volumeId, readonly }) => [volumeId, readonly]).sort(), [
    ["vol-7", false],
    ["vol-8", true],
  ]);
  await manager.removePodDirectory(podUid("uid-1"));
  await (await persistent.csi()).idle();
  assert.deepEqual(mountsBelow(root), []);
});

for (const volumeMode of ["Filesystem", "Block"] as const) {
  test(`a claim of a pod that ran before this kubelet is looked after: ${volumeMode}`, { skip }, async (t) => {
    const { api, manager, driver, bind, attachRequired, persistent, next } = await world(t);
    attachRequired(false);
    const grown = (pv: string): void =>
      bind(
        { ...csiSpec, volumeMode, capacity: { storage: pv } },
        { status: { phase: "Bound", capacity: { storage: "1Gi" } } },
      );
    grown("1Gi");
    const pod = podWith([claimed]);
    const volumeDevices = [{ name: "data", devicePath: "/dev/xvda" }];
    if (volumeMode === "Block") pod.spec.containers = [{ name: "main", volumeDevices }];
    await manager.setUpPod(pod, never);
    const calls = driver.did().length;
    const manager2 = next();
    manager2.podChanged(pod);
    grown("2Gi");
    manager2.refreshPod(podUid("uid-1"));
    await until(
      "it is grown",
      () => api.find(PERSISTENT_VOLUME_CLAIMS, CLAIM)?.status?.capacity?.["storage"] === "2Gi",
    );
    assert.deepEqual(driver.did().slice(calls), ["NodeExpandVolume"], "what is there is left as it is");
    await manager2.removePodDirectory(podUid("uid-1"));
    await (await persistent.csi()).idle();
    assert.equal(driver.did().at(-1), "NodeUnstageVolume");
  });
}

test("operations are counted under the name of the plugin that does them", { skip }, async (t) => {
  const registry = new ThreadRegistry("test");
  const { manager, persistent, bind, attachRequired, events } = await world(t, { registry });
  attachRequired(false);
  const counted = async (name: string): Promise<string[]> => {
    const { families } = await registry.exportSnapshot();
    const samples = families.find((family) => family.name === name)?.samples ?? [];
    const counts = samples.filter(({ metricName = name }) => metricName === name || metricName.endsWith("_count"));
    return counts.map(({ labels, value }) => `${Object.values(labels).join(" ")} ${value}`).sort();
  };
  // Not bound: no controller acts yet.
  bind(csiSpec, { status: { phase: "Pending" } });
  const setUp = manager.setUpPod(podWith([claimed]), never);
  await until("it was tried", () => events.length > 0);
  assert.deepEqual(await counted("volume_manager_total_volumes"), []);
  bind(csiSpec);
  manager.refreshPod(podUid("uid-1"));
  await setUp;
  const plugin = `kubernetes.io/csi:${DRIVER}`;
  assert.deepEqual(await counted("volume_manager_total_volumes"), [
    `${plugin} actual_state_of_world 1`,
    `${plugin} desired_state_of_world 1`,
  ]);
  await manager.removePodDirectory(podUid("uid-1"));
  await (await persistent.csi()).idle();
  assert.deepEqual(await counted("storage_operation_duration_seconds"), [
    `${plugin} unmount_device false success 1`,
    `${plugin} volume_mount false success 1`,
    `${plugin} volume_unmount false success 1`,
  ]);
  assert.deepEqual(await counted("volume_operation_total_seconds"), [`${plugin} overall_volume_mount 1`]);
  assert.deepEqual(await counted("volume_manager_total_volumes"), []);
});

test("a driver's figures of a claim, and the event of a sick volume", { skip }, async (t) => {
  const { manager, persistent, driver, bind, attachRequired, events } = await world(t);
  attachRequired(false);
  bind(csiSpec);
  await manager.setUpPod(podWith([claimed]), never);
  const { stats } = await (persistent as unknown as { load(): Promise<{ stats: { measureAll(): void } }> }).load();
  driver.condition = { abnormal: true, message: "disk is on fire" };
  stats.measureAll();
  await until("the figures", () => persistent.stats(podUid("uid-1")).size > 0);
  const figures = persistent.stats(podUid("uid-1")).get("data");
  assert.equal(figures?.claim, "data");
  assert.ok((figures.usage.capacityBytes ?? 0) > 0 && (figures.usage.inodes ?? 0) > 0);
  assert.equal(figures.usage.condition, undefined, "the driver does not claim to know");
  assert.deepEqual(events, []);
  await manager.removePodDirectory(podUid("uid-1"));
  assert.equal(persistent.stats(podUid("uid-1")).size, 0);
});

test("a device grows where its driver has published it", { skip }, async (t) => {
  const { root, manager, bind, attachRequired, driver } = await world(t);
  attachRequired(false);
  const status = { phase: "Bound" as const, capacity: { storage: "1Gi" } };
  bind({ ...csiSpec, volumeMode: "Block", capacity: { storage: "2Gi" } }, { status });
  const pod = podWith([claimed]);
  pod.spec.containers = [{ name: "main", volumeDevices: [{ name: "data", devicePath: "/dev/xvda" }] }];
  await manager.setUpPod(pod, never);
  const { volumePath } = driver.last("NodeExpandVolume") ?? {};
  assert.equal(volumePath, `${root}/plugins/kubernetes.io/csi/volumeDevices/publish/pv-1/uid-1`);
  await manager.removePodDirectory(podUid("uid-1"));
});

test("a block volume is a link to a device, and nothing of it stays", { skip }, async (t) => {
  const { root, manager, persistent, bind, attachRequired, driver, events } = await world(t);
  attachRequired(false);
  bind({ ...csiSpec, volumeMode: "Block" });
  const pod = podWith([claimed]);
  pod.spec.containers = [{ name: "main", volumeDevices: [{ name: "data", devicePath: "/dev/xvda" }] }];
  const devicePath = `${root}/pods/uid-1/volumeDevices/kubernetes.io~csi/pv-1`;
  assert.deepEqual(
    [...(await manager.setUpPod(pod, never))],
    [["data", { devicePath, volumeName: "pv-1", readOnly: undefined }]],
  );
  assert.ok(statSync(devicePath).isBlockDevice());
  const devices = `${root}/plugins/kubernetes.io/csi/volumeDevices`;
  assert.equal(driver.last("NodeStageVolume")?.["stagingTargetPath"], `${devices}/staging/pv-1`);
  assert.equal(driver.last("NodePublishVolume")?.["targetPath"], `${devices}/publish/pv-1/uid-1`);
  assert.ok(existsSync(`${devices}/pv-1/data/vol_data.json`) && existsSync(`${devices}/pv-1/dev/uid-1`));
  assert.deepEqual(
    events.map(({ message }) => message),
    [
      `MapVolume.MapPodDevice succeeded for volume "pv-1" globalMapPath "${devices}/pv-1/dev"`,
      `MapVolume.MapPodDevice succeeded for volume "pv-1" volumeMapPath "${root}/pods/uid-1/volumeDevices/kubernetes.io~csi"`,
    ],
  );
  await manager.removePodDirectory(podUid("uid-1"));
  await (await persistent.csi()).idle();
  assert.deepEqual(driver.did(), ["NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume"]);
  assert.deepEqual(mountsBelow(root), []);
  assert.ok(
    !existsSync(`${root}/pods/uid-1`) && !existsSync(`${devices}/pv-1`) && !existsSync(`${devices}/publish/pv-1`),
  );
});
