// Compares a container's allocated CPU and memory with the values last set in the runtime.

import type { ResourceRequirements } from "../../../shared/kubernetes/api/meta.js";
import { isPositive } from "../../../shared/kubernetes/api/pod-requests.js";
import type { Container } from "../../../shared/kubernetes/api/pod.js";
import { type Resizable, changedResources } from "../../model/pod-resources.js";
import type { PlanInput } from "./plan-context.js";

/** True if the container must be restarted to get its new values. */
export function resizeNeedsRestart(input: PlanInput, container: Container): boolean {
  const { resizePolicy = [] } = container;
  if (resizePolicy.length === 0) return false;
  const changes = [...(resizeChanges(input, container) ?? []), ...podLimitChanges(input, container)];
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && changes.some((name) => name === resourceName),
  );
}

/**
 * The changed limits of the pod that the container takes, as it has none of its own. Empty after a failed resize: the
 * container may have restarted with the new limits already.
 */
function podLimitChanges({ pod, resize }: PlanInput, { resources }: Container): Resizable[] {
  const before = resize?.actuated?.pod;
  if (before === undefined || resize?.retryAt !== undefined) return [];
  const changes = changedResources(limitsOf(before), limitsOf(pod.spec.resources));
  return changes.filter((name) => !isPositive(resources?.limits, name));
}

function limitsOf(resources: ResourceRequirements = {}): ResourceRequirements {
  return resources.limits === undefined ? {} : { limits: resources.limits };
}

/** undefined: the container's values are unknown. */
export function resizeChanges({ resize }: PlanInput, { name, resources }: Container): Resizable[] | undefined {
  if (resize === undefined) return [];
  const own = resize.actuated?.containers[name];
  return own === undefined ? undefined : changedResources(own, resources);
}
