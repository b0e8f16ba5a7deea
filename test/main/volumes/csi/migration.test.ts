// Volumes of clouds as their CSI drivers get them; handles, attributes and labels are the drivers' contract.
// @promise Volumes: In-tree cloud volumes become what their CSI drivers expect; a claim expands when it is the node's
//   turn. It does so on every node that has it, and after a restart of the kubelet.
// @with test/main/volumes/persistent

import assert from "node:assert/strict";
import { test } from "node:test";
import { persistentVolume } from "../../../../src/main/volumes/csi/csi-volume.js";
import { migratedInline, migratedVolume } from "../../../../src/main/volumes/csi/migration/translate.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";
import type { PersistentVolume } from "../../../../src/shared/kubernetes/api/objects.js";
import { podOf } from "../../../support/csi/kit.js";

type Spec = PersistentVolume["spec"];
const ZONE = "topology.kubernetes.io/zone";
const BETA = "failure-domain.beta.kubernetes.io";

function translated(spec: Spec, metadata: PersistentVolume["metadata"] = {}): Spec {
  const found = migratedVolume({ metadata: { name: "pv-1", ...metadata }, spec });
  assert.ok(found !== undefined);
  return found.spec;
}

const DISK = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d";
const rows: [what: string, spec: Spec, csi: object, metadata?: PersistentVolume["metadata"]][] = [
  [
    "EBS",
    { awsElasticBlockStore: { volumeID: "vol-1", fsType: "ext4" } },
    {
      driver: "ebs.csi.aws.com",
      volumeHandle: "vol-1",
      readOnly: false,
      fsType: "ext4",
      volumeAttributes: { partition: "0" },
    },
  ],
  [
    "EBS with its zone",
    { awsElasticBlockStore: { volumeID: "aws://us-east-1a/vol-2", partition: 1, readOnly: true } },
    { driver: "ebs.csi.aws.com", volumeHandle: "vol-2", readOnly: true, volumeAttributes: { partition: "1" } },
  ],
  [
    "GCE, no zone known",
    { gcePersistentDisk: { pdName: "disk", fsType: "xfs" } },
    {
      driver: "pd.csi.storage.gke.io",
      volumeHandle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk",
      ...{ readOnly: false, fsType: "xfs", volumeAttributes: { partition: "" } },
    },
  ],
  [
    "GCE of a region",
    { gcePersistentDisk: { pdName: "disk", partition: 2 } },
    {
      driver: "pd.csi.storage.gke.io",
      volumeHandle: "projects/UNSPECIFIED/regions/us-central1/disks/disk",
      ...{ readOnly: false, volumeAttributes: { partition: "2" } },
    },
    { labels: { [ZONE]: "us-central1-a__us-central1-b" } },
  ],
  [
    "Cinder",
    { cinder: { volumeID: "c-1", fsType: "ext4" } },
    { driver: "cinder.csi.openstack.org", volumeHandle: "c-1", readOnly: false, fsType: "ext4", volumeAttributes: {} },
  ],
  [
    "a disk of Azure",
    { azureDisk: { diskName: "d", diskURI: DISK, kind: "Managed", cachingMode: "ReadOnly", fsType: "ext4" } },
    {
      driver: "disk.csi.azure.com",
      volumeHandle: DISK,
      ...{ readOnly: false, fsType: "ext4" },
      volumeAttributes: { kind: "Managed", cachingmode: "ReadOnly", fstype: "ext4" },
    },
  ],
  [
    "a share of Azure",
    {
      azureFile: { secretName: "azure-storage-account-acc-secret", shareName: "share" },
      claimRef: { namespace: "ns" },
    },
    {
      driver: "file.csi.azure.com",
      volumeHandle: "rg#acc#share#pv-1#ns",
      readOnly: false,
      volumeAttributes: { sharename: "share" },
      nodeStageSecretRef: { name: "azure-storage-account-acc-secret", namespace: "ns" },
    },
    { annotations: { "kubernetes.io/azure-file-resource-group": "rg" } },
  ],
  [
    "vSphere",
    { vsphereVolume: { volumePath: "[ds] kubevols/a.vmdk", fsType: "ext4", storagePolicyName: "gold" } },
    {
      driver: "csi.vsphere.vmware.com",
      volumeHandle: "[ds] kubevols/a.vmdk",
      ...{ readOnly: false, fsType: "ext4", volumeAttributes: { storagepolicyname: "gold" } },
    },
  ],
  [
    "Portworx with a secret",
    { portworxVolume: { volumeID: "px", fsType: "ext4" } },
    {
      driver: "pxd.portworx.com",
      volumeHandle: "px",
      ...{ readOnly: false, fsType: "ext4", volumeAttributes: {} },
      nodeStageSecretRef: { name: "s", namespace: "n" },
      nodePublishSecretRef: { name: "s", namespace: "n" },
      nodeExpandSecretRef: { name: "s", namespace: "n" },
    },
    { annotations: { "openstorage.io/auth-secret-name": "s", "openstorage.io/auth-secret-namespace": "n" } },
  ],
];

for (const [what, spec, csi, metadata] of rows) {
  test(`as its CSI driver gets it: ${what}`, () => {
    const found = translated(spec, metadata);
    assert.deepEqual(found.csi, csi);
    assert.equal(Object.keys(spec).filter((field) => field !== "claimRef" && field in found).length, 0);
  });
}

test("a volume of any other kind stays as it is", () => {
  assert.equal(migratedVolume({ metadata: { name: "pv-1" }, spec: { nfs: { server: "s", path: "/" } } }), undefined);
  assert.equal(migratedInline(podOf("u"), { name: "v", emptyDir: {} }), undefined);
});

test("the accessible topology of a volume has the driver's keys", () => {
  const expressions = (spec: Spec) =>
    spec.nodeAffinity?.required?.nodeSelectorTerms?.map((term) => term.matchExpressions);
  const source = { awsElasticBlockStore: { volumeID: "vol-1" } };
  const affinity = (key: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: ["a"] }] }] },
  });
  const wanted = [[{ key: "topology.ebs.csi.aws.com/zone", operator: "In", values: ["a"] }]];
  assert.deepEqual(expressions(translated({ ...source, nodeAffinity: affinity(ZONE) })), wanted);
  assert.deepEqual(expressions(translated({ ...source, nodeAffinity: affinity(`${BETA}/zone`) })), wanted);
  assert.deepEqual(expressions(translated(source, { labels: { [ZONE]: "a" } })), wanted);
  const many = [[{ key: "topology.ebs.csi.aws.com/zone", operator: "In", values: ["a", "b"] }]];
  assert.deepEqual(expressions(translated(source, { labels: { [`${BETA}/zone`]: "b__a" } })), many);
  assert.equal(translated(source).nodeAffinity, undefined);
  const vsphere = { vsphereVolume: { volumePath: "p" } };
  const labels = { [ZONE]: "a", "topology.kubernetes.io/region": "r" };
  assert.deepEqual(expressions(translated(vsphere, { labels })), [
    [
      { key: "topology.csi.vmware.com/zone", operator: "In", values: ["a"] },
      { key: "topology.csi.vmware.com/region", operator: "In", values: ["r"] },
    ],
  ]);
});

test("a disk of GCE is written to from one node", () => {
  const modes = (accessModes: string[]) => translated({ gcePersistentDisk: { pdName: "d" }, accessModes }).accessModes;
  assert.deepEqual(modes(["ReadWriteMany"]), ["ReadWriteOnce"]);
  assert.deepEqual(modes(["ReadOnlyMany", "ReadWriteOnce"]), ["ReadWriteOnce"]);
  assert.deepEqual(modes(["ReadOnlyMany"]), ["ReadOnlyMany"]);
});

test("a pod's own volume has the name on disk that upstream gives it, and none that leaves its directory", () => {
  const named = (source: object): [string | undefined, string | undefined, string[] | undefined] => {
    const pv = migratedInline(podOf("u"), { name: "v", ...source });
    assert.ok(pv?.spec.csi !== undefined);
    return [persistentVolume(pv, pv.spec.csi, false).spec, pv.spec.csi.volumeHandle, pv.spec.accessModes];
  };
  assert.deepEqual(named({ awsElasticBlockStore: { volumeID: "vol-1" } }), [
    "ebs.csi.aws.com-vol-1",
    "vol-1",
    ["ReadWriteOnce"],
  ]);
  assert.deepEqual(named({ gcePersistentDisk: { pdName: "d", readOnly: true } }), [
    ...["pd.csi.storage.gke.io-d", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"],
    ["ReadOnlyMany"],
  ]);
  assert.deepEqual(named({ azureDisk: { diskURI: DISK, kind: "managed" } }), [
    DISK.replaceAll("/", "~"),
    DISK,
    ["ReadWriteOnce"],
  ]);
  assert.deepEqual(named({ azureFile: { secretName: "key", shareName: "s" } }), [
    ...["#key#s#v#default", "#key#s#v#default"],
    ["ReadWriteMany"],
  ]);
  assert.equal(named({ vsphereVolume: { volumePath: "[ds] a/b" } })[0], "csi.vsphere.vmware.com-[ds] a~b");
  assert.throws(() => named({ azureDisk: { diskURI: "../../etc", kind: "Managed" } }), VolumeError);
});

test("a volume that no driver can serve is reported", () => {
  assert.throws(
    () => translated({ azureDisk: { diskName: "y", diskURI: "http://x/vhds/y", kind: "Shared" } }),
    VolumeError,
  );
  assert.throws(() => translated({ awsElasticBlockStore: { volumeID: "aws://zone/disk-1" } }), VolumeError);
  assert.throws(() => translated({ azureFile: { secretName: "s", shareName: "x" } }), VolumeError);
  assert.throws(() => translated({ cinder: { volumeID: "" } }), VolumeError);
  const labels = { [ZONE]: "us-central1-a__us-east1-b" };
  assert.throws(() => translated({ gcePersistentDisk: { pdName: "d" } }, { labels }), VolumeError);
});
