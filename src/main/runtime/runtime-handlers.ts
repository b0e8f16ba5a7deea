// What the runtime says of its handlers (CRI Status), asked for only by pods that need to know: those with a handler or
// users of their own.
import type { Pod } from "../../shared/api/pod.js";
import type { StatusResponse } from "../../shared/cri/gen/runtime.v1.js";
import type { NodeRuntime } from "./node-runtime.js";

/** The pod asks for what this runtime has not. */
export class RuntimeHandlerError extends Error {
  override readonly name = "RuntimeHandlerError";
}

export function isRuntimeHandlerError(error: unknown): error is RuntimeHandlerError {
  return error instanceof RuntimeHandlerError;
}

/** Without an API server there are no RuntimeClass objects: the class's name is the handler's. */
export function runtimeHandler(pod: Pod): string {
  return pod.spec.runtimeClassName ?? "";
}

/** Rejects with RuntimeHandlerError when the runtime can't run the pod as it asks. */
export async function checkRuntimeHandler(runtime: NodeRuntime, pod: Pod, signal: AbortSignal): Promise<void> {
  const handler = runtimeHandler(pod);
  if (handler === "" && pod.spec.hostUsers !== false) return;
  const status = await runtime.cri.status({ verbose: false }, { signal });
  checkKnown(handler, status);
  if (pod.spec.hostUsers === false) checkUsers(handler, status);
}

/** A runtime that lists no handlers may have any. */
function checkKnown(handler: string, { runtimeHandlers }: StatusResponse): void {
  if (handler === "" || runtimeHandlers.length === 0 || runtimeHandlers.some(({ name }) => name === handler)) return;
  const known = runtimeHandlers.map(({ name }) => (name === "" ? `"" (the default)` : `"${name}"`)).join(", ");
  throw new RuntimeHandlerError(
    `runtimeClassName "${handler}" names no handler of the container runtime, which has ${known}; ` +
      `add the handler to the runtime's configuration or change the name`,
  );
}

function checkUsers(handler: string, { runtimeHandlers }: StatusResponse): void {
  const { features } = runtimeHandlers.find(({ name }) => name === handler) ?? {};
  if (features?.userNamespaces === true) return;
  const whose = handler === "" ? "runtime" : `RuntimeClass handler "${handler}"`;
  throw new RuntimeHandlerError(`can't set \`spec.hostUsers: false\`, ${whose} does not support user namespaces`);
}
