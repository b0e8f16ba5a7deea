// CSI volumes on a real runtime and an API server, with our own driver: file systems, devices and inline volumes.
// The kubelet is killed meanwhile.
// @promise Volumes: CSI volumes: upstream's paths and order of calls; a driver that hangs, exits or returns; the next
//   process continues.
// @with test/main/volumes/csi
// @promise Volumes: A loop device holds the device of a mapped block volume, and is removed with the volume.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import type { ApiKit, ApiObject, Fields } from "../support/api-kit.js";
import { isReady, NODE_NAME, startClusterNode, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { TestCsiDriver } from "../support/csi/driver.js";
import { mountsBelow } from "../support/mounts.js";
import { IDLE } from "../support/static-pods.js";

let cluster: ClusterNode;
let api: ApiKit;
let driver: TestCsiDriver;
let home: string;
const namespace = `csi-${process.pid}`;
const DRIVER = `csi-${process.pid}.nodelet.test`;
const volumeName = (handle: string): string => `kubernetes.io/csi/${DRIVER}^${handle}`;

before(async () => {
  cluster = await startClusterNode({ contentType: "application/json" });
  ({ api } = cluster);
  await api.create("namespaces", { metadata: { name: namespace } });
  await api.waitFor("serviceaccounts", namespace, "default", (one) => one !== undefined, { what: "default" });
  const spec = {
    attachRequired: true,
    podInfoOnMount: true,
    fsGroupPolicy: "File",
    volumeLifecycleModes: ["Persistent", "Ephemeral"],
  };
  await api.create("csidrivers", { metadata: { name: DRIVER }, spec });
  home = `${cluster.node.kubelet.rootDir}/../d`;
  await mkdir(`${home}/volumes`, { recursive: true });
  driver = await TestCsiDriver.start({
    ...{ name: DRIVER, rootDir: cluster.node.kubelet.rootDir, home },
    maxVolumes: 12,
    topology: { [`${DRIVER}/zone`]: "one" },
  });
});
after(async () => {
  await api.delete("namespaces", "", namespace);
  await api.delete("csidrivers", "", DRIVER);
  await cluster.stop();
  await driver[Symbol.asyncDispose]();
});

const registered = (object: ApiObject | undefined): Fields | undefined =>
  (object as { spec?: { drivers?: Fields[] } } | undefined)?.spec?.drivers?.find(({ name }) => name === DRIVER);

test("the driver is in CSINode and on the node", async () => {
  const object = await api.waitFor("csinodes", "", NODE_NAME, (one) => registered(one) !== undefined, {
    what: "the driver in CSINode",
  });
  assert.deepEqual(registered(object), {
    name: DRIVER,
    nodeID: "node-1",
    topologyKeys: [`${DRIVER}/zone`],
    allocatable: { count: 12 },
  });
  assert.equal(object?.metadata.ownerReferences?.[0]?.["name"], NODE_NAME);
  const node = await api.get("nodes", "", NODE_NAME);
  assert.equal(node.metadata.labels?.[`${DRIVER}/zone`], "one");
  assert.deepEqual(JSON.parse(node.metadata.annotations?.["csi.volume.kubernetes.io/nodeid"] ?? "{}"), {
    [DRIVER]: "node-1",
  });
  await waitFor(async () => isReady(await api.get("nodes", "", NODE_NAME)), { what: "the node Ready" });
});

/** A claim and its volume, bound to each other; a controller does it on a real server. */
async function bound(name: string, spec: Fields = {}): Promise<void> {
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "", ...spec };
  const claim = await api.create("persistentvolumeclaims", {
    metadata: { name, namespace },
    spec: { ...common, volumeName: `${namespace}-${name}`, resources: { requests: { storage: "8Mi" } } },
  });
  await api.create("persistentvolumes", {
    metadata: { name: `${namespace}-${name}` },
    spec: {
      ...common,
      capacity: { storage: "8Mi" },
      claimRef: { namespace, name, uid: claim.metadata.uid },
      csi: { driver: DRIVER, volumeHandle: name, fsType: "ext4" },
      persistentVolumeReclaimPolicy: "Retain",
    },
  });
  if (cluster.fixture !== undefined) {
    const status = { phase: "Bound", capacity: { storage: "8Mi" }, accessModes: ["ReadWriteOnce"] };
    await api.patch("persistentvolumeclaims", namespace, name, { status }, { subresource: "status" });
  }
  const isBound = (one: ApiObject | undefined): boolean => statusOf(one).phase === "Bound";
  await api.waitFor("persistentvolumeclaims", namespace, name, isBound, { what: `${name} bound` });
}

interface NodeVolumes {
  volumesInUse?: string[];
  volumesAttached?: { name: string; devicePath: string }[];
}
const volumesOf = async (): Promise<NodeVolumes> => (await api.get("nodes", "", NODE_NAME))["status"] ?? {};

/** Acts as the attach controller: attaches the volumes in the node's volumesInUse, and reports them as attached. */
async function attach(handle: string): Promise<void> {
  const name = volumeName(handle);
  const inUse = async (): Promise<boolean> => (await volumesOf()).volumesInUse?.includes(name) === true;
  await waitFor(inUse, { what: `${handle} in use` });
  assert.ok(!driver.calls.some(({ request }) => request["volumeId"] === handle), "not before it is attached");
  const attachments = await api.list("volumeattachments", "");
  const persistentVolumeName = `${namespace}-${handle}`;
  const known = attachments.items.find(({ spec }) => {
    return (spec as { source: { persistentVolumeName?: string } }).source.persistentVolumeName === persistentVolumeName;
  });
  const id = `csi-${createHash("sha256").update(`${handle}${DRIVER}${NODE_NAME}`).digest("hex")}`;
  if (known === undefined) {
    await api.create("volumeattachments", {
      metadata: { name: id },
      spec: { attacher: DRIVER, nodeName: NODE_NAME, source: { persistentVolumeName } },
    });
  }
  const status = { attached: true, attachmentMetadata: { lun: "7" } };
  await api.patch("volumeattachments", "", id, { status }, { type: "merge", subresource: "status" });
  if (cluster.fixture === undefined) return;
  const volumesAttached = [...((await volumesOf()).volumesAttached ?? []), { name, devicePath: "" }];
  await api.patch("nodes", "", NODE_NAME, { status: { volumesAttached } }, { type: "merge", subresource: "status" });
}

function podOf(
  name: string,
  script: string,
  volumes: Fields[],
  container: Fields,
  spec: Fields = {},
): Promise<ApiObject> {
  const app = { name: "app", image: testImage(), imagePullPolicy: "Never", command: ["/bin/sh", "-c", script] };
  return api.create("pods", {
    metadata: { name, namespace },
    spec: {
      nodeName: NODE_NAME,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      restartPolicy: "Never",
      containers: [{ ...app, ...container }],
      volumes,
      ...spec,
    },
  });
}
const until = (name: string, holds: (pod: ApiObject | undefined) => boolean, what: string) =>
  api.waitFor("pods", namespace, name, holds, { what: `${name} ${what}` });
async function remove(name: string): Promise<void> {
  await api.delete("pods", namespace, name);
  await until(name, (one) => one === undefined, "gone");
}
const claim = (claimName: string): Fields => ({ name: "data", persistentVolumeClaim: { claimName } });

test("volumes as files, as a device and of the pod's own", async (t) => {
  await t.test(
    "files: kept over the kubelet's death, given to the group, free to detach when the pod is gone",
    async () => {
      await bound("files");
      const script = "echo hello > /data/sub/greeting && stat -c %g /data > /data/sub/group; sleep 3600";
      const mount = {
        volumeMounts: [
          { name: "data", mountPath: "/data" },
          { name: "data", mountPath: "/part", subPath: "sub" },
        ],
      };
      await mkdir(`${home}/volumes/files/sub`, { recursive: true });
      const pod = await podOf("files", script, [claim("files")], mount, { securityContext: { fsGroup: 2345 } });
      await attach("files");
      await until("files", isReady, "Ready");
      const file = (name: string): Promise<string> =>
        readFile(`${home}/volumes/files/sub/${name}`, "utf8").catch(() => "");
      await waitFor(async () => (await file("group")).trim() === "2345", { what: "the volume's group" });
      assert.equal(await file("greeting"), "hello\n");
      assert.deepEqual(driver.calls.find(({ request }) => request["volumeId"] === "files")?.request["publishContext"], {
        lun: "7",
      });
      const before = statusOf(await until("files", isReady, "Ready")).containerStatuses?.[0]?.containerID;
      const published = driver.did().length;
      await cluster.node.kill9();
      await cluster.node.restart();
      await until("files", isReady, "Ready again");
      assert.equal(statusOf(await api.get("pods", namespace, "files")).containerStatuses?.[0]?.containerID, before);
      const kept = (await volumesOf()).volumesInUse ?? [];
      assert.ok(kept.includes(volumeName("files")), `volumesInUse after the restart: ${kept.join()}`);
      assert.equal(
        driver
          .did()
          .slice(published)
          .filter((call) => call !== "NodeGetVolumeStats").length,
        0,
      );
      await remove("files");
      const free = async (): Promise<boolean> =>
        (await volumesOf()).volumesInUse?.includes(volumeName("files")) !== true;
      await waitFor(free, { what: "files no longer in use" });
      assert.deepEqual(mountsBelow(`${cluster.node.kubelet.rootDir}/pods/${pod.metadata.uid ?? "?"}`), []);
    },
  );
  await bound("disk", { volumeMode: "Block" });
  await writeFile(`${home}/volumes/disk.img`, Buffer.concat([Buffer.from("hello"), Buffer.alloc(8 * 1024 * 1024 - 5)]));
  const read = '[ "$(dd if=/dev/xvda bs=5 count=1 2>/dev/null)" = hello ] && [ -b /dev/xvda ]';
  const device = { volumeDevices: [{ name: "data", devicePath: "/dev/xvda" }] };
  const inline = { name: "own", csi: { driver: DRIVER, volumeAttributes: { flavour: "salt" } } };
  await Promise.all([
    podOf("disk", `${read} && ${IDLE}`, [claim("disk")], device).then(() => attach("disk")),
    podOf("inline", "echo x > /own/x", [inline], { volumeMounts: [{ name: "own", mountPath: "/own" }] }),
  ]);
  const ended = await until("inline", (one) => /Succeeded|Failed/.test(statusOf(one).phase ?? ""), "ended");
  assert.equal(statusOf(ended).phase, "Succeeded", JSON.stringify(statusOf(ended)));
  await until("disk", isReady, "Ready");
  // A loop device keeps the volume's device open while the pod has it.
  const published = `${cluster.node.kubelet.rootDir}/plugins/kubernetes.io/csi/volumeDevices/publish/`;
  const held = async (): Promise<string[]> => {
    const loops = (await readdir("/sys/block")).filter((one) => one.startsWith("loop"));
    const files = loops.map((loop) => readFile(`/sys/block/${loop}/loop/backing_file`, "utf8").catch(() => ""));
    return (await Promise.all(files)).filter((file) => file.startsWith(published));
  };
  assert.equal((await held()).length, 1);
  const publishCall = driver.calls.find(({ request }) => String(request["volumeId"]).startsWith("csi-"));
  const context = publishCall?.request["volumeContext"] as Record<string, string>;
  assert.equal(context["csi.storage.k8s.io/ephemeral"], "true");
  assert.equal(context["csi.storage.k8s.io/pod.name"], "inline");
  await Promise.all(["disk", "inline"].map(remove));
  await waitFor(() => Promise.resolve(mountsBelow(`${cluster.node.kubelet.rootDir}/plugins`).length === 0), {
    what: "nothing staged",
  });
  await waitFor(async () => (await held()).length === 0, { what: "no device held" });
});

test("a driver that unregisters is removed from CSINode", async () => {
  await driver.stop();
  await api.waitFor("csinodes", "", NODE_NAME, (one) => registered(one) === undefined, {
    what: "the driver to be removed",
  });
});
