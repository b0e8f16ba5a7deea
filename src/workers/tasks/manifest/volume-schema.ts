// The table of a pod's volumes. Sources the kubelet reads are typed; the others are kept unchanged. So /pods shows them, and the volume
// manager can report the missing plugin.
import {
  any,
  bool,
  flag,
  int,
  int64,
  later,
  list,
  map,
  object,
  oneOf,
  pointer,
  quantity,
  str,
  text,
  type FieldType,
} from "./field-types.js";
import { dnsLabel, noBackSteps, notEmpty, relativePath } from "../../../shared/api/manifest/formats.js";

const MODE = int(0, 0o777);
/** The owner of a file. */
const USER = later(int64(0));
const items = list(object({ key: text(notEmpty), path: text(relativePath), mode: MODE, user: USER }, ["key", "path"]));
const downwardItems = list(
  object(
    {
      path: text(relativePath),
      fieldRef: object({ apiVersion: str, fieldPath: str }, ["fieldPath"]),
      resourceFieldRef: object({ containerName: str, resource: str, divisor: quantity }, ["resource"]),
      mode: MODE,
      user: USER,
    },
    ["path"],
  ),
);

const opaque = [
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cephfs",
  "cinder",
  "csi",
  "ephemeral",
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "glusterfs",
  "image",
  "nfs",
  "persistentVolumeClaim",
  "photonPersistentDisk",
  "portworxVolume",
  "quobyte",
  "rbd",
  "scaleIO",
  "storageos",
  "vsphereVolume",
] as const;

const sources: Readonly<Record<string, FieldType>> = {
  emptyDir: object({
    medium: text((value) =>
      value === "" || value === "Memory" || /^HugePages(-.+)?$/.test(value)
        ? undefined
        : 'nothing, "Memory", "HugePages" or "HugePages-<size>"',
    ),
    sizeLimit: quantity,
    mode: later(int(0, 0o1777)),
  }),
  hostPath: object(
    {
      path: text(notEmpty, noBackSteps),
      type: pointer(
        oneOf("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"),
      ),
    },
    ["path"],
  ),
  secret: object({ secretName: str, items, defaultMode: MODE, optional: bool, defaultUser: USER }),
  configMap: object({ name: str, items, defaultMode: MODE, optional: bool, defaultUser: USER }),
  downwardAPI: object({ items: downwardItems, defaultMode: MODE, defaultUser: USER }),
  projected: object({
    sources: list(
      object({
        secret: any,
        configMap: any,
        downwardAPI: object({ items: downwardItems }),
        serviceAccountToken: any,
        clusterTrustBundle: any,
        podCertificate: any,
      }),
    ),
    defaultMode: MODE,
    defaultUser: USER,
  }),
  iscsi: object(
    {
      targetPortal: text(notEmpty),
      portals: list(str),
      iqn: text(notEmpty),
      lun: int(0, 255),
      iscsiInterface: str,
      initiatorName: pointer(str),
      fsType: str,
      readOnly: flag,
      chapAuthDiscovery: flag,
      chapAuthSession: flag,
      secretRef: object({ name: str }),
    },
    ["targetPortal", "iqn"],
    [],
    { lun: 0 },
  ),
  fc: object({ targetWWNs: list(str), lun: int(0, 255), wwids: list(str), fsType: str, readOnly: flag }),
  flexVolume: object(
    {
      driver: text(notEmpty),
      fsType: str,
      readOnly: flag,
      options: map(str),
      secretRef: object({ name: str }),
    },
    ["driver"],
  ),
  ...Object.fromEntries(opaque.map((name) => [name, any])),
};

/** Field names of every volume source. */
export const volumeSourceNames: readonly string[] = Object.keys(sources);

export const volume = object({ name: text(dnsLabel), ...sources }, ["name"]);
