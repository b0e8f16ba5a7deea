// Removes the object of a terminated pod, or a mirror pod that is no longer needed, from the API. Invariant: an object
// counts as removed only when a read does not find it. NotFound as the result of a deletion proves nothing:
// NodeRestriction reads the pod from a cache that may be old.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { isConflict, isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { PODS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";

/** The server reports NotFound for the pod, but still shows it: to be tried again. */
function stillThereError(pod: Pod, cause: unknown): OperatorError {
  const said = messageOf(cause);
  return new OperatorError(`${podDescription(pod)} cannot be deleted from the API server: ${said}; trying again`, {
    cause,
  });
}

/**
 * Resolves when the object is removed, or another pod has its name. Rejects with OperatorError, ApiError,
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
    if (await isThere(client, pod, signal)) throw stillThereError(pod, error);
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
