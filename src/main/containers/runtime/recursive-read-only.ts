// Whether the runtime can make all of a mount read-only, the mounts below it too. Asked only for containers that want
// it: one cheap call, and no answer of a runtime that was replaced since.

import type { Pod, Container } from "../../../shared/kubernetes/api/pod.js";
import type { NodeRuntime } from "./node-runtime.js";
import { runtimeHandler } from "./runtime-handlers.js";

/** Rejects with the runtime's error. */
export async function canMountRecursiveReadOnly(
  runtime: NodeRuntime,
  pod: Pod,
  container: Container,
  signal: AbortSignal,
): Promise<boolean> {
  const wanted = (container.volumeMounts ?? []).some(
    ({ recursiveReadOnly = "Disabled" }) => recursiveReadOnly !== "Disabled",
  );
  if (!wanted) return false;
  const handler = await runtimeHandler(runtime, pod, signal);
  const { runtimeHandlers } = await runtime.cri.status({ verbose: false }, { signal });
  return runtimeHandlers.find(({ name }) => name === handler)?.features?.recursiveReadOnlyMounts === true;
}
