// Which lists a strategic merge merges, and by which key. These are the patchStrategy and patchMergeKey tags of the API
// types, by kind and path without indexes. A list that is not here is replaced whole.

/** A list of scalars that is merged as a set. */
export const SCALARS = "";

const METADATA: Readonly<Record<string, string>> = {
  "metadata.ownerReferences": "uid",
  "metadata.finalizers": SCALARS,
};

const CONTAINER: Readonly<Record<string, string>> = {
  ports: "containerPort",
  env: "name",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
};

function podSpec(at: string): Record<string, string> {
  const keys: Record<string, string> = {
    [`${at}.volumes`]: "name",
    [`${at}.imagePullSecrets`]: "name",
    [`${at}.hostAliases`]: "ip",
    [`${at}.topologySpreadConstraints`]: "topologyKey",
    [`${at}.schedulingGates`]: "name",
    [`${at}.resourceClaims`]: "name",
  };
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) {
    keys[`${at}.${list}`] = "name";
    for (const [field, key] of Object.entries(CONTAINER)) keys[`${at}.${list}.${field}`] = key;
  }
  return keys;
}

const CONDITIONS = { "status.conditions": "type" };

const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Pod: {
    ...podSpec("spec"),
    ...CONDITIONS,
    "status.podIPs": "ip",
    "status.hostIPs": "ip",
    "status.resourceClaimStatuses": "name",
  },
  Node: { ...CONDITIONS, "status.addresses": "type", "spec.podCIDRs": SCALARS },
  Namespace: CONDITIONS,
  PersistentVolumeClaim: CONDITIONS,
  PodDisruptionBudget: CONDITIONS,
  PodCertificateRequest: CONDITIONS,
  Service: { ...CONDITIONS, "spec.ports": "port" },
  ServiceAccount: { secrets: "name" },
  CSINode: { "spec.drivers": "name" },
};

/** Kinds and paths are a client's. */
function ownOf<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The key of a list; SCALARS for a set of scalars; undefined for a list that is replaced. */
export function mergeKeyOf(kind: string, path: string): string | undefined {
  return ownOf(METADATA, path) ?? ownOf(ownOf(KEYS, kind) ?? {}, path);
}

/** Fields of a key that server-side apply has beside the one of strategic merges. */
const SECOND_KEYS: Readonly<Record<string, string>> = { containerPort: "protocol", topologyKey: "whenUnsatisfiable" };

/** All fields that make the key of a list's items, for server-side apply. */
export function mergeKeysOf(kind: string, path: string): readonly string[] | undefined {
  const key = mergeKeyOf(kind, path);
  if (key === undefined) return undefined;
  const second = SECOND_KEYS[key];
  return second === undefined ? [key] : [key, second];
}
