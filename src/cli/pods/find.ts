// Finds the pod that an operator names ("name", "namespace/name", or a static pod without the node's name at its end),
// and its paths in the kubelet's routes.

import { nearestName } from "../../shared/base/text/nearest-name.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../shared/kubernetes/api/static-pod-name.js";
import type { Client } from "../client.js";
import { CliError, EXIT, NoPodError } from "../errors.js";

/** As kubectl names the resource. */
export const KINDS = ["pod", "pods", "po"];
/** Container that kubectl takes when none is named. */
export const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

interface PodList {
  items: Pod[];
}

export async function podsOf(client: Client, deadlineMs?: number): Promise<Pod[]> {
  const { items } = await client.json<PodList>("/pods", deadlineMs);
  return items.map((pod) => ({ ...pod, apiVersion: "v1" as const, kind: "Pod" as const }));
}

/** @throws CliError when no pod, or more than one, has the name */
export function findPod(pods: readonly Pod[], named: string, namespace?: string): Pod {
  const { namespace: space, name } = nameOf(named, namespace, pods);
  const there = pods.filter(({ metadata }) => space === undefined || metadata.namespace === space);
  const exact = there.filter(({ metadata }) => metadata.name === name || metadata.uid === name);
  const found = exact.length > 0 ? exact : there.filter((pod) => isStaticName(pod, name));
  const names = new Set(found.map(fullName));
  if (names.size > 1) {
    throw new CliError(
      EXIT.usage,
      `${named} is the name of ${names.size} pods`,
      `name one of them: ${[...names].join(", ")}`,
    );
  }
  const pod = found.find(({ metadata }) => metadata.deletionTimestamp == null) ?? found[0];
  if (pod !== undefined) return pod;
  const near = nearestName(
    name,
    there.map(({ metadata }) => metadata.name),
  );
  throw new NoPodError(
    `this node has no pod ${named === "" ? "without a name" : named}`,
    near === undefined
      ? "see `nodelet pods`, which lists refused manifests, too"
      : `did you mean ${near}? See \`nodelet pods\``,
  );
}

/** "web", "shop/web", or "pod/web" as the commands print it, unless there is a namespace "pod". */
export function nameOf(
  named: string,
  namespace: string | undefined,
  known: readonly { metadata: { namespace: string } }[],
): { namespace: string | undefined; name: string } {
  const slash = named.indexOf("/");
  if (slash < 0) return { namespace, name: named };
  const [before, name] = [named.slice(0, slash), named.slice(slash + 1)];
  const isKind = KINDS.includes(before) && !known.some(({ metadata }) => metadata.namespace === before);
  return { namespace: isKind ? namespace : before, name };
}

export function fullName({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The name as in the manifest, without the node's at its end. */
export function manifestName(pod: Pod): string {
  const { metadata, spec } = pod;
  const short = metadata.name.slice(0, -((spec.nodeName ?? "").length + 1));
  return isStaticName(pod, short) ? short : metadata.name;
}

function isStaticName({ metadata, spec }: Pod, name: string): boolean {
  return spec.nodeName !== undefined && metadata.name === staticPodName(name, spec.nodeName);
}
