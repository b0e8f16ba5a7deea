// What makes a pod of a manifest a static pod of this node: name, namespace, UID, annotations, toleration (status-rules 23).
// The UID hangs on the pod as written (known fields, no defaults) and on where it was found: equal across restarts and
// releases of the kubelet, different for equal pods in two files.
import type { Pod, Toleration } from "../../../shared/api/pod.js";
import type { ManifestOrigin } from "../../../shared/contracts/tasks.js";
import { fnv128 } from "./fnv128.js";

const CONFIG_SOURCE = "kubernetes.io/config.source";
const CONFIG_HASH = "kubernetes.io/config.hash";
/** The kubelet's own annotations: a manifest exported from a cluster may carry them; they are no content. */
const OWN_ANNOTATIONS = [CONFIG_SOURCE, CONFIG_HASH, "kubernetes.io/config.seen", "kubernetes.io/config.mirror"];

const EVERYTHING: Toleration = { operator: "Exists", effect: "NoExecute" };

/** JSON with sorted keys: equal for equal content, whatever the order in the text. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** The name of the static pod that a manifest's `name` makes on `nodeName`. */
export function staticPodName(name: string, nodeName: string): string {
  return `${name}-${nodeName.toLowerCase()}`;
}

/** The pod as written, without what the kubelet itself writes. */
export function withoutOwnAnnotations(pod: Pod): Pod {
  const annotations = pod.metadata.annotations;
  if (annotations === undefined) return pod;
  const kept = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.includes(key));
  return { ...pod, metadata: { ...pod.metadata, annotations: Object.fromEntries(kept) } };
}

/** `written` as it was read, `complete` with its defaults. */
export function staticPod(written: Pod, complete: Pod, origin: ManifestOrigin, nodeName: string): Pod {
  const place = origin.kind === "file" ? ["host:", nodeName, "file:", origin.path] : ["url:", origin.url];
  const given = written.metadata.uid as string | undefined;
  const uid = given === undefined || given === "" ? fnv128(canonicalJson(written), ...place) : given;
  const namespace = written.metadata.namespace as string | undefined;
  const tolerations = complete.spec.tolerations ?? [];
  return {
    ...complete,
    metadata: {
      ...complete.metadata,
      name: staticPodName(complete.metadata.name, nodeName),
      namespace: namespace === undefined || namespace === "" ? "default" : namespace,
      uid,
      annotations: { ...complete.metadata.annotations, [CONFIG_SOURCE]: origin.kind, [CONFIG_HASH]: uid },
    },
    spec: {
      ...complete.spec,
      nodeName,
      ...(origin.kind === "file" ? { tolerations: withToleration(tolerations) } : {}),
    },
    status: { phase: "Pending" },
  };
}

function withToleration(tolerations: readonly Toleration[]): Toleration[] {
  const has = tolerations.some((one) => canonicalJson(one) === canonicalJson(EVERYTHING));
  return has ? [...tolerations] : [...tolerations, EVERYTHING];
}
