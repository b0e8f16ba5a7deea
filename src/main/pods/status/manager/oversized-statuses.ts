// Statuses that the API server refuses for their size: a pod may have ten thousand containers, and a status of each.
// They are sent without the statuses of containers, so that the phase arrives and the pod's object can be deleted.
// Invariant: a whole status is sent again as soon as it is shorter than the shortest one that was refused.

import { ApiError } from "../../../../shared/kubernetes/api/client/errors.js";
import type { PodStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import { statusText } from "../../../model/status-text.js";

const PAYLOAD_TOO_LARGE = 413;
/** The API server passes on the errors of etcd and of its own client of etcd. */
const STORAGE_REFUSALS = ["request is too large", "message larger than max"];
const NOTE = "The API server refuses the statuses of the containers: they are too large";

export class OversizedStatuses {
  /** Characters of the shortest refused status of a pod. */
  private readonly refused = new Map<PodUid, number>();

  /** `status`: the computed one, which `shown` was made of. */
  fitted(uid: PodUid, status: PodStatus, shown: PodStatus): PodStatus {
    if (!this.isRefused(uid, status)) return shown;
    const short = { ...shown, message: shown.message ?? NOTE };
    delete short.initContainerStatuses;
    delete short.containerStatuses;
    delete short.ephemeralContainerStatuses;
    return short;
  }

  /** @returns true when the status is to be sent again, without the statuses of its containers */
  onFailed(uid: PodUid, status: PodStatus, error: unknown): boolean {
    if (!isTooLarge(error) || this.isRefused(uid, status)) return false;
    this.refused.set(uid, statusText(status).length);
    return true;
  }

  forget(uid: PodUid): void {
    this.refused.delete(uid);
  }

  private isRefused(uid: PodUid, status: PodStatus): boolean {
    const least = this.refused.get(uid);
    return least !== undefined && statusText(status).length >= least;
  }
}

function isTooLarge(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.status === PAYLOAD_TOO_LARGE || STORAGE_REFUSALS.some((text) => error.message.includes(text));
}
