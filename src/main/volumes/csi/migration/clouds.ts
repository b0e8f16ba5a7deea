// Translates each cloud's in-tree volume source for its CSI driver. Pure. Handles, attributes and secrets are a
// contract with the drivers: they equal upstream's.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
  SecretRef,
} from "../../../../shared/kubernetes/api/objects.js";
import { VolumeError } from "../../volume-error.js";
import type { MigratedField } from "../migrated-plugins.js";

/** A source as the API has it, of any shape. */
export type Source = Readonly<Record<string, unknown>>;

export interface Cloud {
  driver: string;
  /** Labels with the location of the driver's nodes; absent: anywhere. */
  zoneKey?: string;
  regionKey?: string;
  /** A zone label names several ("a__b"). */
  manyZones?: true;
  /** `pv` is absent for a volume of the pod's own. @throws VolumeError */
  csi(source: Source, whose: Whose): CloudVolume;
}

interface Whose {
  pv?: PersistentVolume;
  /** Name of the pod's volume; the next line has the pod's namespace. */
  volume: string;
  namespace: string;
}

interface CloudVolume {
  csi: Omit<CSIPersistentVolumeSource, "driver">;
  /** Absent: the persistent volume's own, ReadWriteOnce for a volume of the pod's. */
  accessModes?: string[] | undefined;
}

const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const ZONE = "topology.kubernetes.io/zone";
export const ZONES_DELIMITER = "__";

export const CLOUDS: Readonly<Record<MigratedField, Cloud>> = {
  awsElasticBlockStore: {
    driver: "ebs.csi.aws.com",
    zoneKey: "topology.ebs.csi.aws.com/zone",
    manyZones: true,
    csi: (source) => ({
      csi: {
        ...common(source, ebsHandle(text(source, "volumeID"))),
        volumeAttributes: { partition: partition(source) },
      },
    }),
  },
  gcePersistentDisk: {
    driver: "pd.csi.storage.gke.io",
    zoneKey: "topology.gke.io/zone",
    manyZones: true,
    csi: (source, { pv }) => {
      const number = partition(source);
      const volumeAttributes = { partition: number === "0" ? "" : number };
      const onlyRead = source["readOnly"] === true ? "ReadOnlyMany" : "ReadWriteOnce";
      return {
        csi: { ...common(source, gceHandle(text(source, "pdName"), pv)), volumeAttributes },
        accessModes: pv === undefined ? [onlyRead] : gceModes(pv.spec.accessModes),
      };
    },
  },
  cinder: {
    driver: "cinder.csi.openstack.org",
    zoneKey: "topology.cinder.csi.openstack.org/zone",
    manyZones: true,
    csi: (source) => ({ csi: common(source, text(source, "volumeID")) }),
  },
  azureDisk: {
    driver: "disk.csi.azure.com",
    csi: (source) => {
      const { kind, cachingMode, fsType } = source;
      if (typeof kind === "string" && kind.toLowerCase() !== "managed") {
        throw new VolumeError(`an azureDisk of kind ${kind} has no CSI driver: only managed disks have`);
      }
      const volumeAttributes = omitUndefined<Record<string, string>>({
        kind: "Managed",
        cachingmode: typeof cachingMode === "string" && cachingMode !== "" ? cachingMode : undefined,
        fstype: typeof fsType === "string" ? fsType : undefined,
      });
      return { csi: { ...common(source, text(source, "diskURI")), volumeAttributes } };
    },
  },
  azureFile: {
    driver: "file.csi.azure.com",
    csi: (source, whose) => {
      const { pv } = whose;
      const [name, share] = [text(source, "secretName"), text(source, "shareName")];
      const namespace = azureNamespace(source, whose);
      const account = azureAccount(name);
      const group = pv?.metadata.annotations?.["kubernetes.io/azure-file-resource-group"] ?? "";
      const handle = [group, account, share, pv?.metadata.name ?? whose.volume, namespace].join("#");
      return {
        csi: {
          volumeHandle: handle,
          readOnly: source["readOnly"] === true,
          volumeAttributes: { sharename: share },
          nodeStageSecretRef: { name, namespace },
        },
        accessModes: pv === undefined ? ["ReadWriteMany"] : undefined,
      };
    },
  },
  vsphereVolume: {
    driver: "csi.vsphere.vmware.com",
    zoneKey: "topology.csi.vmware.com/zone",
    regionKey: "topology.csi.vmware.com/region",
    csi: (source) => {
      const policy = source["storagePolicyName"];
      const volumeAttributes =
        typeof policy === "string" && policy !== "" ? { storagepolicyname: policy } : emptyAttributes();
      return { csi: { ...common(source, text(source, "volumePath")), volumeAttributes } };
    },
  },
  portworxVolume: {
    driver: "pxd.portworx.com",
    csi: (source, { pv }) => {
      const secret = portworxSecret(pv);
      const secrets =
        secret === undefined
          ? {}
          : { nodeStageSecretRef: secret, nodePublishSecretRef: secret, nodeExpandSecretRef: secret };
      const onlyRead = source["readOnly"] === true ? "ReadOnlyMany" : "ReadWriteOnce";
      return {
        csi: { ...common(source, text(source, "volumeID")), ...secrets },
        accessModes: pv === undefined ? [onlyRead] : undefined,
      };
    },
  },
};

function common(source: Source, volumeHandle: string): CloudVolume["csi"] {
  const { fsType } = source;
  return omitUndefined({
    volumeHandle,
    readOnly: source["readOnly"] === true,
    fsType: typeof fsType === "string" ? fsType : undefined,
    volumeAttributes: emptyAttributes(),
  });
}

function emptyAttributes(): Record<string, string> {
  return {};
}

function text(source: Source, field: string): string {
  const value = source[field];
  if (typeof value === "string" && value !== "") return value;
  throw new VolumeError(`the volume's source lacks ${field}`);
}

function partition(source: Source): string {
  const { partition: value } = source;
  return typeof value === "number" ? String(value) : "0";
}

/** "vol-1", "aws://zone/vol-1" and "aws:///vol-1" are the same. */
function ebsHandle(id: string): string {
  if (!id.startsWith("aws://")) return id;
  const handle = /^aws:\/\/[^/]*\/+(vol-[^/]*)\/*$/.exec(id)?.[1];
  if (handle !== undefined) return handle;
  throw new VolumeError(`${JSON.stringify(id)} is no EBS volume: it must end in vol-<id>`);
}

/** The driver finds project and zone itself, if the labels of the volume do not contain them. */
function gceHandle(disk: string, pv: PersistentVolume | undefined): string {
  const labels = pv?.metadata.labels ?? {};
  const zones = (labels[BETA_ZONE] || labels[ZONE] || "").split(ZONES_DELIMITER);
  const [zone = ""] = zones;
  const where = zones.length > 1 ? `regions/${gceRegion(zones)}` : `zones/${zone === "" ? "UNSPECIFIED" : zone}`;
  return `projects/UNSPECIFIED/${where}/disks/${disk}`;
}

function gceRegion(zones: readonly string[]): string {
  const regions = new Set(
    zones.map((zone) => {
      const parts = zone.split("-");
      if (parts.length !== 3) throw new VolumeError(`${JSON.stringify(zone)} is no zone of GCE (a-region-zone)`);
      return parts.slice(0, 2).join("-");
    }),
  );
  const [region = ""] = regions;
  if (regions.size === 1) return region;
  throw new VolumeError(`zones ${zones.join()} are not of one region`);
}

/** A disk is writable on one node only, with any access modes of the volume. */
function gceModes(modes: readonly string[] = []): string[] {
  const onlyRead = modes.length > 0 && modes.every((mode) => mode === "ReadOnlyMany");
  return [onlyRead ? "ReadOnlyMany" : "ReadWriteOnce"];
}

function azureNamespace(source: Source, { pv, namespace }: Whose): string {
  if (pv === undefined) return namespace === "" ? "default" : namespace;
  const { secretNamespace } = source;
  const found = typeof secretNamespace === "string" ? secretNamespace : (pv.spec.claimRef?.namespace ?? "");
  if (found !== "") return found;
  throw new VolumeError("the volume's secret has no namespace, neither in azureFile nor by a claim");
}

function portworxSecret(pv: PersistentVolume | undefined): SecretRef | undefined {
  const annotations = pv?.metadata.annotations ?? {};
  const name = annotations["openstorage.io/auth-secret-name"];
  const namespace = annotations["openstorage.io/auth-secret-namespace"];
  return name === undefined || namespace === undefined ? undefined : { name, namespace };
}

/**
 * "azure-storage-account-<account>-secret" is the name that Azure's provisioner gives; any other is the account itself.
 */
function azureAccount(secret: string): string {
  const [before, after] = ["azure-storage-account-", "-secret"];
  const begin = secret.indexOf(before);
  const end = secret.lastIndexOf(after);
  const from = begin + before.length;
  return begin < 0 || end <= from ? secret : secret.slice(from, end);
}
