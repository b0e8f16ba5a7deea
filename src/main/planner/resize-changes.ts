// Compares a container's allocated CPU and memory with the values last set in the runtime.
import type { Container } from "../../shared/api/pod.js";
import { changedResources, type Resizable } from "../model/pod-resources.js";
import type { PlanInput } from "./plan-context.js";

/** True if the container must be restarted to get its new values. */
export function resizeNeedsRestart(input: PlanInput, container: Container): boolean {
  const changes = resizeChanges(input, container) ?? [];
  const { resizePolicy = [] } = container;
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && changes.some((name) => name === resourceName),
  );
}

/** undefined: the container's values are unknown. */
export function resizeChanges({ resize }: PlanInput, { name, resources }: Container): Resizable[] | undefined {
  if (resize === undefined) return [];
  const own = resize.actuated?.containers[name];
  return own === undefined ? undefined : changedResources(own, resources);
}
