// The one user that all containers of a pod run as: credential files of the pod belong to it, unreadable for other
// users.
import type { Pod } from "../../../shared/api/pod.js";
import { containersOf } from "../../../shared/api/pod-containers.js";

/** undefined when a container does not say, or two say differently. Ephemeral containers have no say. */
function podFileUser({ spec }: Pod): number | undefined {
  const users = containersOf(spec).map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}

/** Mode and owner of a credential's file; with fsGroup the group's bit is added later. */
export function credentialFile(pod: Pod, defaultMode: number): { mode: number; user?: number } {
  const user = podFileUser(pod);
  const narrow = user !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return { mode: narrow ? 0o600 : defaultMode, ...(user !== undefined && { user }) };
}
