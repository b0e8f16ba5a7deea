// What `nodelet apply`, `diff` and `restart` would change: manifests as written against those of the node. Pure.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { ManifestName } from "../../shared/contracts/manifests.js";
import { podFullName, type Pod } from "../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../shared/kubernetes/api/static-pod-name.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { manifestJson, parseManifestJson } from "./exact-json.js";
import type { NodeManifest, NodeState } from "./node-manifests.js";
import type { Manifest } from "./read.js";
import { refusalOf } from "./source-of-pod.js";

/** @internal Annotation of a manifest that was restarted; its value is the time. Another value makes another pod. */
export const RESTARTED_AT = "nodelet.dev/restartedAt";

export interface Step {
  action: "create" | "configure" | "unchanged" | "refuse";
  manifest: Manifest;
  /** As the node has it. */
  current?: NodeManifest;
  /** Why it is refused. */
  reason?: string;
}

/** `ending`: pods that are being terminated; the new pod starts after them. */
export function planApply(manifests: readonly Manifest[], state: NodeState, ending: ReadonlySet<PodUid>): Step[] {
  return manifests.map((manifest): Step => {
    const current = currentOf(manifest, state);
    if (current !== undefined) {
      const same = !current.refused && canonical(contentOf(current)) === canonical(contentOf(parsed(manifest)));
      return { action: same ? "unchanged" : "configure", manifest, current };
    }
    const [pod] = foreignPods([manifest], state);
    const reason = pod === undefined || ending.has(pod.metadata.uid) ? undefined : refusalOf("apply", pod, state);
    if (reason === undefined || pod === undefined) return { action: "create", manifest };
    return { action: "refuse", manifest, reason: `there is a pod ${podFullName(pod)} already, and ${reason}` };
  });
}

function currentOf({ namespace, name }: ManifestName, { manifests }: NodeState): NodeManifest | undefined {
  return manifests.find((one) => one.namespace === namespace && one.name === name);
}

/** Pods that have the name of a manifest's pod, but not its manifest. */
export function foreignPods(manifests: readonly ManifestName[], state: NodeState): Pod[] {
  return manifests
    .filter((manifest) => currentOf(manifest, state) === undefined)
    .flatMap((manifest) => {
      const name = staticPodName(manifest.name, state.node);
      return state.pods.filter(({ metadata }) => metadata.namespace === manifest.namespace && metadata.name === name);
    });
}

export interface Content {
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
}

export function parsed({ metadata, spec }: Pick<Manifest, "metadata" | "spec">): Content {
  return {
    metadata: parseManifestJson(metadata) as Content["metadata"],
    spec: parseManifestJson(spec) as Content["spec"],
  };
}

/** Without the mark of a restart: it is no part of what a user wrote. */
export function contentOf({ metadata, spec }: Content): Content {
  const { annotations, ...rest } = metadata;
  if (typeof annotations !== "object" || annotations === null) return { metadata, spec };
  const kept = Object.entries(annotations).filter(([key]) => key !== RESTARTED_AT);
  return {
    metadata: omitUndefined({ ...rest, annotations: kept.length > 0 ? Object.fromEntries(kept) : undefined }),
    spec,
  };
}

/** The manifest with the mark of a restart at `at`. */
export function restarted({ metadata, spec }: Content, at: string): Content {
  const { annotations } = metadata;
  const others = typeof annotations === "object" && annotations !== null ? annotations : {};
  return { metadata: { ...metadata, annotations: { ...others, [RESTARTED_AT]: at } }, spec };
}

/** JSON with sorted keys: the order of keys in a text means nothing. */
function canonical(value: unknown): string {
  return manifestJson(value, (member) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
