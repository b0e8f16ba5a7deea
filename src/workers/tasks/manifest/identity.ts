// Identity of a static pod: name, namespace, UID, annotations, and toleration on this node. The UID depends on the pod
// as written (known fields, no defaults) and on its file. It is equal across restarts and releases of the kubelet, and
// different for equal pods in two files. A field that the kubelet keeps without acting on it is no part of it: the
// release that began to keep it restarts nothing.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ManifestOrigin } from "../../../shared/contracts/tasks.js";
import { withoutLaterFields } from "../../../shared/kubernetes/api/later-fields.js";
import type { Pod, Toleration } from "../../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../../shared/kubernetes/api/static-pod-name.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import { fnv128 } from "./fnv128.js";

const CONFIG_SOURCE = "kubernetes.io/config.source";
const CONFIG_HASH = "kubernetes.io/config.hash";
/** The kubelet's own annotations: a manifest exported from a cluster may carry them; they are no content. */
const OWN_ANNOTATIONS = [CONFIG_SOURCE, CONFIG_HASH, "kubernetes.io/config.seen", "kubernetes.io/config.mirror"];

const EVERYTHING: Toleration = { operator: "Exists", effect: "NoExecute" };

/** JSON with sorted keys: equal for equal content in any order of the text. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** The pod as written, without fields that the kubelet sets. */
export function withoutOwnAnnotations(pod: Pod): Pod {
  const annotations = pod.metadata.annotations;
  if (annotations === undefined) return pod;
  const kept = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.includes(key));
  return { ...pod, metadata: { ...pod.metadata, annotations: Object.fromEntries(kept) } };
}

/** What the UID depends on. Fields that the kubelet did not keep in earlier releases are no part of it. */
function identityText(pod: Pod): string {
  const { metadata, ...rest } = withoutLaterFields(pod);
  const { generateName: _name, creationTimestamp: _created, ownerReferences: _owners, ...named } = metadata;
  return canonicalJson({ ...rest, metadata: named });
}

/** The UID that an earlier release computed from its own form of the definition; undefined: the same. */
export function formerUid(written: Pod, former: Pod, origin: ManifestOrigin, nodeName: string): PodUid | undefined {
  const given = written.metadata.uid as PodUid | undefined;
  if (given !== undefined && given !== "") return undefined;
  const text = identityText(former);
  return text === identityText(written) ? undefined : podUid(fnv128(text, ...placeOf(origin, nodeName)));
}

/** `written` as it was read, `complete` with its defaults. */
export function staticPod(written: Pod, complete: Pod, origin: ManifestOrigin, nodeName: string): Pod {
  const place = placeOf(origin, nodeName);
  const given = written.metadata.uid as PodUid | undefined;
  const uid = given === undefined || given === "" ? podUid(fnv128(identityText(written), ...place)) : given;
  const namespace = written.metadata.namespace as string | undefined;
  const tolerations = complete.spec.tolerations ?? [];
  return {
    ...complete,
    metadata: {
      ...complete.metadata,
      name: staticPodName(complete.metadata.name, nodeName),
      namespace: namespace === undefined || namespace === "" ? "default" : namespace,
      uid,
      annotations: {
        ...complete.metadata.annotations,
        [CONFIG_SOURCE]: origin.kind === "file" ? "file" : "http",
        [CONFIG_HASH]: uid,
      },
    },
    spec: omitUndefined({
      ...complete.spec,
      nodeName,
      tolerations: origin.kind === "file" ? withToleration(tolerations) : complete.spec.tolerations,
    }),
    status: { phase: "Pending" },
  };
}

/** A submitted manifest counts as one of HTTP, the source that tools know beside files. */
function placeOf(origin: ManifestOrigin, nodeName: string): string[] {
  switch (origin.kind) {
    case "file":
      return ["host:", nodeName, "file:", origin.path];
    case "http":
      return ["url:", origin.url];
    case "submitted":
      return ["host:", nodeName, "manifest-api"];
  }
}

/** One for the same taints has its place, whatever its time: an API server could not tell the two apart. */
function withToleration(tolerations: readonly Toleration[]): Toleration[] {
  const isSame = ({ key = "", operator = "Equal", value = "", effect = "" }: Toleration): boolean =>
    key === "" && value === "" && operator === EVERYTHING.operator && effect === EVERYTHING.effect;
  const at = tolerations.findIndex(isSame);
  return at < 0 ? [...tolerations, EVERYTHING] : tolerations.with(at, EVERYTHING);
}
