// Where a pod of this node comes from, and why a command may not change it. Pure.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../shared/kubernetes/api/static-pod-name.js";
import type { NodeManifest, NodeState } from "./node-manifests.js";

type Source = "manifest API" | "file" | "URL" | "API server";

/** The manifest of the manifest API that makes this pod. */
export function manifestOfPod({ metadata }: Pod, { manifests, node }: NodeState): NodeManifest | undefined {
  if (sourceAnnotation(metadata) !== "http") return undefined;
  return manifests.find(
    (one) => one.namespace === metadata.namespace && staticPodName(one.name, node) === metadata.name,
  );
}

function sourceOf(pod: Pod, state: NodeState): Source {
  switch (sourceAnnotation(pod.metadata)) {
    case "file":
      return "file";
    case "http":
      // Without a URL, a pod whose manifest was deleted is still terminating.
      return state.hasURL && manifestOfPod(pod, state) === undefined ? "URL" : "manifest API";
    default:
      return "API server";
  }
}

function sourceAnnotation({ annotations }: Pod["metadata"]): string | undefined {
  return annotations?.["kubernetes.io/config.source"];
}

export type Verb = "apply" | "delete" | "restart";

/** Why `verb` refuses a pod of another source, and what does it there; undefined: it does it. */
export function refusalOf(verb: Verb, pod: Pod, state: NodeState): string | undefined {
  const source = sourceOf(pod, state);
  const { namespace, name } = pod.metadata;
  if (source === "API server") return `it comes from the API server: ${OF_API[verb]} -n ${namespace} ${name}`;
  if (verb === "restart") return undefined;
  switch (source) {
    case "manifest API":
      return undefined;
    case "file": {
      const where = state.staticPodPath === "" ? "the kubelet's manifest folder" : state.staticPodPath;
      return `it comes from a file in ${where}: ${OF_FILE[verb]}`;
    }
    case "URL":
      return `it comes from staticPodURL of the configuration: change what is served there`;
  }
}

const OF_FILE: Readonly<Record<Exclude<Verb, "restart">, string>> = {
  apply: "change that file, or remove it first",
  delete: "remove that file, and the kubelet ends the pod",
};

const OF_API: Readonly<Record<Verb, string>> = {
  apply: "change it there, or delete it: kubectl delete pod",
  delete: "kubectl delete pod",
  restart: "its controller makes a new one after kubectl delete pod",
};
