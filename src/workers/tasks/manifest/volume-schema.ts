// The rules of a pod's volumes. Sources that the kubelet reads are checked; the others are kept unchanged. So /pods
// shows them, and the volume manager can report the missing plugin.

import {
  absolutePath,
  dnsLabel,
  dnsSubdomain,
  driverName,
  iscsiName,
  labelValue,
  noBackSteps,
  notEmpty,
  writtenPath,
} from "../../../shared/kubernetes/api/manifest/formats.js";
import { any, int, int64, oneOf, text } from "./field-types.js";
import { typesOf, type Rule, type Rules } from "./struct.js";
import { isSubscripted } from "./subscripted-path.js";

const MODE = int(0, 0o777);
/** The owner of a file. */
const USER = int64(0);
const path = text(writtenPath);
/** Lifetime of a token: ten minutes at least, 2^32 seconds at most. */
const SECONDS = int(600, 2 ** 32);
const files = { fields: { defaultMode: MODE, defaultUser: USER } } as const;
const projectedObject = { required: ["name"], keptWhole: true } as const;

const VOLUME_FIELDS = ["name", "namespace", "uid", "labels", "annotations"].map((name) => `metadata.${name}`);

function volumeFieldPath(value: string): string | undefined {
  if (VOLUME_FIELDS.includes(value) || isSubscripted(value)) return undefined;
  return `${VOLUME_FIELDS.join(", ")}, metadata.labels['KEY'] or metadata.annotations['KEY']`;
}

const claimTemplate: Rule<"PersistentVolumeClaimTemplate"> = {
  fields: {
    metadata: { only: ["labels", "annotations"], fields: { labels: text(labelValue) } },
    spec: {
      fields: {
        accessModes: oneOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
        selector: any,
        storageClassName: text((value) => (value === "" ? undefined : dnsSubdomain(value))),
        volumeMode: oneOf("Filesystem", "Block"),
        dataSource: any,
        dataSourceRef: any,
      },
      required: ["accessModes", "resources"],
    },
  },
  required: ["spec"],
  written: ["metadata"],
};

/** Sources and projections that are kept unchanged: their values have no rules. */
const UNCHECKED: Rules = {
  AWSElasticBlockStoreVolumeSource: any,
  AzureDiskVolumeSource: any,
  AzureFileVolumeSource: any,
  CephFSVolumeSource: any,
  CinderVolumeSource: any,
  ClusterTrustBundleProjection: any,
  FlockerVolumeSource: any,
  GCEPersistentDiskVolumeSource: any,
  GitRepoVolumeSource: any,
  GlusterfsVolumeSource: any,
  PhotonPersistentDiskVolumeSource: any,
  PodCertificateProjection: any,
  PortworxVolumeSource: any,
  QuobyteVolumeSource: any,
  RBDVolumeSource: any,
  ScaleIOVolumeSource: any,
  StorageOSVolumeSource: any,
  VsphereVirtualDiskVolumeSource: any,
};

export const volumeRules = (): Rules => ({
  ...UNCHECKED,
  CSIVolumeSource: {
    fields: {
      driver: text(driverName),
      nodePublishSecretRef: { fields: { name: text(dnsSubdomain) }, required: ["name"] },
    },
    required: ["driver"],
    keptWhole: true,
  },
  ConfigMapProjection: projectedObject,
  ConfigMapVolumeSource: { ...files, required: ["name"] },
  DownwardAPIVolumeFile: {
    fields: {
      path,
      fieldRef: { fields: { apiVersion: oneOf("v1"), fieldPath: text(volumeFieldPath) }, required: ["fieldPath"] },
      resourceFieldRef: { required: ["containerName", "resource"] },
      mode: MODE,
      user: USER,
    },
    required: ["path"],
  },
  DownwardAPIVolumeSource: files,
  EmptyDirVolumeSource: {
    fields: {
      medium: text((value) =>
        value === "" || value === "Memory" || /^HugePages(-.+)?$/.test(value)
          ? undefined
          : 'nothing, "Memory", "HugePages" or "HugePages-<size>"',
      ),
      mode: int(0, 0o1777),
    },
  },
  EphemeralVolumeSource: {
    fields: { volumeClaimTemplate: claimTemplate },
    required: ["volumeClaimTemplate"],
    keptWhole: true,
  },
  FCVolumeSource: { fields: { lun: int(0, 255) } },
  FlexVolumeSource: { fields: { driver: text(notEmpty) }, required: ["driver"] },
  HostPathVolumeSource: {
    fields: {
      path: text(notEmpty, noBackSteps),
      type: oneOf("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"),
    },
    required: ["path"],
  },
  ISCSIVolumeSource: {
    fields: { targetPortal: text(notEmpty), iqn: text(iscsiName), lun: int(0, 255), initiatorName: text(iscsiName) },
    required: ["targetPortal", "iqn"],
  },
  ImageVolumeSource: { fields: { pullPolicy: oneOf("Always", "IfNotPresent", "Never") }, keptWhole: true },
  KeyToPath: { fields: { key: text(notEmpty), path, mode: MODE, user: USER }, required: ["key", "path"] },
  NFSVolumeSource: { fields: { path: text(absolutePath) }, required: ["server", "path"], keptWhole: true },
  PersistentVolumeClaimVolumeSource: { required: ["claimName"], keptWhole: true },
  ProjectedVolumeSource: files,
  SecretProjection: projectedObject,
  SecretVolumeSource: { ...files, required: ["secretName"] },
  ServiceAccountTokenProjection: {
    fields: { expirationSeconds: SECONDS, path },
    required: ["path"],
    without: ["user"],
    keptWhole: true,
  },
  Volume: { fields: { name: text(dnsLabel) }, required: ["name"] },
});

/** Field names of every volume source. Of two sources the API refuses the one that is later here. */
export const volumeSourceNames: readonly string[] = [
  "emptyDir",
  ...[...typesOf("Volume").keys()].filter((name) => name !== "name" && name !== "emptyDir"),
];
