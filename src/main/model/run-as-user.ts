// The user of a container's process, and runAsNonRoot. The runtime does not verify it, so the kubelet does before it
// creates the container.

import { quote } from "../../shared/base/text/quote.js";
import { type Container, type Pod, podDescription } from "../../shared/kubernetes/api/pod.js";
import { CreateContainerConfigError } from "./container-config-error.js";

/** The image's user, from CRI ImageStatus; both absent for an image that names none (it runs as root). */
export interface ImageUser {
  uid?: bigint | number | undefined;
  username?: string | undefined;
}

export interface RunAs {
  /** Exactly one of uid and username is set. */
  uid?: bigint;
  username?: string;
  gid?: bigint;
}

const MAX_UID = 2n ** 31n - 1n;

export function runAs(pod: Pod, container: Container, image: ImageUser): RunAs {
  const uid = container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser;
  const gid = container.securityContext?.runAsGroup ?? pod.spec.securityContext?.runAsGroup;
  const group = gid === undefined ? {} : { gid: BigInt(gid) };
  if (uid !== undefined) return { uid: BigInt(uid), ...group };
  if (image.uid !== undefined) return { uid: BigInt(image.uid), ...group };
  return image.username ? { username: image.username, ...group } : { uid: 0n, ...group };
}

/** Throws CreateContainerConfigError if runAsNonRoot is set and would be, or might be, violated. */
export function verifyRunAsNonRoot(pod: Pod, container: Container, image: ImageUser): void {
  const own = container.securityContext;
  const shared = pod.spec.securityContext;
  if ((own?.runAsNonRoot ?? shared?.runAsNonRoot) !== true) return;
  const where = `(pod: ${quote(podDescription(pod))}, container: ${container.name})`;
  const asked = own?.runAsUser ?? shared?.runAsUser;
  if (asked !== undefined) {
    if (asked === 0) throw new CreateContainerConfigError(`container's runAsUser breaks non-root policy ${where}`);
    return;
  }
  if (image.uid === undefined && image.username) {
    throw new CreateContainerConfigError(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${where}`,
    );
  }
  const uid = BigInt(image.uid ?? 0);
  if (uid === 0n) {
    throw new CreateContainerConfigError(`container has runAsNonRoot and image will run as root ${where}`);
  }
  if (uid < 0n || uid > MAX_UID) {
    throw new CreateContainerConfigError(
      `container has runAsNonRoot and image has an invalid user id (${uid.toString()}). Must be between 1 and ${MAX_UID.toString()} ${where}`,
    );
  }
}

/** Extra groups of the pod's processes: fsGroup, the listed ones, then those of volumes; each once. */
export function supplementalGroups(pod: Pod, volumeGroups: readonly number[]): bigint[] {
  const { fsGroup, supplementalGroups: listed = [] } = pod.spec.securityContext ?? {};
  const groups = [...(fsGroup === undefined ? [] : [fsGroup]), ...listed, ...volumeGroups];
  return [...new Set(groups)].map(BigInt);
}
