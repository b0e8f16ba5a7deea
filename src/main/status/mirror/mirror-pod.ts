// The API server's picture of a static pod (status-rules.md 23): what it looks like, and when it is not the right one.
import { podFullName, type Pod } from "../../../shared/api/pod.js";
import { CONFIG_MIRROR } from "../manager/api-view.js";

const CONFIG_HASH = "kubernetes.io/config.hash";

export interface MirrorNode {
  name: string;
  uid: string;
}

/** As it is created: the server gives it a UID of its own. */
export function mirrorPod(pod: Pod, node: MirrorNode): Pod {
  const { name, namespace, labels, annotations } = pod.metadata;
  const metadata: Omit<Pod["metadata"], "uid"> = {
    name,
    namespace,
    ...(labels !== undefined && { labels }),
    annotations: { ...annotations, [CONFIG_MIRROR]: annotations?.[CONFIG_HASH] ?? pod.metadata.uid },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid, controller: true }],
  };
  // The API's type wants a UID, which a creation has not.
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata as Pod["metadata"],
    spec: { ...pod.spec, nodeName: node.name },
  };
}

/** Of this very definition, owned by this node, and not on its way out. */
export function isMirrorOf(mirror: Pod, pod: Pod, node: MirrorNode): boolean {
  const { annotations, ownerReferences = [], deletionTimestamp } = mirror.metadata;
  if (deletionTimestamp !== undefined || podFullName(mirror) !== podFullName(pod)) return false;
  if (annotations?.[CONFIG_MIRROR] !== pod.metadata.annotations?.[CONFIG_HASH]) return false;
  return ownerReferences.some(
    ({ kind, uid, controller }) => kind === "Node" && uid === node.uid && controller === true,
  );
}
