// The table of a pod's volumes. Sources the kubelet reads are typed; the others are kept unchanged. So /pods shows them, and the volume
// manager can report the missing plugin.
import {
  amount,
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
  onceKeptWhole,
  pointer,
  quantity,
  str,
  text,
  type FieldType,
} from "./field-types.js";
import {
  absolutePath,
  dnsLabel,
  dnsSubdomain,
  driverName,
  iscsiName,
  labelValue,
  noBackSteps,
  notEmpty,
  relativePath,
} from "../../../shared/api/manifest/formats.js";

const MODE = int(0, 0o777);
/** The owner of a file. */
const USER = later(int64(0));
const items = list(object({ key: text(notEmpty), path: text(relativePath), mode: MODE, user: USER }, ["key", "path"]));
const projectedObject = onceKeptWhole(object({ name: str, items, optional: bool }, ["name"]));
/** Lifetime of a token: ten minutes at least, 2^32 seconds at most. */
const SECONDS = int(600, 2 ** 32);

const resources = map(amount);
const claimTemplate = object(
  {
    metadata: object({ labels: map(text(labelValue)), annotations: map(str) }),
    spec: object(
      {
        accessModes: list(oneOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")),
        selector: any,
        resources: object({ requests: resources, limits: resources }),
        volumeName: str,
        storageClassName: pointer(text((value) => (value === "" ? undefined : dnsSubdomain(value)))),
        volumeMode: pointer(oneOf("Filesystem", "Block")),
        dataSource: any,
        dataSourceRef: any,
        volumeAttributesClassName: pointer(str),
      },
      ["accessModes", "resources"],
    ),
  },
  ["spec"],
  [],
  { metadata: {} },
);

const VOLUME_FIELDS = ["name", "namespace", "uid", "labels", "annotations"].map((name) => `metadata.${name}`);
const SUBSCRIPTED = /^metadata\.(?:labels|annotations)\['[^']+'\]$/;

function volumeFieldPath(value: string): string | undefined {
  if (VOLUME_FIELDS.includes(value) || SUBSCRIPTED.test(value)) return undefined;
  return `${VOLUME_FIELDS.join(", ")}, metadata.labels['KEY'] or metadata.annotations['KEY']`;
}

const downwardItems = list(
  object(
    {
      path: text(relativePath),
      fieldRef: object({ apiVersion: oneOf("v1"), fieldPath: text(volumeFieldPath) }, ["fieldPath"]),
      resourceFieldRef: object({ containerName: str, resource: str, divisor: quantity }, ["containerName", "resource"]),
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
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "glusterfs",
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
  secret: object({ secretName: str, items, defaultMode: MODE, optional: bool, defaultUser: USER }, ["secretName"]),
  configMap: object({ name: str, items, defaultMode: MODE, optional: bool, defaultUser: USER }, ["name"]),
  downwardAPI: object({ items: downwardItems, defaultMode: MODE, defaultUser: USER }),
  projected: object({
    sources: list(
      object({
        secret: projectedObject,
        configMap: projectedObject,
        downwardAPI: object({ items: downwardItems }),
        serviceAccountToken: onceKeptWhole(
          object({ audience: str, expirationSeconds: SECONDS, path: text(relativePath) }, ["path"]),
        ),
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
      iqn: text(iscsiName),
      lun: int(0, 255),
      iscsiInterface: str,
      initiatorName: pointer(text(iscsiName)),
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
  ephemeral: onceKeptWhole(object({ volumeClaimTemplate: claimTemplate }, ["volumeClaimTemplate"])),
  persistentVolumeClaim: onceKeptWhole(object({ claimName: str, readOnly: flag }, ["claimName"])),
  nfs: onceKeptWhole(object({ server: str, path: text(absolutePath), readOnly: flag }, ["server", "path"])),
  image: onceKeptWhole(object({ reference: str, pullPolicy: oneOf("Always", "IfNotPresent", "Never") })),
  csi: onceKeptWhole(
    object(
      {
        driver: text(driverName),
        readOnly: bool,
        fsType: pointer(str),
        volumeAttributes: map(str),
        nodePublishSecretRef: object({ name: text(dnsSubdomain) }, ["name"]),
      },
      ["driver"],
    ),
  ),
  ...Object.fromEntries(opaque.map((name) => [name, any])),
};

/** Field names of every volume source. */
export const volumeSourceNames: readonly string[] = Object.keys(sources);

export const volume = object({ name: text(dnsLabel), ...sources }, ["name"]);
