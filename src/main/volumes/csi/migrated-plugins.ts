// Volumes of clouds that the API still names by themselves, and that CSI drivers serve: always, no gate is left of it.
// By the field of a volume or persistent volume: the name that the plugin had.
export const MIGRATED_PLUGINS = {
  awsElasticBlockStore: "kubernetes.io/aws-ebs",
  azureDisk: "kubernetes.io/azure-disk",
  azureFile: "kubernetes.io/azure-file",
  cinder: "kubernetes.io/cinder",
  gcePersistentDisk: "kubernetes.io/gce-pd",
  portworxVolume: "kubernetes.io/portworx-volume",
  vsphereVolume: "kubernetes.io/vsphere-volume",
} as const;

export type MigratedField = keyof typeof MIGRATED_PLUGINS;
export const MIGRATED_FIELDS = Object.keys(MIGRATED_PLUGINS) as MigratedField[];

/** Which of these the object has. */
export function migratedField(spec: Readonly<Record<string, unknown>>): MigratedField | undefined {
  return MIGRATED_FIELDS.find((field) => spec[field] !== undefined && spec[field] !== null);
}
