// Decides whether the pod needs a new sandbox. The pod condition PodReadyToStartContainers is the opposite of that.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { PodSandboxState, NamespaceMode } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/kubernetes/cri/observed-pod.js";
import type { SandboxId } from "../../shared/kubernetes/identifiers.js";

export type SandboxNeedReason =
  /** The newest sandbox can be used. */
  "Current" | "NoSandbox" | "SeveralReady" | "NewestNotReady" | "NetworkNamespaceChanged" | "NoAddress" | "CgroupLost";

export interface SandboxNeed {
  create: boolean;
  /** Attempt number: of the sandbox to create, or of the current one. */
  attempt: number;
  /** Id of the newest sandbox; absent when there is none. */
  sandboxId?: SandboxId;
  reason: SandboxNeedReason;
}

/** @param cgroupLost containers run outside the pod's cgroup: a new sandbox is created inside it */
export function needsNewSandbox(pod: Pod, observed: Pick<ObservedPod, "sandboxes">, cgroupLost = false): SandboxNeed {
  const newest = observed.sandboxes[0];
  if (newest === undefined) return { create: true, attempt: 0, reason: "NoSandbox" };
  const attempt = newest.metadata?.attempt ?? 0;
  const renew = (reason: SandboxNeedReason): SandboxNeed => ({
    create: true,
    attempt: attempt + 1,
    sandboxId: newest.id,
    reason,
  });
  const ready = observed.sandboxes.filter((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY);
  if (ready.length > 1) return renew("SeveralReady");
  if (newest.state !== PodSandboxState.SANDBOX_READY) return renew("NewestNotReady");
  const hostNetwork = pod.spec.hostNetwork === true;
  const wanted = hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD;
  if ((newest.linux?.namespaces?.options?.network ?? NamespaceMode.POD) !== wanted) {
    return renew("NetworkNamespaceChanged");
  }
  if (!hostNetwork && newest.network?.ip === "") return renew("NoAddress");
  if (cgroupLost) return renew("CgroupLost");
  return { create: false, attempt, sandboxId: newest.id, reason: "Current" };
}
