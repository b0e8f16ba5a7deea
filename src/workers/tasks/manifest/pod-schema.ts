// The rules of a v1 Pod: enum values, ranges, formats and presence of its fields (core/v1, Kubernetes 1.36, and what
// 1.37 adds: docs/kubernetes-1.37.md). Names and types of the fields are generated (gen/fields.ts). Conditions on
// several fields are in the rules; defaults of the API server are in defaults.ts.

import {
  dnsLabel,
  dnsSubdomain,
  finalizerName,
  ipAddressWithoutZone,
  labelValue,
  notEmpty,
  qualifiedName,
  relativePath,
  searchDomain,
  staticName,
  sysctlName,
} from "../../../shared/kubernetes/api/manifest/formats.js";
import { affinityRules } from "./affinity-schema.js";
import { containerRules } from "./container-schema.js";
import { any, int, object, oneOf, str, text, type FieldType, type ObjectType } from "./field-types.js";
import { probeRules } from "./probe-schema.js";
import { Structs, type Rule, type Rules } from "./struct.js";
import { volumeRules } from "./volume-schema.js";

const ID = int(0);
const name = text(dnsSubdomain);
const profile = {
  fields: { type: oneOf("RuntimeDefault", "Unconfined", "Localhost"), localhostProfile: text(relativePath) },
  required: ["type"],
} as const;

const metadata: Rule<"ObjectMeta"> = {
  fields: {
    name: text(staticName),
    generateName: text((value) => dnsSubdomain(value.replace(/-$/, ""))),
    namespace: text(dnsLabel),
    labels: text(labelValue),
    finalizers: text(finalizerName),
  },
  required: ["name"],
  // Set by an API server: a manifest may carry them (an exported pod). With them an API server refuses the mirror pod,
  // or the pod would end.
  dropped: [
    "resourceVersion",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
  ],
};

const rules = (): Rules => ({
  ...affinityRules(),
  ...containerRules(),
  ...probeRules(),
  ...volumeRules(),
  AppArmorProfile: profile,
  EvictionResponder: { required: ["name"] },
  HostAlias: { fields: { ip: text(ipAddressWithoutZone), hostnames: text(dnsSubdomain) }, required: ["ip"] },
  ObjectMeta: metadata,
  OwnerReference: { required: ["apiVersion", "kind", "name", "uid"] },
  PodDNSConfig: { fields: { nameservers: text(ipAddressWithoutZone), searches: text(searchDomain) } },
  PodDNSConfigOption: { fields: { name: text(notEmpty) }, required: ["name"] },
  PodOS: { fields: { name: oneOf("linux", "windows") }, required: ["name"] },
  PodReadinessGate: { fields: { conditionType: text(qualifiedName) }, required: ["conditionType"] },
  PodResourceClaim: any,
  PodSchedulingGate: { required: ["name"] },
  PodSecurityContext: {
    fields: {
      runAsUser: ID,
      runAsGroup: ID,
      supplementalGroups: ID,
      supplementalGroupsPolicy: oneOf("Merge", "Strict"),
      fsGroup: ID,
      fsGroupChangePolicy: oneOf("OnRootMismatch", "Always"),
      seLinuxChangePolicy: oneOf("Recursive", "MountOption"),
    },
  },
  PodSpec: {
    fields: {
      restartPolicy: oneOf("Always", "OnFailure", "Never"),
      activeDeadlineSeconds: int(1),
      dnsPolicy: oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
      nodeSelector: text(labelValue),
      serviceAccountName: name,
      serviceAccount: name,
      hostname: text(dnsLabel),
      subdomain: text(dnsLabel),
      hostnameOverride: text(dnsSubdomain, (value) => (value.length <= 64 ? undefined : "at most 64 characters")),
      priorityClassName: name,
      preemptionPolicy: oneOf("Never", "PreemptLowerPriority"),
      runtimeClassName: name,
    },
    required: ["containers"],
    without: ["schedulingGroup"],
    dropped: ["workloadRef"],
  },
  ResourceClaim: any,
  SeccompProfile: profile,
  Sysctl: { fields: { name: text(sysctlName) }, required: ["name"] },
  Toleration: {
    fields: {
      operator: oneOf("", "Exists", "Equal", "Lt", "Gt"),
      effect: oneOf("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
    },
  },
  WindowsSecurityContextOptions: any,
});

/** A v1 Pod. `status` is dropped: the kubelet computes it. Only the type stays in memory, and not its rules. */
export const podSchema = podType(new Structs(rules()));

function podType(structs: Structs): ObjectType {
  const fields = new Map<string, FieldType>([
    ["apiVersion", str],
    ["kind", str],
    ["metadata", structs.object("ObjectMeta")],
    ["spec", structs.object("PodSpec")],
  ]);
  return object(fields, ["metadata", "spec"], ["status"]);
}
