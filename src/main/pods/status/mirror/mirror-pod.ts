// The mirror pod of a static pod: its content, and the check whether an existing one is right.

import { type Pod, podFullName } from "../../../../shared/kubernetes/api/pod.js";
import { withDigits } from "../../../../shared/kubernetes/api/wide-integers.js";
import { CONFIG_MIRROR } from "../manager/api-view.js";

const CONFIG_HASH = "kubernetes.io/config.hash";

export interface MirrorNode {
  name: string;
  uid: string;
}

/**
 * The object as it is created, with the metadata of the manifest but its owners. The server sets its UID and its time.
 */
export function mirrorPod(pod: Pod, node: MirrorNode): Pod {
  const { uid, ...own } = pod.metadata;
  const { annotations } = own;
  const metadata: Omit<Pod["metadata"], "uid"> = {
    ...own,
    annotations: { ...annotations, [CONFIG_MIRROR]: annotations?.[CONFIG_HASH] ?? uid },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid, controller: true }],
  };
  // The API's type wants a UID, which a creation has not.
  const mirror: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata as Pod["metadata"],
    spec: { ...pod.spec, nodeName: node.name },
  };
  return withDigits(mirror, pod.wideIntegers);
}

/** True if the mirror pod has this very definition, belongs to this node, and is not being deleted. */
export function isMirrorOf(mirror: Pod, pod: Pod, node: MirrorNode): boolean {
  const { annotations, ownerReferences = [], deletionTimestamp } = mirror.metadata;
  if (deletionTimestamp !== undefined || podFullName(mirror) !== podFullName(pod)) return false;
  if (annotations?.[CONFIG_MIRROR] !== pod.metadata.annotations?.[CONFIG_HASH]) return false;
  return ownerReferences.some(
    ({ kind, uid, controller }) => kind === "Node" && uid === node.uid && controller === true,
  );
}
