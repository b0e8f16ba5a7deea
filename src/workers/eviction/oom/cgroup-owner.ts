// The pod and container of a process, from its cgroup path. Independent of the directories above the pod's, and of the
// cgroup driver.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { containerIdOf, type PodUid, type ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { podUidOf } from "../../../shared/node/cgroup/name.js";

interface Owner {
  podUid?: PodUid;
  containerId?: ContainerId;
}

const CONTAINER_ID = /[0-9a-f]{64}/;
/** The UID in the directory name of a pod that was removed meanwhile; other directories may begin with "pod", too. */
const POD_UID = /^[0-9a-f-]{32,36}$/;

/**
 * `known`: the pods of this node; of pods within pods the one meant is ours. The container may be its pod's sandbox.
 */
export function ownerOf(path: string, known: (uid: PodUid) => boolean): Owner {
  const elements = path.split("/");
  const pods = elements.flatMap((element, index) => {
    const podUid = podUidOf(element, element.endsWith(".slice") ? "systemd" : "cgroupfs");
    return podUid === undefined || !(known(podUid) || POD_UID.test(podUid))
      ? []
      : [{ podUid, below: elements[index + 1] ?? "" }];
  });
  const pod = pods.findLast(({ podUid }) => known(podUid)) ?? pods.at(-1);
  if (pod === undefined) return {};
  const id = CONTAINER_ID.exec(pod.below)?.[0];
  return omitUndefined<Owner>({ podUid: pod.podUid, containerId: id !== undefined ? containerIdOf(id) : undefined });
}
