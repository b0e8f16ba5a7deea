// The ids of a pod's sandboxes in the container runtime: the second source if the pod's own file is damaged.

import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { CriNotFoundError } from "../../../shared/kubernetes/cri/errors.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { labelKeys } from "../../model/labels.js";
import type { IdRange } from "./id-range.js";

/**
 * Ranges of the pod; empty if none of its sandboxes has its own ids. Rejects when the runtime does not respond.
 */
export type ObservedIds = (uid: PodUid) => Promise<IdRange[]>;

export function observedIds(cri: Pick<CriClient, "listPodSandbox" | "podSandboxStatus">): ObservedIds {
  return async (uid) => {
    const { items } = await cri.listPodSandbox({ filter: { labelSelector: { [labelKeys.podUid]: uid } } });
    const found: IdRange[] = [];
    for (const { id } of items) {
      const answer = await cri.podSandboxStatus({ podSandboxId: id }).catch((error: unknown) => {
        if (!(error instanceof CriNotFoundError)) throw error;
      });
      const own = answer?.status?.linux?.namespaces?.options?.usernsOptions;
      for (const { hostId, length } of [...(own?.uids ?? []), ...(own?.gids ?? [])]) {
        if (length > 0) found.push({ first: hostId, length });
      }
    }
    return found;
  };
}
