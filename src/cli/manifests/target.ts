// The pod that `nodelet delete` or `restart` is to change: by the name of its manifest, or of the pod. Pure.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../shared/kubernetes/api/static-pod-name.js";
import { CliError, EXIT } from "../errors.js";
import { findPod, KINDS, nameOf } from "../pods/find.js";
import type { NodeManifest, NodeState } from "./node-manifests.js";
import { manifestOfPod, refusalOf, type Verb } from "./source-of-pod.js";

export interface Target {
  /** Absent: it was deleted, and its pod is being terminated. */
  manifest: NodeManifest | undefined;
  /** Absent: the kubelet cannot run the manifest, or has not begun. */
  pod: Pod | undefined;
}

/**
 * @throws CliError when there is none, when there are several, or when the pod has another source than the manifest API
 */
export function targetOf(verb: Verb, named: string, namespace: string | undefined, state: NodeState): Target {
  const wanted = nameOf(named, namespace, [...state.pods, ...state.manifests.map(inNamespace)]);
  const found = state.manifests.filter(
    (one) =>
      (wanted.namespace === undefined || one.namespace === wanted.namespace) &&
      (one.name === wanted.name || staticPodName(one.name, state.node) === wanted.name),
  );
  const [manifest, other] = found;
  if (other !== undefined) {
    const names = found.map((one) => `${one.namespace}/${one.name}`).join(", ");
    throw new CliError(EXIT.usage, `${named} is the name of ${found.length} manifests`, `name one of them: ${names}`);
  }
  if (manifest !== undefined) return { manifest, pod: podOf(manifest, state) };
  const pod = findPod(state.pods, named, namespace);
  const refusal = refusalOf(verb, pod, state);
  if (refusal !== undefined) throw new CliError(EXIT.wrong, refusal);
  return { manifest: manifestOfPod(pod, state), pod };
}

/** `delete pod web` of kubectl names the kind first. */
export function withoutKind(names: readonly string[], state: NodeState): readonly string[] {
  const [first = "", ...others] = names;
  const isPod = [...state.manifests, ...state.pods.map(({ metadata }) => metadata)].some(({ name }) => name === first);
  return others.length > 0 && KINDS.includes(first) && !isPod ? others : names;
}

function podOf(manifest: NodeManifest, state: NodeState): Pod | undefined {
  return state.pods.find((pod) => manifestOfPod(pod, state) === manifest);
}

function inNamespace({ namespace }: NodeManifest): { metadata: { namespace: string } } {
  return { metadata: { namespace } };
}
