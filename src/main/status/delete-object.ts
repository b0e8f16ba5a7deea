// Deletes a pod's object for good: all of the pod is down, or its static pod has no mirror any more.
// Invariant: an object counts as gone only when the server does not have it. That a deletion finds nothing proves
// nothing: NodeRestriction looks the pod up in a cache that trails behind, most of all when a server has just started.
import { isConflict, isNotFound } from "../../shared/api/client/errors.js";
import { PODS } from "../../shared/api/client/kinds.js";
import type { ApiClient } from "../../shared/api/client/port.js";
import { podDescription, type Pod } from "../../shared/api/pod.js";
import { messageOf } from "../../shared/errors/thrown.js";

/** The server says that there is no such pod, and shows it: to be tried again. */
class StillThereError extends Error {
  override readonly name = "StillThereError";
  constructor(pod: Pod, cause: unknown) {
    const said = messageOf(cause);
    super(`${podDescription(pod)} cannot be deleted from the API server: ${said}; trying again`, {
      cause,
    });
  }
}

/**
 * Resolves when the object is gone, or another pod has its name. Rejects with StillThereError, ApiError,
 * ApiConnectionError, or the signal's reason.
 */
export async function deleteObject(
  client: Pick<ApiClient, "delete" | "get">,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  try {
    await client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
    if (await isThere(client, pod, signal)) throw new StillThereError(pod, error);
  }
}

/** Asked of the storage itself. */
async function isThere(client: Pick<ApiClient, "get">, { metadata }: Pod, signal: AbortSignal): Promise<boolean> {
  const { name, namespace, uid } = metadata;
  try {
    return (await client.get(PODS, { namespace, name }, { signal })).metadata.uid === uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
