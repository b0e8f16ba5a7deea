// Volumes of in-tree cloud plugins, which CSI drivers serve. The migration is always on; upstream has no gate for it
// any more. Key: the field of a volume or persistent volume. Value: the name of the former plugin.
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
