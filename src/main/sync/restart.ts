// May a container (re)start, and does the pod need a new sandbox? Pure rules of status-rules.md, sections 8.1 and 8.2.
import type { Container, ContainerRestartRule, Pod } from "../../shared/api/pod.js";
import {
  ContainerState,
  NamespaceMode,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";

function ruleMatches(rule: ContainerRestartRule, exitCode: number): boolean {
  if (rule.exitCodes === undefined) return false;
  const listed = (rule.exitCodes.values ?? []).includes(exitCode);
  return rule.exitCodes.operator === "In" ? listed : !listed;
}

/** Whether a container that ended with `exitCode` starts again. */
export function restartsAfterExit(pod: Pod, container: Container, exitCode: number): boolean {
  const rules = container.restartPolicy === undefined ? [] : (container.restartPolicyRules ?? []);
  if (rules.some((rule) => ruleMatches(rule, exitCode))) return true;
  switch (container.restartPolicy ?? pod.spec.restartPolicy ?? "Always") {
    case "Always":
      return true;
    case "OnFailure":
      return exitCode !== 0;
    case "Never":
      return false;
  }
}

/** Section 8.1. `status` is the newest CRI status of the container, undefined when it never ran. */
export function mayStart(pod: Pod, container: Container, status: ContainerStatus | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (status === undefined) return true;
  if (status.state === ContainerState.CONTAINER_RUNNING) return false;
  if (status.state !== ContainerState.CONTAINER_EXITED) return true;
  return restartsAfterExit(pod, container, status.exitCode);
}

export type SandboxDecision =
  { create: false; sandbox: PodSandboxStatus } | { create: true; attempt: number; reason: string };

/** Section 8.2. */
export function sandboxDecision(pod: Pod, observed: ObservedPod): SandboxDecision {
  const newest = observed.sandboxes[0];
  if (newest === undefined) return { create: true, attempt: 0, reason: "the pod has no sandbox" };
  const again = (reason: string): SandboxDecision => ({
    create: true,
    attempt: (newest.metadata?.attempt ?? 0) + 1,
    reason,
  });
  const ready = observed.sandboxes.filter((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY);
  if (ready.length > 1) return again(`${ready.length} sandboxes are ready at once`);
  if (newest.state !== PodSandboxState.SANDBOX_READY) return again("the sandbox is no longer ready");
  const wanted = pod.spec.hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD;
  const network = newest.linux?.namespaces?.options?.network ?? NamespaceMode.POD;
  if (network !== wanted) return again("the network namespace of the pod changed");
  if (wanted === NamespaceMode.POD && newest.network?.ip === "") return again("the sandbox has lost its address");
  return { create: false, sandbox: newest };
}
