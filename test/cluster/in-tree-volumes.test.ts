// Persistent volumes of in-tree plugins and of flexVolume drivers, on a real runtime. Tests the wait for the
// controller, the volume in the container, and the clean-up: after a killed kubelet, and after the pod. The test plays
// the attach/detach controller.
// @promise Volumes: The claim of a local device or a flexVolume grows on the node, before and while a pod uses it; a
//   failure is a condition of the claim.
// @with test/main/volumes/persistent/claims.test.ts, test/main/volumes/file-system/grow-file-system.test.ts

import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../harness/node.js";
import type { ApiKit, ApiObject, Fields } from "../support/api-kit.js";
import { BY_PATH, byPathLinks, type ByPathLinks } from "../support/by-path.js";
import { boundPod, NODE_NAME, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { flexDriver, SUCCESS } from "../support/flex-driver.js";
import { iscsiTarget } from "../support/iscsi-target.js";
import { loopDevice, type LoopDevice } from "../support/loop-device.js";
import { mountsBelow } from "../support/mounts.js";

const PATIENCE_MS = 60_000;
let cluster: ClusterNode;
let api: ApiKit;
let home: string;
let links: ByPathLinks;
const WWN = `5007${process.pid.toString(16).padStart(12, "0")}`;
const IQN = `iqn.2026-11.test.nodelet:c${process.pid}`;

before(async () => {
  home = await mkdtemp(join(tmpdir(), "nodelet-in-tree-"));
  links = byPathLinks();
  const env = { PATH: `${join(home, "target/bin")}:${process.env["PATH"] ?? ""}` };
  cluster = await startClusterNode({ env, config: { volumePluginDir: join(home, "drivers") } });
  ({ api } = cluster);
});
after(async () => {
  await cluster.stop();
  await rm(home, { recursive: true });
});

/** A claim that is bound to a persistent volume of that source. */
async function claim(name: string, source: Fields, spec: Fields = {}, annotations: Record<string, string> = {}) {
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeMode: "Filesystem", ...spec };
  const claimSpec = { ...common, volumeName: `pv-${name}`, resources: { requests: { storage: "1Mi" } } };
  const metadata = { name, namespace: "default" };
  const made = await api.create("persistentvolumeclaims", { metadata, spec: claimSpec });
  await api.create("persistentvolumes", {
    metadata: { name: `pv-${name}`, annotations },
    spec: { ...common, capacity: { storage: "1Mi" }, claimRef: { ...metadata, uid: made.metadata.uid }, ...source },
  });
  const status = { phase: "Bound", capacity: { storage: "1Mi" }, accessModes: ["ReadWriteOnce"] };
  await api.patch("persistentvolumeclaims", "default", name, { status }, { subresource: "status" });
}

function podOn(name: string, claimName: string, script: string): Promise<ApiObject> {
  const made = boundPod(name, script);
  const spec = made["spec"] as { containers: Fields[] };
  spec.containers[0] = { ...spec.containers[0], volumeMounts: [{ name: "data", mountPath: "/data" }] };
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName } }];
  return api.create("pods", { ...made, spec: { ...spec, volumes } });
}

/**
 * A disk of 16 MiB, detached after the test; undefined on a machine without loop devices. `target`: its links are
 * removed, too.
 */
function diskFor(t: TestContext, name: string, target?: string): LoopDevice | undefined {
  const device = loopDevice(join(home, name), 16 << 20);
  if (device === undefined) {
    t.diagnostic("this machine has no free loop device");
    return undefined;
  }
  t.after(async () => {
    if (target !== undefined) await links.clear(target);
    device.detach();
  });
  return device;
}

async function volumesInUse(): Promise<string[]> {
  const { status } = await api.get("nodes", "", NODE_NAME);
  return (status as { volumesInUse?: string[] } | undefined)?.volumesInUse ?? [];
}

/** The controller's part: attaches a volume that the node uses. */
async function attach(name: string, devicePath = ""): Promise<void> {
  await waitFor(async () => (await volumesInUse()).includes(name), {
    what: `${name} in volumesInUse`,
    timeoutMs: PATIENCE_MS,
  });
  const status = { volumesAttached: [{ name, devicePath }] };
  await api.patch("nodes", "", NODE_NAME, { status }, { subresource: "status" });
}

async function logOf({ metadata }: ApiObject): Promise<string> {
  const directory = join(cluster.node.kubelet.podLogs, `default_${metadata.name}_${metadata.uid}`, "app");
  const names = await readdir(directory).catch(() => []);
  return (await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")))).join("");
}

async function said(pod: ApiObject, line: string): Promise<void> {
  let text = "";
  const holds = async (): Promise<boolean> => (text = await logOf(pod)).includes(line);
  const lastSeen = async (): Promise<string> => {
    const { items } = await api.list("events", "default");
    return text + items.map((event) => `\n${String(event["reason"])}: ${String(event["message"])}`).join("");
  };
  await waitFor(holds, { what: `${pod.metadata.name} to say ${line}`, timeoutMs: PATIENCE_MS, lastSeen });
}

async function remove(name: string): Promise<void> {
  await api.delete("pods", "default", name, { gracePeriodSeconds: 0 });
}

/** The pod is removed while no kubelet runs. */
async function removeBehindKilledKubelet(name: string): Promise<void> {
  await cluster.node.kill9();
  await remove(name);
  await cluster.node.restart();
}

const placesOf = (word: string): string[] =>
  mountsBelow(cluster.node.kubelet.rootDir).filter((place) => place.includes(word));
async function unmounted(word: string): Promise<void> {
  await waitFor(() => Promise.resolve(placesOf(word).length === 0), {
    what: `${word} unmounted`,
    timeoutMs: PATIENCE_MS,
  });
}

async function kubeletLog(): Promise<string> {
  return await readFile(cluster.node.kubelet.log, "utf8");
}

/** Prints the file system type and first mount option of /data, e.g. "MOUNT ext4 rw,noatime". */
const PRINT_MOUNT = `echo "MOUNT $(grep ' /data ' /proc/mounts | cut -d' ' -f3,4)"`;

test("flexVolume: the driver gets the attached device and the secret; a killed kubelet's successor cleans up", async (t) => {
  const device = diskFor(t, "flex-disk");
  if (device === undefined) return;
  const driver = await flexDriver(join(home, "drivers"), "test/disk", join(home, "driver"));
  await driver.answer("init", SUCCESS);
  await driver.answer("mountdevice", `mkfs.ext4 -q "$3" && mount "$3" "$2" && ${SUCCESS}`);
  await driver.answer("unmountdevice", `umount "$2" && ${SUCCESS}`);
  await driver.answer("mount", `mount --bind "$(cat '${home}/global')" "$2" && ${SUCCESS}`);
  const global = join(cluster.node.kubelet.rootDir, "plugins/kubernetes.io/flexvolume/test/disk/mounts/pv-flex");
  await writeFile(join(home, "global"), global);
  const data = { password: Buffer.from("p w").toString("base64") };
  await api.create("secrets", { metadata: { name: "flex", namespace: "default" }, type: "test/disk", data });
  const secretRef = { name: "flex", namespace: "default" };
  await claim("flex", { flexVolume: { driver: "test/disk", fsType: "ext4", secretRef, options: { a: "b" } } });
  const script = `${PRINT_MOUNT}; echo kept > /data/file; sleep 1000`;
  const pod = await podOn("flex", "flex", script);
  await attach("flexvolume-test/disk/pv-flex", device.path);
  await said(pod, "MOUNT ext4");
  const calls = await driver.calls();
  assert.deepEqual(
    calls.map(([command = "", , third = ""]) => `${command} ${command === "mountdevice" ? third : ""}`.trim()),
    ["init", "getvolumename", "waitforattach", `mountdevice ${device.path}`, "mount"],
  );
  const options = JSON.parse(calls.at(-1)?.[2] ?? "{}") as Record<string, string>;
  assert.equal(options["kubernetes.io/secret/password"], data.password);
  assert.equal(options["kubernetes.io/pvOrVolumeName"], "pv-flex");
  assert.equal((await kubeletLog()).includes(data.password), false);
  await removeBehindKilledKubelet("flex");
  await unmounted("flex");
  await waitFor(async () => (await volumesInUse()).length !== 1, {
    what: "volumesInUse to be empty",
    timeoutMs: PATIENCE_MS,
  });
  const last = (await driver.calls()).map(([command]) => command).slice(calls.length);
  assert.deepEqual(last, ["init", "unmount", "unmountdevice"]);
});

test("flexVolume: the volume of a claim grows under its running pod, then the claim shows the size", async () => {
  const driver = await flexDriver(join(home, "drivers"), "test/grows", join(home, "grows"));
  const capabilities = `{"attach":false,"requiresFSResize":true}`;
  await driver.answer("init", `echo '{"status":"Success","capabilities":${capabilities}}'`);
  await driver.answer("expandfs", `mount -o remount,size="$5" "$4" && ${SUCCESS}`);
  await claim("grows", { flexVolume: { driver: "test/grows" } });
  const script = `while :; do echo "SIZE $(df -k /data | tail -n 1 | tr -s ' ' | cut -d' ' -f2)"; sleep 0.2; done`;
  const pod = await podOn("grows", "grows", script);
  await said(pod, "SIZE 1024");
  // The test plays the resize controller.
  await api.patch("persistentvolumes", "", "pv-grows", { spec: { capacity: { storage: "4Mi" } } });
  const allocated = {
    allocatedResources: { storage: "4Mi" },
    allocatedResourceStatuses: { storage: "NodeResizePending" },
  };
  await api.patch("persistentvolumeclaims", "default", "grows", { status: allocated }, { subresource: "status" });
  // A changed pod is synced at once.
  await api.patch("pods", "default", "grows", { metadata: { annotations: { synced: "now" } } });
  await said(pod, "SIZE 4096");
  const shown = async (): Promise<unknown[]> => {
    const { status } = await api.get("persistentvolumeclaims", "default", "grows");
    const { capacity, allocatedResourceStatuses } = status as Record<string, Fields | undefined>;
    return [capacity?.["storage"], allocatedResourceStatuses?.["storage"]];
  };
  await waitFor(async () => isDeepStrictEqual(await shown(), ["4Mi", undefined]), {
    what: "the claim to show its volume's size",
    timeoutMs: PATIENCE_MS,
    lastSeen: async () => JSON.stringify(await shown()),
  });
  const [, , device, , newBytes, oldBytes] = (await driver.calls()).find(([command]) => command === "expandfs") ?? [];
  assert.deepEqual([device, newBytes, oldBytes], ["", String(4 << 20), String(1 << 20)]);
  await remove("grows");
  await unmounted("grows");
});

test("iscsi behind a claim: it waits for the controller; CHAP secrets reach iscsiadm and no log", async (t) => {
  const device = diskFor(t, "iscsi-disk", IQN);
  if (device === undefined) return;
  const target = await iscsiTarget(join(home, "target"), { iqn: IQN, luns: { 0: device.path }, byPath: BY_PATH });
  const keys = ["node.session.auth.username", "node.session.auth.password"];
  const data = Object.fromEntries(keys.map((key) => [key, Buffer.from(`${key}-s3cret`).toString("base64")]));
  await api.create("secrets", {
    metadata: { name: "chap", namespace: "default" },
    type: "kubernetes.io/iscsi-chap",
    data,
  });
  const secretRef = { name: "chap" };
  const source = { targetPortal: "10.255.255.2:3260", iqn: IQN, lun: 0, fsType: "ext4", iscsiInterface: "default" };
  // The annotation counts, not the field.
  const annotations = { "volume.beta.kubernetes.io/mount-options": "noatime" };
  const iscsi = { ...source, chapAuthSession: true, secretRef };
  await claim("iscsi", { iscsi, mountOptions: ["sync"] }, {}, annotations);
  const script = `${PRINT_MOUNT}; echo kept > /data/file; sleep 1000`;
  const pod = await podOn("iscsi", "iscsi", script);
  const unique = `kubernetes.io/iscsi/10.255.255.2:3260:${IQN}:0`;
  assert.deepEqual(await target.sessions(), [], "not before it is attached");
  await attach(unique);
  await said(pod, "MOUNT ext4 rw,noatime");
  const password = `-n node.session.auth.password -v node.session.auth.password-s3cret`;
  assert.ok((await target.calls()).some((call) => call.endsWith(password)));
  assert.equal((await kubeletLog()).includes("s3cret"), false);
  await remove("iscsi");
  await unmounted("iscsi");
  await waitFor(async () => (await target.sessions()).length === 0, { what: "the logout", timeoutMs: PATIENCE_MS });
});

test("fc behind a claim: it waits for the controller; a killed kubelet's successor unmounts the disk", async (t) => {
  const device = diskFor(t, "fc-disk", WWN);
  if (device === undefined) return;
  await links.link(`fc-0x${WWN}-lun-0`, device.path);
  await claim("fc", { fc: { targetWWNs: [WWN], lun: 0, fsType: "ext4" } });
  const pod = await podOn("fc", "fc", `${PRINT_MOUNT}; sleep 1000`);
  await attach(`kubernetes.io/fc/[${WWN}]:0`);
  await said(pod, "MOUNT ext4");
  await removeBehindKilledKubelet("fc");
  await unmounted("/fc");
  await unmounted("kubernetes.io~fc");
});

test("fc with volumeMode Block: the device in the container, also after a restart; detached after the pod", async (t) => {
  const device = diskFor(t, "fc-block", WWN);
  if (device === undefined) return;
  await links.link(`fc-0x${WWN}-lun-3`, device.path);
  await claim("block", { fc: { targetWWNs: [WWN], lun: 3 } }, { volumeMode: "Block" });
  const made = boundPod("block", `[ -b /dev/xvda ] && echo written | dd of=/dev/xvda 2>&1; echo BLOCK; sleep 1000`);
  const spec = made["spec"] as { containers: Fields[] };
  spec.containers[0] = { ...spec.containers[0], volumeDevices: [{ name: "data", devicePath: "/dev/xvda" }] };
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "block" } }];
  const pod = await api.create("pods", { ...made, spec: { ...spec, volumes } });
  await attach(`kubernetes.io/fc/[${WWN}]:3`);
  await said(pod, "BLOCK");
  assert.equal((await readFile(device.path)).subarray(0, 7).toString(), "written");
  await removeBehindKilledKubelet("block");
  const places = join(cluster.node.kubelet.rootDir, "plugins/kubernetes.io/fc/volumeDevices");
  await waitFor(async () => (await readdir(places)).length === 0, {
    what: "the disk detached",
    timeoutMs: PATIENCE_MS,
  });
});
