// Restart decisions: whether a container may start (again), and whether the pod needs a new sandbox. Planner and status
// computation share these pure rules. With different results, the status would show a waiting container that the
// planner never starts.

import type { Container, ContainerRestartRule, Pod, PodSpec, RestartPolicy } from "../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../shared/kubernetes/cri/observed-pod.js";

/** Feature gates these rules depend on; defaults are those of 1.36. */
export interface RestartGates {
  /** ContainerRestartRules. */
  containerRestartRules: boolean;
  /** RestartAllContainersOnContainerExits. */
  restartAllContainers: boolean;
}

export const defaultRestartGates: RestartGates = { containerRestartRules: true, restartAllContainers: true };

/** The first restart rule that matches the exit code, if the container has rules (they need its own restartPolicy). */
function matchingRestartRule(container: Container, exitCode: number): ContainerRestartRule | undefined {
  if (container.restartPolicy === undefined) return undefined;
  return container.restartPolicyRules?.find((rule) => {
    if (rule.exitCodes === undefined) return false;
    const listed = (rule.exitCodes.values ?? []).includes(exitCode);
    return rule.exitCodes.operator === "In" ? listed : !listed;
  });
}

/** Does this exit require a restart of all containers of the pod? */
export function asksRestartAll(container: Container, exitCode: number, gates: RestartGates): boolean {
  if (!gates.containerRestartRules || !gates.restartAllContainers) return false;
  return matchingRestartRule(container, exitCode)?.action === "RestartAllContainers";
}

/** True if a container that exited with this code would be started again, were the pod not being deleted. */
export function restartsAfterExit(
  spec: Pick<PodSpec, "restartPolicy">,
  container: Container,
  exitCode: number,
  gates: RestartGates = defaultRestartGates,
): boolean {
  if (gates.containerRestartRules) {
    const action = matchingRestartRule(container, exitCode)?.action;
    if (action === "Restart") return true;
    if (action === "RestartAllContainers" && gates.restartAllContainers) return true;
  }
  switch (ownPolicy(container, gates) ?? spec.restartPolicy ?? "Always") {
    case "Always":
      return true;
    case "OnFailure":
      return exitCode !== 0;
    case "Never":
      return false;
  }
}

/**
 * True if this container may be started now.
 * @param observed the newest container of that name in the runtime, undefined when it never ran
 */
export function mayStart(
  pod: Pod,
  container: Container,
  observed: ObservedContainer | undefined,
  gates: RestartGates = defaultRestartGates,
): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  switch (observed?.state) {
    case undefined:
    case ContainerState.CONTAINER_CREATED:
    case ContainerState.CONTAINER_UNKNOWN:
      return true;
    case ContainerState.CONTAINER_RUNNING:
      return false;
    case ContainerState.CONTAINER_EXITED:
      return restartsAfterExit(pod.spec, container, observed.exitCode, gates);
  }
}

/**
 * Is a container restarted after a liveness or startup probe killed it? Only the policy counts, never the exit code.
 */
export function restartsAfterProbeKill(
  spec: Pick<PodSpec, "restartPolicy">,
  container: Container,
  gates: RestartGates = defaultRestartGates,
): boolean {
  return (ownPolicy(container, gates) ?? spec.restartPolicy ?? "Always") !== "Never";
}

/** Can any regular container of the pod ever be started a second time? */
export function restartPossible(spec: PodSpec, gates: RestartGates): boolean {
  if (spec.restartPolicy !== "Never") return true;
  return spec.containers.some((container) => {
    const own = ownPolicy(container, gates);
    return own !== undefined && (own !== "Never" || (container.restartPolicyRules ?? []).length > 0);
  });
}

/** Not for sidecars: their policy predates the gate, and they always restart. */
function ownPolicy(container: Container, gates: RestartGates): RestartPolicy | undefined {
  return gates.containerRestartRules ? container.restartPolicy : undefined;
}
