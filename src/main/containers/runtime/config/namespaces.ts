// The Linux namespaces of a pod's sandbox and containers, and with which container or node they are shared.

import type { Pod, EphemeralContainer } from "../../../../shared/kubernetes/api/pod.js";
import {
  type UserNamespace,
  NamespaceMode,
  type NamespaceOption,
} from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { CreateContainerConfigError } from "../../../model/container-config-error.js";

/** The pod's user namespace is the node's unless hostUsers is false and id maps were handed out for it. */
const nodeUsers: UserNamespace = { mode: NamespaceMode.NODE, uids: [], gids: [] };

/** Namespace options of the sandbox, and of every container that targets no other. */
export function podNamespaces(pod: Pod, userns: UserNamespace = nodeUsers): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = pod.spec;
  const shared = shareProcessNamespace === true ? NamespaceMode.POD : NamespaceMode.CONTAINER;
  return {
    network: hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: hostPID === true ? NamespaceMode.NODE : shared,
    ipc: hostIPC === true ? NamespaceMode.NODE : NamespaceMode.POD,
    targetId: "",
    usernsOptions: userns,
  };
}

/**
 * Namespace options of an ephemeral container: it joins its target's processes where the pod does not share them
 * anyway.
 * @param targetId id of the target container, undefined when it does not run (CreateContainerConfigError)
 */
export function ephemeralNamespaces(
  pod: Pod,
  container: EphemeralContainer,
  targetId: string | undefined,
  userns?: UserNamespace,
): NamespaceOption {
  const options = podNamespaces(pod, userns);
  const target = container.targetContainerName;
  if (!target || options.pid !== NamespaceMode.CONTAINER) return options;
  if (targetId === undefined) throw new CreateContainerConfigError(`unable to find target container ${target}`);
  return { ...options, pid: NamespaceMode.TARGET, targetId };
}
